"""A report as Markdown, in English: what a scored file came to, in words and tables that can be pasted
anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import marked
from engine.evaluation.baselines import MAJORITY, TFIDF, TRAINING_MAJORITY, Baseline
from engine.evaluation.report import ScoreReport
from engine.evaluation.slices import Slice

MOST_CLASSES, MOST_SLICES = 200, 30
NAMES = {
    MAJORITY: marked("engine", "always “{label}”, the majority class of these texts"),
    TRAINING_MAJORITY: marked("engine", "always “{label}”, the majority class of the training rows"),
    TFIDF: marked("engine", "TF-IDF with logistic regression"),
}


def report_markdown(
    report: ScoreReport,
    model: str,
    texts: str,
    baselines: Sequence[Baseline] = (),
    slices: Sequence[Slice] = (),
    num_tried: int = 0,
    f1_intervals: Sequence[tuple[float, float]] = (),
    comparison: str = "",
) -> str:
    """Return a report. Args: model, texts: what they are called. comparison: what was said of another."""
    scored = report.scored
    parts = [
        f"# {model} on {texts}",
        f"{report.count:,} texts, {scored.metric} {_with(report.value, report.interval)}.",
    ]
    if scored.num_seen:
        parts.append(f"The model was trained on {scored.num_seen:,} of these texts.")
        if report.unseen is not None:
            parts[-1] += (
                f" Over the {report.unseen.count:,} that are new to it: {scored.metric} "
                f"{_with(report.unseen.value, report.unseen.interval)}."
            )
    if report.num_repeating:
        parts.append(f"{report.num_repeating:,} texts repeat others.")
    if comparison:
        parts.append(comparison)
    rows = [[name, _number(value)] for name, value in scored.evaluated.metrics.items()]
    parts.append(_table(["metric", "value"], rows))
    if report.is_of_classes:
        parts += _of_classes(report, baselines, f1_intervals)
    if num_tried:
        tried = f"{len(slices)} of {num_tried:,} slices that were tried, corrected for so many."
        parts += ["## Weak slices", tried]
        head = ["slice", "texts", "right", "the rest", "p"]
        found = [
            [
                _slice_name(one),
                f"{one.count:,}",
                _number(one.accuracy),
                _number(one.other_accuracy),
                f"{one.p_value:.2g}",
            ]
            for one in slices[:MOST_SLICES]
        ]
        parts += [_table(head, found)] if found else []
    return "\n\n".join(parts) + "\n"


def _of_classes(
    report: ScoreReport, baselines: Sequence[Baseline], f1_intervals: Sequence[tuple[float, float]]
) -> list[str]:
    scores, names = report.classes, report.scored.each.names
    parts = []
    if baselines:
        rows = [
            [
                NAMES[one.name].format(label=one.label),
                _with(one.accuracy, one.interval),
                _with(one.difference.value, one.difference.interval),
                f"{one.difference.p_value:.2g}",
            ]
            for one in baselines
        ]
        parts += ["## Baselines", _table(["", "accuracy", "the model less it", "p"], rows)]
    rows = []
    for place, name in enumerate(names[:MOST_CLASSES]):
        ends = f1_intervals[place] if f1_intervals else None
        figures = (scores.precision[place], scores.recall[place])
        rows.append(
            [name, *map(_number, figures), _with(scores.f1[place], ends), f"{scores.support[place]:,}"]
        )
    parts += ["## Classes", _table(["class", "precision", "recall", "F1", "texts"], rows)]
    if len(names) <= 20 and scores.confusion is not None:
        pairs = zip(names, scores.confusion.tolist(), strict=True)
        confusion = [[name, *(f"{count:,}" for count in row)] for name, row in pairs]
        parts += ["## Confusion matrix: a row for each true class", _table(["", *names], confusion)]
    found = report.calibration
    told = f"Expected calibration error {_with(found.error, found.interval)}; "
    told += f"by chance alone {_number(found.chance)}."
    warmth = report.temperature
    if report.kept != 1.0:
        told += f" These are the probabilities with the kept temperature of {report.kept:.2f}."
        if report.has_chosen:
            told += " It was fitted on half of these texts, so they do not test it."
    elif warmth is not None:
        fitted, shown = "texts", f"on the other {warmth.num_shown:,}"
        if warmth.fitted_on:
            fitted, shown = f"{warmth.fitted_on} rows", "here"
        told += (
            f" A temperature of {warmth.value:.2f}, fitted on {warmth.num_fitted:,} {fitted}, brings it from "
            f"{_number(warmth.error_before)} to {_number(warmth.error_after)} {shown}."
        )
    return [*parts, "## Calibration", told]


def _slice_name(one: Slice) -> str:
    if one.kind == "length":
        return f"{one.low:,} to {one.high:,} characters"
    return f"contains “{one.value}”" if one.kind == "word" else f"{one.name} is “{one.value}”"


def _number(value: float) -> str:
    return f"{value:.4f}"


def _with(value: float, interval: tuple[float, float] | None) -> str:
    return _number(value) if interval is None else f"{value:.4f} ({interval[0]:.4f} to {interval[1]:.4f})"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; a cell's own bars and line ends are made harmless."""
    lines = [head, ["---", *(["---:"] * (len(head) - 1))], *rows]
    cells = ([" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
