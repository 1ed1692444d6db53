"""Which model a page to send is of, and what it was trained on, as a stranger can check it."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.events import Steps
from engine.inspect.loaded_model import take_fingerprint
from engine.model.info import read_info
from engine.report.blocks import Facts
from engine.report.made import short, today, version
from engine.train.run.kept import name_of
from engine.train.run.runs import chain_of, stage_name


def model_facts(folder: Path) -> Steps[Facts]:
    """Return which model this is: its name, its weights' hash, what it was trained on. Raises: ModelError."""
    digest = yield from take_fingerprint(folder)
    info = read_info(folder)
    facts = [("Model", name_of(folder)), ("Weights, sha256", digest)]
    facts += data_facts(info)
    stages = [stage_name(one) for one in chain_of(str(folder))]
    if stages:
        facts.append(("Trained in stages", ", ".join(stages)))
    return tuple(facts)


def data_facts(info: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return what a model folder's cloze.json says of the table it was trained on."""
    data, split = info.get("data"), info.get("split")
    found = []
    if isinstance(data, dict) and data.get("sha256"):
        rows = f", {data['rows']:,} rows" if isinstance(data.get("rows"), int) else ""
        found.append(("Trained on", f"{data.get('name', '?')}{rows}"))
        found.append(("Data, sha256", short(str(data["sha256"]))))
    if isinstance(split, dict) and split.get("sha256"):
        seed = f", seed {split['seed']}" if "seed" in split else ""
        found.append(("Split, sha256", short(str(split["sha256"])) + seed))
    return found


def versions() -> Facts:
    """Return what the numbers were computed with."""
    import torch

    said = f"Cloze {version()}, torch {torch.__version__}, Python {platform.python_version()}"
    return (("Computed with", said), ("Date", today()))


def is_model(folder: Path) -> bool:
    """Whether a folder holds a model that can be opened."""
    return (folder / "config.json").is_file()
