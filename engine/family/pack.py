"""A family in little room: its members in half precision and what they reached, without text and curves.

So is the one made that ships with the window; it is asked as any other and cannot learn on.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import torch

from engine.durable import check_place, replaced_folder, write_text
from engine.errors import RunError, marked
from engine.family.layout import SETTINGS, WEIGHTS, read_family
from engine.family.starts import WORD_COUNTS
from engine.family.train import read_report, write_report
from engine.files import read_json_object
from engine.model.tensor_files import load_tensors, save_tensors
from engine.model.weights import load_pretraining, save_model
from engine.settings.config import to_toml
from engine.text.read_tokenizer import read_tokenizer
from engine.train.run.runs import MODEL


def pack(folder: Path, out: Path) -> int:
    """Write a family that has come to its end to a new folder; return its bytes.

    Raises: RunError if it has not, or `out` is not free; UserError if it cannot be written.
    """
    report, config = read_report(folder), read_family(folder)
    check_place(out)
    if out.exists() and any(out.iterdir()):
        raise RunError(marked("engine", "The folder {path} is not empty. Name a new one."), path=out)
    text, kept_apart = (
        "\n".join(Path(place).name for place in places.split("\n"))
        for places in (config.text.text, config.text.validation_text)
    )
    config = replace(config, text=replace(config.text, text=text, validation_text=kept_apart))
    out.mkdir(parents=True, exist_ok=True)
    for name in report["members"]:
        _pack_member(folder / name / MODEL, out / name / MODEL)
    write_text(out / SETTINGS, to_toml(config))
    if (folder / WORD_COUNTS).is_file():
        shutil.copyfile(folder / WORD_COUNTS, out / WORD_COUNTS)
    write_report(out, report)
    return sum(file.stat().st_size for file in out.rglob("*") if file.is_file())


def _pack_member(model: Path, out: Path) -> None:
    """Copy a member, its weights in half precision; counts are as small as they are."""
    out.parent.mkdir(parents=True, exist_ok=True)
    if model.parent.name == "bert":
        network, _ = load_pretraining(model)
        cloze = read_json_object(model / "cloze.json")
        save_model(out, network, read_tokenizer(model), cloze, dtype=torch.float16)
        return
    with replaced_folder(out) as beside:
        for file in model.iterdir():
            if file.name == WEIGHTS:
                tensors = load_tensors(file).items()  # a word's share of the text may be too small for a half
                halves = {name: one.half() if one.ndim > 1 else one for name, one in tensors}
                save_tensors(beside / WEIGHTS, halves)
            else:
                shutil.copyfile(file, beside / file.name)
