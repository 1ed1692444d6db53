"""A graph in 8-bit numbers, a third as large or less, with what it costs: told before it is kept.

Not to be broken: both graphs answer the same labelled texts in onnxruntime; what is not kept leaves no file.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from engine.durable import PARTIAL, explained, sync
from engine.errors import Sentence, marked
from engine.evaluation.comparing import compare_scored
from engine.evaluation.part import parts_of, run_behind, scoring_part
from engine.evaluation.report import ScoreReport
from engine.events import Beat, Event, Progress, Steps
from engine.export.card import CARD
from engine.export.heads import VECTORS, Graph, graph_of
from engine.export.onnx import GRAPH, SMALL
from engine.export.runtime import Batch, InItsPlace, batches, open_session, read_part, theirs
from engine.model.heads import HeadedEncoder
from engine.settings.finetune import DataConfig
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer
from engine.train.metrics import wilson_interval
from engine.train.scored import ScoredTable
from engine.train.tasks.kind import Kind
from engine.train.tasks.known import evaluate_file

VALIDATION = "validation"
_QUANTIZING = marked("engine", "Converting to 8-bit numbers")
_MEASURING = marked("engine", "Measuring both graphs")
_HIDDEN_EVERY = 7  # of the pieces of a text, where hidden words are what is right
_SIZES = marked("engine", "With 8-bit numbers {small:.1f} MB instead of {whole:.1f} MB.")
_BOTH = marked(
    "engine",
    "Measured on {count:,} {on}: {metric} {whole} at full precision, {small} in 8 "
    "bits. {others:,} answers differ: {lost:,} became wrong, {won:,} became right.",
)
_NUMBERS = marked(
    "engine", "Measured on {count:,} {on}: {metric} {whole} at full precision, {small} in 8 bits."
)
_UNKNOWN = marked(
    "engine",
    "The cost is not known, since the model is not from a run here and no labelled "
    "file was named. {same:.1%} of its answers to {count} texts are the same.",
)
_NUMBERS_UNKNOWN = marked(
    "engine",
    "The cost is not known, since the model is not from a run here and no labelled "
    "file was named. Its numbers for {count} texts differ by {mean:.2g} on average, "
    "by {most:.2g} at most.",
)
_VECTORS = marked(
    "engine",
    "The vectors of {count} texts point the same way, with a mean cosine of "
    "{mean:.3f} and a lowest of {least:.3f}.",
)


@dataclass(frozen=True, slots=True)
class Small:
    """A graph in 8-bit numbers that waits beside an export. said: what it costs, for a person.

    whole, small: the metric of each graph and its 95 % interval, where labelled texts told them.
    """

    path: Path
    export: Path
    said: tuple[Sentence, ...]
    whole: tuple[float, tuple[float, float] | None] | None = None
    small: tuple[float, tuple[float, float] | None] | None = None
    count: int = 0

    def keep(self) -> Path:
        """Put it beside the whole graph, with what it costs on the card; return it. Raises: UserError."""
        kept = self.export / SMALL
        with explained(kept):
            os.replace(self.path, kept)
            lines = "".join(f"- {one}\n" for one in self.said)
            with (self.export / CARD).open("a", encoding="utf-8") as file:
                file.write(f"\n## In 8-bit numbers: {SMALL}\n\n{lines}")
            sync(kept)
        return kept

    def drop(self) -> None:
        """Leave nothing of it."""
        self.path.unlink(missing_ok=True)


def quantizing(
    folder: Path, export: Path, texts: Sequence[str], data: DataConfig | None = None
) -> Steps[Small]:
    """Make the 8-bit form of an exported graph and measure both; what is returned is still to be kept.

    Args:   folder: the model. export: its folder in ONNX. texts: for a model whose words or vectors are
            compared. data: a labelled file; None: what the model's run kept apart for validation.
    Raises: UserError, ModelError.
    """
    path = export.with_name(f".{export.name}.int8{PARTIAL}")
    yield Progress(stage=_QUANTIZING, done=0, total=0)
    try:
        with explained(path):
            _quantize(export / GRAPH, path)
        yield Beat()
        found = yield from _measured(folder, export, path, texts, data)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return found


def _quantize(whole: Path, small: Path) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()):
            warnings.simplefilter("ignore")
            quantize_dynamic(
                str(whole), str(small), weight_type=QuantType.QInt8, per_channel=True, reduce_range=True
            )
    finally:
        root.setLevel(level)


def _measured(
    folder: Path, export: Path, path: Path, texts: Sequence[str], data: DataConfig | None
) -> Steps[Small]:
    graph = graph_of(folder)
    sessions = [open_session(export / GRAPH), open_session(path)]
    sizes = {"small": path.stat().st_size / 1e6, "whole": (export / GRAPH).stat().st_size / 1e6}
    size = Sentence(_SIZES, sizes)
    wordpiece = read_tokenizer(folder)
    if graph.outputs == VECTORS:
        told = yield from _of_vectors(graph, sessions, wordpiece, texts)
        return Small(path, export, (size, told))
    if graph.task is None:
        return (yield from _of_words(graph, sessions, wordpiece, texts, Small(path, export, (size,))))
    run = run_behind(folder)
    is_of_run = data is None and run is not None and VALIDATION in parts_of(run)
    if data is None and not is_of_run:
        told = yield from _of_answers(graph, graph.task, sessions, wordpiece, texts)
        return Small(path, export, (size, told))
    scored = list[ScoredTable]()
    for session in sessions:
        stand_in = partial(_in_its_place, session)
        if data is not None:
            steps = evaluate_file(folder, data, "cpu", stand_in)
        else:
            assert run is not None
            steps = scoring_part(run, VALIDATION, "cpu", stand_in)
        scored.append((yield from _quietly(steps)))
    on = (
        Sentence(marked("engine", "texts of {name}"), {"name": Path(data.data).name})
        if data is not None
        else None
    )
    on = on or Sentence(marked("engine", "validation texts of the run"))
    return _of_both(scored, Small(path, export, (size,)), on)


def _in_its_place(session: Any, model: HeadedEncoder) -> InItsPlace:
    return InItsPlace(session, model.config)


def _quietly(steps: Steps[ScoredTable]) -> Steps[ScoredTable]:
    """Do the work of a measurement; its progress is told, its scores and remarks are told by who asked."""
    while True:
        try:
            event: Event = next(steps)
        except StopIteration as end:
            found: ScoredTable = end.value
            return found
        yield event if isinstance(event, Progress) else Beat()


def _of_both(scored: Sequence[ScoredTable], small: Small, on: Sentence) -> Small:
    """Return what two graphs got of the same labelled texts."""
    reports = [ScoreReport(one) for one in scored]
    found = [(one.value, one.interval) for one in reports]
    metric, count = scored[0].metric, reports[0].count
    values = {
        "metric": metric,
        "count": count,
        "on": on,
        "whole": _told(*found[0]),
        "small": _told(*found[1]),
    }
    compared = compare_scored(*scored)
    rights = [
        one.each.right[rows]
        for one, rows in zip(scored, (compared.first_rows, compared.second_rows), strict=True)
    ]
    if np.isnan(rights[0]).any():  # numbers are not right or wrong
        said = Sentence(_NUMBERS, values)
    else:
        whole, eight = (right > 0.5 for right in rights)
        lost, won = int((whole & ~eight).sum()), int((eight & ~whole).sum())
        said = Sentence(_BOTH, {**values, "others": len(compared.differing), "lost": lost, "won": won})
    whole_graph = Sentence(marked("engine", "The whole graph"))
    verdict = compared.sentence(whole_graph, Sentence(marked("engine", "the one in 8 bits")))
    said_all = (*small.said, said, verdict)
    return replace(small, said=said_all, whole=found[0], small=found[1], count=count)


def _of_words(
    graph: Graph, sessions: Sequence[Any], wordpiece: Tokenizer, texts: Sequence[str], small: Small
) -> Steps[Small]:
    """Return how many hidden words each graph finds."""
    rights = [list[np.ndarray](), list[np.ndarray]()]
    others = 0
    tried = list(batches(graph, wordpiece, texts))
    for done, batch in enumerate(tried):
        yield Progress(stage=_MEASURING, done=done, total=len(tried))
        hidden, true, given = _hide(batch, wordpiece)
        guessed = [theirs(session, given)[0].argmax(-1)[hidden] for session in sessions]
        for right, guesses in zip(rights, guessed, strict=True):
            right.append(guesses == true)
        others += int((guessed[0] != guessed[1]).sum())
    whole, eight = (np.concatenate(one) for one in rights)
    count = len(whole)
    found = [(float(one.mean()), wilson_interval(float(one.sum()), count)) for one in (whole, eight)]
    values: dict[str, Any] = {
        "metric": "accuracy",
        "count": count,
        "on": Sentence(marked("engine", "masked words")),
    }
    values |= {"whole": _told(*found[0]), "small": _told(*found[1]), "others": others}
    values |= {"lost": int((whole & ~eight).sum()), "won": int((eight & ~whole).sum())}
    said = (*small.said, Sentence(_BOTH, values))
    return replace(small, said=said, whole=found[0], small=found[1], count=count)


def _hide(batch: Batch, wordpiece: Tokenizer) -> tuple[np.ndarray, np.ndarray, Batch]:
    """Return where words were hidden (B, T), what stood there, and the batch without them."""
    ids, mask, types = batch
    assert wordpiece.mask_id is not None
    hidden = np.zeros(ids.shape, bool)
    for row, length in enumerate(mask.sum(1).tolist()):
        hidden[row, 1 + row % _HIDDEN_EVERY : length - 1 : _HIDDEN_EVERY] = True
        hidden[row, 1] |= not hidden[row].any()
    true = ids.numpy()[hidden]
    given = ids.clone()
    given[hidden] = wordpiece.mask_id
    return hidden, true, (given, mask, types)


def _of_answers(
    graph: Graph, task: Kind, sessions: Sequence[Any], wordpiece: Tokenizer, texts: Sequence[str]
) -> Steps[Sentence]:
    """Return how alike the answers are, where nobody says what is right."""
    found = [list[np.ndarray](), list[np.ndarray]()]
    tried = list(batches(graph, wordpiece, texts))
    for done, batch in enumerate(tried):
        yield Progress(stage=_MEASURING, done=done, total=len(tried))
        for own, session in zip(found, sessions, strict=True):
            scores = theirs(session, batch)
            own.append(task.likeliest(scores, read_part(graph, scores[0], batch)))
    whole, eight = (np.concatenate(one) for one in found)
    if whole.dtype.kind == "f":
        off = np.abs(whole - eight)
        values: dict[str, Any] = {"mean": float(off.mean()), "most": float(off.max()), "count": len(texts)}
        return Sentence(_NUMBERS_UNKNOWN, values)
    return Sentence(_UNKNOWN, {"same": float((whole == eight).all(-1).mean()), "count": len(texts)})


def _of_vectors(
    graph: Graph, sessions: Sequence[Any], wordpiece: Tokenizer, texts: Sequence[str]
) -> Steps[Sentence]:
    """Return how alike the mean vectors of the texts are."""
    cosines = list[float]()
    tried = list(batches(graph, wordpiece, texts))
    for done, batch in enumerate(tried):
        yield Progress(stage=_MEASURING, done=done, total=len(tried))
        mask = batch[1].numpy()[..., None]
        means = [(theirs(session, batch)[0] * mask).sum(1) / mask.sum(1) for session in sessions]
        whole, eight = (one / np.linalg.norm(one, axis=1, keepdims=True) for one in means)
        cosines += (whole * eight).sum(1).tolist()
    return Sentence(_VECTORS, {"count": len(texts), "mean": float(np.mean(cosines)), "least": min(cosines)})


def _told(value: float, interval: tuple[float, float] | None) -> str:
    return f"{value:.3f}" + (f" ({interval[0]:.3f} to {interval[1]:.3f})" if interval else "")
