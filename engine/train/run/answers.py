"""What a run's best weights answered to its validation and test texts: run/answers/validation.safetensors.

It is written by the evaluation that the training makes anyway. The texts stand in setup/. What is read may
have been edited: answers that do not fit are none, and are asked for again.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from engine.durable import explained
from engine.errors import UserError
from engine.train.run.records import whole_number
from engine.train.scored import MarkColumns, ScoreRows

ANSWERS = "answers"
MOST_BYTES = 1 << 27  # of the answers of a part; more are not kept
_ARRAYS = ("true", "predicted", "right", "sure", "adds", "probabilities")
_OF_MARKS = ("texts", "which")


def answers_path(run_dir: Path, split: str) -> Path:
    """Return where the answers to "validation" or "test" lie."""
    return run_dir / ANSWERS / f"{split}.safetensors"


def save_answers(run_dir: Path, split: str, step: int, each: ScoreRows) -> None:
    """Keep what the weights of a step answered, whole or not at all; nothing where that is too much."""
    import torch  # here: who asks whether there are answers does not wait for it

    from engine.model.tensor_files import save_tensors

    path = answers_path(run_dir, split)
    about = {"step": step, "score": each.score, "names": each.names}
    arrays = {name: getattr(each, name) for name in _ARRAYS}
    if each.marks is not None:
        about["marks"] = each.marks.names
        arrays |= {f"marks/{name}": getattr(each.marks, name) for name in _OF_MARKS}
    said = json.dumps(about, ensure_ascii=False)
    arrays["about"] = np.frombuffer(bytearray(said.encode("utf-8", "surrogatepass")), np.uint8)
    with explained(path):
        if sum(one.nbytes for one in arrays.values()) > MOST_BYTES:
            path.unlink(missing_ok=True)
            return
        path.parent.mkdir(exist_ok=True)
    save_tensors(path, {name: torch.from_numpy(np.ascontiguousarray(one)) for name, one in arrays.items()})


def load_answers(run_dir: Path, split: str, step: int) -> ScoreRows | None:
    """Return what the weights of a step answered; None where that was not kept, or cannot be."""
    path = answers_path(run_dir, split)
    if not path.is_file():
        return None
    from engine.model.tensor_files import load_tensors

    try:
        tensors = {name: one.numpy() for name, one in load_tensors(path).items()}
        about = json.loads(tensors["about"].tobytes().decode("utf-8", "surrogatepass"))
        names, score = about["names"], about["score"]
        if whole_number(about["step"]) != step or not isinstance(score, str):
            return None
        if not isinstance(names, list) or not all(isinstance(one, str) for one in names):
            return None
        marks = _marks_in(about.get("marks"), tensors)
        each = ScoreRows(tuple(names), score=score, marks=marks, **{name: tensors[name] for name in _ARRAYS})
        return each if each.fits(len(each)) else None
    except (UserError, OSError, KeyError, TypeError, ValueError, IndexError, RecursionError):
        return None


def _marks_in(names: object, tensors: dict[str, np.ndarray]) -> MarkColumns | None:
    """Return the marks that were kept, None where there are none. Raises: KeyError, TypeError."""
    if not isinstance(names, list):
        return None
    if not all(isinstance(one, list) and all(isinstance(part, str) for part in one) for one in names):
        raise TypeError(names)
    return MarkColumns(tuple(map(tuple, names)), *(tensors[f"marks/{name}"] for name in _OF_MARKS))
