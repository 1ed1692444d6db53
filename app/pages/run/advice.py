"""What a careful colleague would say: remarks in plain words, with the most pressing first. No widgets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QCoreApplication

from app.words import duration
from app.work.titles import run_title
from engine.train.run.runs import CHECKPOINTS, MODEL

translate = QCoreApplication.translate

ORDER = {"wrong": 0, "look": 1, "note": 2, "fine": 3}


@dataclass(frozen=True, slots=True)
class Remark:
    """One line of advice. level: "fine", "look", "wrong" or "note"; mend: names what a click could mend."""

    level: str
    text: str
    mend: str = ""


def in_order(remarks: Iterable[Remark]) -> list[Remark]:
    """Return the remarks without repeats, what may be wrong first."""
    return sorted(dict.fromkeys(remarks), key=lambda remark: ORDER.get(remark.level, 2))


def outcome_words(outcome: str, run_dir: Path | None, seconds: float) -> str:
    """Return how a run ended, in one sentence; `seconds` is 0 where that is not known."""
    name = run_title(run_dir) if run_dir else ""
    if outcome == "finished":
        text = translate("Watch", "Finished in {duration}. The model is in {name}.")
        if not seconds:
            text = translate("Watch", "Finished. The model is in {name}.")
    elif outcome == "running":
        text = translate("Watch", "It runs in another process; this is what its files in {name} tell so far.")
    elif not has_learned(run_dir):
        text = translate("Watch", "It ended before anything that it learned was saved.")
        if outcome == "stopped":
            text = translate("Watch", "Stopped before it had learned anything.")
    elif outcome == "stopped":
        text = translate("Watch", "Stopped and kept after {duration}. The run is in {name}.")
        if not seconds:
            text = translate("Watch", "Stopped and kept. The run is in {name}.")
    else:
        text = translate("Watch", "It ended early. What was saved before is in {name}.")
    return text.format(duration=duration(seconds), name=name)


def has_learned(run_dir: Path | None) -> bool:
    """Whether a run has saved more than the weights it began with."""
    if run_dir is None:
        return False
    checkpoints = (path.name for path in (run_dir / CHECKPOINTS).glob("step-*"))
    has_model = (run_dir / MODEL / "config.json").is_file()
    return has_model or any(name != "step-00000000" for name in checkpoints)
