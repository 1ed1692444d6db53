"""Which model a page to send is of, and what it was trained on, as a stranger can check it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import Sentence, listed, marked
from engine.events import Steps
from engine.inspect.loaded_model import take_fingerprint
from engine.language import spoken
from engine.model.info import read_info
from engine.report.blocks import Facts
from engine.report.made import short, today, version
from engine.train.run.kept import name_of
from engine.train.run.runs import chain_of, stage_name


def model_facts(folder: Path) -> Steps[Facts]:
    """Return which model this is: its name, its weights' hash, what it was trained on. Raises: ModelError."""
    digest = yield from take_fingerprint(folder)
    info = read_info(folder)
    facts = [
        (spoken(marked("engine", "Model")), name_of(folder)),
        (spoken(marked("engine", "Weights, sha256")), digest),
    ]
    facts += data_facts(info)
    stages = [stage_name(one) for one in chain_of(str(folder))]
    if stages:
        facts.append((spoken(marked("engine", "Trained in stages")), listed(stages)))
    return tuple(facts)


def data_facts(info: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what a model folder's cloze.json says of the table it was trained on."""
    data, split = info.get("data"), info.get("split")
    found = []
    if isinstance(data, dict) and data.get("sha256"):
        name, rows = str(data.get("name", "?")), data.get("rows")
        said = Sentence(marked("engine", "{name}, {rows:,} rows"), {"name": name, "rows": rows})
        trained_on = str(said) if isinstance(rows, int) else name
        found.append((spoken(marked("engine", "Trained on")), trained_on))
        found.append((spoken(marked("engine", "Data, sha256")), short(str(data["sha256"]))))
    if isinstance(split, dict) and split.get("sha256"):
        digest = short(str(split["sha256"]))
        if "seed" in split:
            values = {"digest": digest, "seed": split["seed"]}
            digest = str(Sentence(marked("engine", "{digest}, seed {seed}"), values))
        found.append((spoken(marked("engine", "Split, sha256")), digest))
    return found


def versions() -> Facts:
    """Return what the numbers were computed with."""
    import torch

    said = f"Cloze {version()}, torch {torch.__version__}, Python {platform.python_version()}"
    return (
        (spoken(marked("engine", "Computed with")), said),
        (spoken(marked("engine", "Date")), today()),
    )


def is_model(folder: Path) -> bool:
    """Whether a folder holds a model that can be opened."""
    return (folder / "config.json").is_file()
