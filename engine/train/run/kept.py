"""Which weights a run kept along the way, and what its models are called: told from paths, no file of weights
is opened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.train.run.runs import CONFIG, HISTORY, MODEL, read_status

STEP = "step-"  # with which the folders of kept weights begin


@dataclass(frozen=True, slots=True)
class KeptWeights:
    """Weights that a run kept: the step after which they stood so, and their model folder."""

    step: int
    path: Path


def history(run_dir: Path) -> tuple[KeptWeights, ...]:
    """Return the weights that a run kept, oldest first, the result last; () where it kept none."""
    found = list(kept_along(run_dir))
    result = run_dir / MODEL
    if found and (result / "config.json").is_file():
        step = read_status(run_dir).get("step")
        found.append(KeptWeights(int(step) if isinstance(step, int) else found[-1].step, result))
    return tuple(found)


def run_of(folder: Path) -> Path | None:
    """Return the run that a model folder is the result of, or was kept along; None for other folders."""
    folder = folder.absolute()
    run_dir = folder.parent.parent if is_kept(folder) else folder.parent
    return run_dir if (is_kept(folder) or folder.name == MODEL) and (run_dir / CONFIG).is_file() else None


def of_one_run(one: Path, other: Path) -> bool:
    """Whether two model folders hold weights of the same run, or are the same folder."""
    run = run_of(one)
    return one.absolute() == other.absolute() or (run is not None and run == run_of(other))


def is_kept(folder: Path) -> bool:
    """Whether a model folder holds weights that a run kept along the way."""
    return folder.parent.name == HISTORY and folder.name.startswith(STEP)


def kept_along(run_dir: Path) -> Iterator[KeptWeights]:
    """Yield the weights that a run kept, oldest first, without its result."""
    for path in sorted((run_dir / HISTORY).glob(f"{STEP}*")):
        number = path.name.removeprefix(STEP)
        if number.isdecimal() and (path / "config.json").is_file():
            yield KeptWeights(int(number), path)


def name_of(folder: Path) -> str:
    """Return what a model is called: its folder's name, or that of the run that it is the result of."""
    folder = folder.absolute()
    if folder.name == "model":
        return folder.parent.name
    if folder.parent.name == "history":
        step = folder.name.removeprefix("step-").lstrip("0") or "0"
        return f"{folder.parent.parent.name}, step {step}"
    return folder.name
