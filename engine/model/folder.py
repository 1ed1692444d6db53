"""A model folder: which of its files are opened, and that none leads out of it.

File names are fixed here; a path that stands in a config.json or an index is never followed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor

from engine.errors import ModelError, marked
from engine.files import damaged, file_in, read_json_object, reading
from engine.model.tensor_files import TensorFile, open_tensors

LEARNED = "learned.safetensors"  # hashes of the texts that a model has learned from
ENCODER_WEIGHTS = "encoder.safetensors"  # of own_encoder.py
MODEL_FILES = {  # a folder that holds anything else is not written over
    "config.json",
    "model.safetensors",
    "vocab.txt",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.json",
    "merges.txt",
    "sentencepiece.bpe.model",
    "spiece.model",
    "spm.model",
    "special_tokens_map.json",
    "cloze.json",
    ENCODER_WEIGHTS,
    LEARNED,
}
_MOST_SHARDS = 200  # files of weights; real ones of BERT are one or two
_OF_OTHERS = ("tf_model.h5", "flax_model.msgpack", "rust_model.ot", "model.onnx", "model.int8.onnx")
_KINDS = (  # in the order in which they are preferred
    ("model.safetensors", ".safetensors"),
    ("model.safetensors.index.json", ".safetensors"),
    ("pytorch_model.bin", ".bin"),
    ("pytorch_model.bin.index.json", ".bin"),
)


class StoredWeights:
    """All tensors of a model folder. path: the file or index, for sentences. files: that hold the tensors."""

    def __init__(self, path: Path, homes: Mapping[str, TensorFile], files: tuple[Path, ...]) -> None:
        self.path, self.files = path, files
        self.infos = {name: file.infos[name] for name, file in homes.items()}
        self.num_bytes = sum({id(file): file.num_bytes for file in homes.values()}.values())
        self._homes = homes

    def read_into(self, name: str, target: Tensor) -> None:
        """Fill `target` (contiguous, same shape) with a stored tensor, converted to the target's type."""
        with reading(self.path):
            self._homes[name].read_into(name, target)

    def replaced(self, homes: Mapping[str, TensorFile], path: Path) -> StoredWeights:
        """Return all tensors, some as they are in other files. Args: path: where those lie."""
        return StoredWeights(self.path, {**self._homes, **homes}, (*self.files, path))


@contextmanager
def open_weights(folder: Path) -> Iterator[StoredWeights]:
    """Open a model folder's weights: safetensors before .bin, one file before shards.

    Raises: ModelError if there are none, or they are damaged, lead out of the folder, or would run something.
    """
    found = ((file_in(folder, name), name, ending) for name, ending in _KINDS)
    path, name, ending = next((one for one in found if one[0]), (None, "", ""))
    if path is None:
        raise _no_weights(folder)
    with ExitStack() as stack:
        if name.endswith(".index.json"):
            homes, files = _open_shards(folder, path, ending, stack)
        else:
            file = stack.enter_context(open_tensors(path, ending))
            homes, files = dict.fromkeys(file.infos, file), (path,)
        yield StoredWeights(path, homes, files)


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file. Raises: ModelError if it is too large, unreadable, or no object.

    What could not be saved again, as NaN, is refused now: a training would end in it.
    """
    return read_json_object(path, writable=True, kind=ModelError)


def refuse_other_files(folder: Path) -> None:
    """Refuse to save a model over anything but a model. Raises: ModelError."""
    if folder.exists() and not folder.is_dir():
        raise ModelError(marked("engine", "{path} is a file; a model is saved as a folder."), path=folder)
    other = next((file.name for file in folder.glob("*") if file.name not in MODEL_FILES), None)
    if other is not None:
        raise ModelError(
            marked("engine", "{folder} also holds {name}, which saving would remove. Choose a new folder."),
            folder=folder,
            name=other,
        )


def write_json(path: Path, document: Mapping[str, Any]) -> None:
    """Write an object for people to read too."""
    text = json.dumps(dict(document), indent=2, ensure_ascii=False, allow_nan=False)
    # half a character becomes \\udc00 and the like, as JSON spells it: a folder's name may hold one
    path.write_text(text + "\n", encoding="utf-8", errors="backslashreplace")


def _no_weights(folder: Path) -> ModelError:
    other = next((name for name in _OF_OTHERS if (folder / name).exists()), None)
    if other is not None:
        template = marked(
            "engine",
            "{folder} holds weights only for another program ({name}), which Cloze does not "
            "read. Add model.safetensors or pytorch_model.bin from where it came.",
        )
        return ModelError(template, folder=folder, name=other)
    template = marked(
        "engine", "{folder} holds no weights: model.safetensors or pytorch_model.bin was expected."
    )
    return ModelError(template, folder=folder)


def _open_shards(
    folder: Path, index: Path, ending: str, stack: ExitStack
) -> tuple[dict[str, TensorFile], tuple[Path, ...]]:
    """Return where each weight lies, and the files by name."""
    table = read_json(index).get("weight_map")
    if not isinstance(table, dict) or not all(isinstance(shard, str) for shard in table.values()):
        raise damaged(index, marked("engine", "it has no table of weights and files"))
    if len(set(table.values())) > _MOST_SHARDS:
        raise damaged(index, marked("engine", "it names more than {most} files"), most=_MOST_SHARDS)
    files: dict[str, TensorFile] = {}
    for shard in sorted(set(table.values())):
        plain = os.path.basename(shard) == shard and "\\" not in shard and "\0" not in shard
        if not plain or not shard.endswith(ending):
            raise ModelError(
                marked(
                    "engine",
                    "{path} refers to {shard!r}, which is not the name of a {ending} file next to it.",
                ),
                path=index,
                shard=shard,
                ending=ending,
            )
        path = file_in(folder, shard)
        if path is None:
            raise ModelError(
                marked(
                    "engine", "{path} lists {shard}, but that file is not there. Copy or download it as well."
                ),
                path=index,
                shard=shard,
            )
        files[shard] = stack.enter_context(open_tensors(path, ending))
    absent = next((weight for weight, shard in table.items() if weight not in files[shard].infos), None)
    if absent is not None:
        raise damaged(
            index, marked("engine", "{name} is not in {file}"), name=absent[:60], file=table[absent]
        )
    homes = {weight: files[shard] for weight, shard in table.items()}
    return homes, tuple(folder / shard for shard in files)
