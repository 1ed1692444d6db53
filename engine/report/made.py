"""Who made a page to send, when, and how a stranger finds the same again: model, weights, data, versions."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from engine.events import Steps
from engine.inspect.loaded_model import take_fingerprint
from engine.model.info import read_info
from engine.report.blocks import Facts
from engine.train.run.kept import name_of
from engine.train.run.runs import chain_of

PACKAGE = "cloze-workbench"
SHORT = 12  # hex digits of a hash that are shown


def version() -> str:
    """Return Cloze's own version; "" where it was not installed."""
    try:
        return metadata.version(PACKAGE)
    except metadata.PackageNotFoundError:
        return ""


def today() -> str:
    """Return the date."""
    return time.strftime("%Y-%m-%d")


def made_by() -> str:
    """Return the line below a page: who made it, and what it loads."""
    cloze = f"Cloze {version()}".strip()
    return f"Made with {cloze} (Apache-2.0) on {today()}. This file loads nothing from anywhere."


def model_facts(folder: Path) -> Steps[Facts]:
    """Return which model this is: its name, its weights' hash, what it was trained on. Raises: ModelError."""
    digest = yield from take_fingerprint(folder)
    info = read_info(folder)
    facts = [("Model", name_of(folder)), ("Weights, sha256", digest)]
    facts += data_facts(info)
    stages = [f"{one.get('task', '?')} ({one.get('run', '?')})" for one in chain_of(str(folder))]
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


def short(digest: str) -> str:
    """Return the beginning of a hash."""
    return digest[:SHORT]


def bare(line: str) -> str:
    """Return a line or a path without the name of the person's own folder."""
    home = str(Path.home())
    return line if len(home) < 2 else line.replace(home, "~")


def is_model(folder: Path) -> bool:
    """Whether a folder holds a model that can be opened."""
    return (folder / "config.json").is_file()
