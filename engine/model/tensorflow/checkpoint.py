"""A checkpoint where it lies, in a folder or a zip: its files are found, and its tensors read one by one.

Nothing is written, and of a zip nothing is unpacked but what is read. No .meta is needed.
"""

from __future__ import annotations

import lzma
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

import torch
from torch import Tensor

from engine.errors import ModelError, Sentence, marked
from engine.events import Progress, Steps
from engine.files import MOST_JSON, open_regular, parse_json_object, reading
from engine.model.tensorflow.bundle import MOST_INDEX, TensorEntry, read_index
from engine.model.tensorflow.table import masked_crc

INDEX = ".index"
CONFIGS = ("bert_config.json", "config.json")
VOCABULARY = "vocab.txt"
MOST_VOCABULARY = 64 * 2**20  # bytes
_MOST_MEMBERS = 10_000
_UNPACKING = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError, RuntimeError
)  # fmt: skip
_DATA = re.compile(r"\.data-(\d{5})-of-(\d{5})$")
_DAMAGED = marked("engine", "{path} is damaged: {reason}.")


class Files:
    """The files beside each other that a checkpoint may be among: of a folder, or of a zip."""

    def __init__(self, path: Path, sizes: Mapping[str, int], opener: Callable[[str], BinaryIO]) -> None:
        self.path, self.sizes, self._open = path, sizes, opener

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """Open one of them. Raises: ModelError: it cannot be read, or a zip's checksum is wrong."""
        with reading(self.path):
            try:
                with self._open(name) as file:
                    yield file
            except _UNPACKING as error:
                reason = Sentence(marked("engine", "{name} in it cannot be unpacked"), {"name": name})
                raise ModelError(_DAMAGED, path=self.path, reason=reason) from error

    def read(self, name: str, most: int) -> bytes:
        """Return all of a small file. Raises: ModelError."""
        with self.opened(name) as file:
            data = file.read(most + 1)
        if len(data) > most:
            template = marked("engine", "{name} in {path} is too large for what it should be.")
            raise ModelError(template, name=name, path=self.path)
        return data

    def beside(self, name: str, other: str) -> str | None:
        """Return the name of a file in the folder of another, None where there is none."""
        found = str(PurePosixPath(name).with_name(other))
        return found if found in self.sizes else None


class TensorFlowCheckpoint:
    """A checkpoint that was looked at: entries by name, the config's values and the vocabulary's text.

    prefix: what its files begin with. config, vocabulary: None where there is no such file beside it.
    """

    def __init__(self, files: Files, prefix: str) -> None:
        self.files, self.prefix = files, prefix
        index = prefix + INDEX
        try:
            num_shards, self.entries = read_index(files.read(index, MOST_INDEX))
        except ValueError as error:
            name = files.path if index == files.path.name else files.path / index
            raise ModelError(_DAMAGED, path=name, reason=Sentence(str(error))) from error
        self._shards = [f"{prefix}.data-{number:05}-of-{num_shards:05}" for number in range(num_shards)]
        self._check_data()

    def _check_data(self) -> None:
        """Refuse a checkpoint whose data are not there, before any is read. Raises: ModelError."""
        for number, shard in enumerate(self._shards):
            own = [one for one in self.entries.values() if one.shard == number]
            ends = [one.offset + one.size for one in own]
            if shard not in self.files.sizes:
                template = marked("engine", "{name} is missing next to {index}. Copy or download it as well.")
                raise ModelError(template, name=shard, index=f"{self.prefix}{INDEX}")
            if max(ends, default=0) > self.files.sizes[shard]:
                template = marked("engine", "{name} is truncated: it has {size} bytes instead of {wanted}.")
                raise ModelError(template, name=shard, size=self.files.sizes[shard], wanted=max(ends))
            if sum(one.size for one in own) > self.files.sizes[shard]:
                reason = Sentence(marked("engine", "tensors in it overlap"))
                raise ModelError(_DAMAGED, path=shard, reason=reason)

    def config(self) -> dict[str, object]:
        """Return what the file of settings beside it holds. Raises: ModelError."""
        found = next(filter(None, (self.files.beside(self.prefix, name) for name in CONFIGS)), None)
        if found is None:
            raise ModelError(
                marked("engine", "There is no bert_config.json next to {name}. Copy or download it as well."),
                name=f"{self.prefix}{INDEX}",
            )
        return parse_json_object(self.files.read(found, MOST_JSON), Path(found), kind=ModelError)

    def vocabulary(self) -> bytes:
        """Return the file of tokens beside it. Raises: ModelError."""
        found = self.files.beside(self.prefix, VOCABULARY)
        if found is None:
            raise ModelError(
                marked("engine", "There is no vocab.txt next to {name}. Copy or download it as well."),
                name=f"{self.prefix}{INDEX}",
            )
        return self.files.read(found, MOST_VOCABULARY)

    def reading(self, wanted: Mapping[str, TensorEntry]) -> Steps[dict[str, Tensor]]:
        """Return some tensors as they are stored, step by step. Raises: ModelError: a checksum is wrong."""
        total = sum(entry.size for entry in wanted.values())
        found, done = dict[str, Tensor](), 0
        for number, shard in enumerate(self._shards):
            own = sorted((one for one in wanted.values() if one.shard == number), key=lambda one: one.offset)
            if not own:
                continue
            with self.files.opened(shard) as file:
                for entry in own:
                    yield Progress(stage=marked("engine", "Reading"), done=done, total=total)
                    found[entry.name] = self._tensor(file, shard, entry)
                    done += entry.size
        yield Progress(stage=marked("engine", "Reading"), done=total, total=total)
        return found

    def _tensor(self, file: BinaryIO, shard: str, entry: TensorEntry) -> Tensor:
        assert entry.dtype is not None
        file.seek(entry.offset)
        data = file.read(entry.size)
        if len(data) != entry.size or masked_crc(data) != entry.crc:
            reason = Sentence(
                marked("engine", "{name} does not match its checksum"),
                {"name": entry.name},
            )
            raise ModelError(_DAMAGED, path=shard, reason=reason)
        if not data:
            return torch.empty(entry.shape, dtype=entry.dtype)
        return torch.frombuffer(bytearray(data), dtype=entry.dtype).view(entry.shape)


