"""All of a model in one file: transformers' folder, its card, sentence-transformers' files, and ONNX.

Not to be broken: the same model makes the same bytes, so names are sorted, and no time is told.
"""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from engine.durable import explained, sync
from engine.errors import ModelError, Sentence, UserError, marked
from engine.events import Progress, Steps
from engine.export.card import write_card
from engine.export.folders import (
    SENTENCES,
    TRANSFORMERS,
    check_same,
    how_pooled,
    put_model,
    put_sentence_files,
)
from engine.export.onnx import ONNX, exporting
from engine.export.place import ExportResult, workshop
from engine.model.folder import read_json, write_json
from engine.model.own_encoder import encoder_of
from engine.model.weights import read_config, tuned_head

ENDING = ".zip"
_NO_TIME = (1980, 1, 1, 0, 0, 0)  # the first that a zip can say
_PACKING = marked("engine", "Packing")
_NO_SENTENCES = marked(
    "engine",
    "Without files for sentence-transformers, which would read the layers that guess words, not those of "
    "{name}. Export for sentence-transformers to have these.",
)


def writing_zip(
    folder: Path, out: Path, texts: Sequence[str], *, with_onnx: bool | None = None
) -> Steps[ExportResult]:
    """Write a model into one zip; yields Progress.

    Args:   texts: that its graph in ONNX is tried on. with_onnx: None: where the packages for it are there.
    Raises: UserError: `out` is no name of a zip, is there and no earlier export, or cannot be written.
            ModelError.
    """
    if out.suffix.lower() != ENDING or out.is_dir():
        raise UserError(marked("engine", "{path} must be a file whose name ends in .zip."), path=out)
    if out.exists() and not _is_earlier(out):
        template = marked(
            "engine", "{path} already exists and is not an earlier export. Choose another name."
        )
        raise UserError(template, path=out)
    with_onnx = all(map(find_spec, ("onnx", "onnxscript", "onnxruntime"))) if with_onnx is None else with_onnx
    with workshop(out) as place:
        model, packed = place / "model", place / out.name
        yield from _gather(folder, model, texts, with_onnx)
        files = sorted(one for one in model.rglob("*") if one.is_file())
        with zipfile.ZipFile(packed, "w") as archive:
            for done, path in enumerate(files):
                yield Progress(stage=_PACKING, done=done, total=len(files))
                _add(archive, path, f"{out.stem}/{path.relative_to(model).as_posix()}")
        with zipfile.ZipFile(packed) as archive:
            if (bad := archive.testzip()) is not None:
                raise ModelError(
                    marked("engine", "{path} was not written completely: {name}."), path=out, name=bad
                )
        sync(packed)
        os.replace(packed, out)
        sync(out.parent)
    template = marked(
        "engine", "{count} files, {megabytes:.1f} MB. All of them were read again and are intact."
    )
    size = out.stat().st_size
    said = [Sentence(template, {"count": len(files), "megabytes": size / 1e6})]
    if not with_onnx:
        said.append(Sentence(marked("engine", "Without ONNX, because its packages are not installed here.")))
    return ExportResult(out, size, tuple(said))


def _is_earlier(path: Path) -> bool:
    """Whether a file is what an export left there before."""
    try:
        with explained(path), zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError):
        return False
    whole = {f"{path.stem}/{name}" for name in ("README.md", "config.json", "model.safetensors")}
    return whole <= set(names) and all(name.startswith(f"{path.stem}/") for name in names)


def _gather(folder: Path, place: Path, texts: Sequence[str], with_onnx: bool) -> Steps[None]:
    """Put all that goes into the zip beside each other."""
    yield Progress(stage=marked("engine", "Writing"), done=0, total=0)
    place.mkdir()
    checked = [Sentence(marked("engine", "Reopened: the answers are identical, to the last bit."))]
    checked += put_model(folder, place)
    check_same(folder, place)
    config = read_config(folder)
    uses = [TRANSFORMERS]
    encoder = encoder_of(folder)
    if encoder:
        checked.append(Sentence(_NO_SENTENCES, {"name": encoder}))
    elif tuned_head(folder, config) is None:
        how = how_pooled(folder)
        put_sentence_files(place, how, config.hidden_size)
        document = read_json(place / "config.json")
        document.pop("torch_dtype", None)
        write_json(place / "config.json", {**document, "dtype": "float32"})  # else its vectors were rounded
        uses.append(SENTENCES)
    if with_onnx:
        found = yield from exporting(folder, place / "onnx", texts)
        checked += found.said
        uses.append(ONNX)
    write_card(folder, place, checked, *uses)


def _add(archive: zipfile.ZipFile, path: Path, name: str) -> None:
    info = zipfile.ZipInfo(name, _NO_TIME)
    info.create_system, info.external_attr = 3, 0o100644 << 16
    info.file_size = path.stat().st_size
    with path.open("rb") as source, archive.open(info, "w") as target:
        shutil.copyfileobj(source, target, 2**20)