@contextmanager
def open_checkpoint(path: Path) -> Iterator[TensorFlowCheckpoint]:
    """Open a checkpoint: its folder, its .index, the name that its files begin with, or a zip of them.

    Raises: ModelError: there is none or more than one, it is damaged, or a part of it is missing.
    """
    if path.is_file() and zipfile.is_zipfile(path):
        with _opened_zip(path) as archive:
            infos = archive.infolist()
            if len(infos) > _MOST_MEMBERS:
                reason = Sentence(marked("engine", "it has too many parts"))
                raise ModelError(_DAMAGED, path=path, reason=reason)
            sizes = {one.filename: one.file_size for one in infos if not one.is_dir()}
            files = Files(path, sizes, lambda name: cast(BinaryIO, archive.open(name)))
            yield TensorFlowCheckpoint(files, _only(files, ""))
        return
    folder, wanted = (path, "") if path.is_dir() else (path.parent, _prefix_of(path.name))
    with reading(folder):
        sizes = {one.name: one.stat().st_size for one in folder.iterdir() if one.is_file()}
    files = Files(folder, sizes, lambda name: open_regular(folder / name, kind=ModelError))
    yield TensorFlowCheckpoint(files, _only(files, wanted))


def is_checkpoint(path: Path) -> bool:
    """Whether a path looks like a checkpoint of TensorFlow: an .index, a folder or a zip with one."""
    if path.is_dir():
        return next(path.glob(f"*{INDEX}"), None) is not None
    if path.suffix == ".zip" and path.is_file():
        try:
            with _opened_zip(path) as archive:
                return any(name.endswith(INDEX) for name in archive.namelist()[:_MOST_MEMBERS])
        except ModelError:
            return False
    return path.with_name(_prefix_of(path.name) + INDEX).is_file()


def _only(files: Files, wanted: str) -> str:
    """Return what the files of the one checkpoint begin with."""
    found = sorted(name.removesuffix(INDEX) for name in files.sizes if name.endswith(INDEX))
    if wanted:
        found = [name for name in found if name == wanted]
    if not found:
        template = marked("engine", "There is no checkpoint in {path}: no file that ends in .index.")
        raise ModelError(template, path=files.path)
    if len(found) > 1:
        template = marked("engine", "{path} holds several checkpoints: {names}. Name one of them.")
        raise ModelError(template, path=files.path, names=found)
    return found[0]


def _prefix_of(name: str) -> str:
    for ending in (INDEX, ".meta"):
        name = name.removesuffix(ending)
    return _DATA.sub("", name)


@contextmanager
def _opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        archive = zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError, NotImplementedError) as error:
        reason = Sentence(marked("engine", "it cannot be unpacked"))
        raise ModelError(_DAMAGED, path=path, reason=reason) from error
    with archive:
        yield archive
