"""A report as Markdown: what a scored file came to, in words and tables that can be pasted anywhere."""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import bracketed, marked, sentences, spanned
from engine.evaluation.baselines import MAJORITY, TFIDF, TRAINING_MAJORITY, Baseline
from engine.evaluation.report import ScoreReport
from engine.evaluation.slices import Slice
from engine.language import said, spoken

MOST_CLASSES, MOST_SLICES = 200, 30
NAMES = {
    MAJORITY: marked("engine", "always “{label}”, the majority class of these texts"),
    TRAINING_MAJORITY: marked("engine", "always “{label}”, the majority class of the training rows"),
    TFIDF: marked("engine", "TF-IDF with logistic regression"),
}
TEXTS, ACCURACY = marked("engine", "texts"), marked("engine", "accuracy")
BASELINES, WEAK_SLICES = marked("engine", "Baselines"), marked("engine", "Weak slices")
LESS = marked("engine", "the model less it")
FIGURES = marked("engine", "precision"), marked("engine", "recall"), marked("engine", "F1")
SLICE_HEAD = marked("engine", "slice"), TEXTS, marked("engine", "right"), marked("engine", "the rest")
SCORE = marked("engine", "{count:,} texts, {metric} {value}.")
SEEN = marked("engine", "The model was trained on {count:,} of these texts.")
UNSEEN = marked("engine", "Over the {count:,} that are new to it: {value}.")
ONE_REPEATS = marked("engine", "One text repeats another.")
REPEATING = marked("engine", "{count:,} texts repeat others.")
TRIED = marked("engine", "{found} of {count:,} slices that were tried, corrected for so many.")
CALIBRATION_ERROR = marked("engine", "Expected calibration error {error}; by chance alone {chance}.")
KEPT = marked("engine", "These are the probabilities with the kept temperature of {kept:.2f}.")
FITTED_HERE = marked("engine", "The temperature was fitted on half of these texts, so they do not test it.")
FITTED = marked(
    "engine",
    "A temperature of {value:.2f}, fitted on {count:,} {part} rows, brings it from {before} to {after} here.",
)
FITTED_ON_HALF = marked(
    "engine",
    "A temperature of {value:.2f}, fitted on {count:,} texts, brings it from {before} to {after} on the "
    "other {others:,}.",
)


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
        "# " + said(marked("engine", "{model} on {texts}"), model=model, texts=texts),
        said(SCORE, count=report.count, metric=scored.metric, value=_with(report.value, report.interval)),
    ]
    if scored.num_seen:
        unseen = ""
        if report.unseen is not None:
            value = f"{scored.metric} {_with(report.unseen.value, report.unseen.interval)}"
            unseen = said(UNSEEN, count=report.unseen.count, value=value)
        parts.append(sentences([said(SEEN, count=scored.num_seen), unseen]))
    if report.num_repeating:
        parts.append(repeating(report.num_repeating))
    if comparison:
        parts.append(comparison)
    rows = [[name, _number(value)] for name, value in scored.evaluated.metrics.items()]
    head = [spoken(marked("engine", "metric")), spoken(marked("engine", "value"))]
    parts.append(_table(head, rows))
    if report.is_of_classes:
        parts += _of_classes(report, baselines, f1_intervals)
    if num_tried:
        tried = said(TRIED, found=len(slices), count=num_tried)
        parts += ["## " + spoken(WEAK_SLICES), tried]
        head = [*map(spoken, SLICE_HEAD), "p"]
        found = [
            [
                slice_name(one),
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
                said(NAMES[one.name], label=one.label),
                _with(one.accuracy, one.interval),
                _with(one.difference.value, one.difference.interval),
                f"{one.difference.p_value:.2g}",
            ]
            for one in baselines
        ]
        parts += ["## " + spoken(BASELINES), _table(["", spoken(ACCURACY), spoken(LESS), "p"], rows)]
    rows = []
    for place, name in enumerate(names[:MOST_CLASSES]):
        ends = f1_intervals[place] if f1_intervals else None
        figures = (scores.precision[place], scores.recall[place])
        rows.append(
            [name, *map(_number, figures), _with(scores.f1[place], ends), f"{scores.support[place]:,}"]
        )
    head = [spoken(marked("engine", "class")), *map(spoken, FIGURES), spoken(TEXTS)]
    parts += ["## " + spoken(marked("engine", "Classes")), _table(head, rows)]
    if len(names) <= 20 and scores.confusion is not None:
        pairs = zip(names, scores.confusion.tolist(), strict=True)
        confusion = [[name, *(f"{count:,}" for count in row)] for name, row in pairs]
        title = spoken(marked("engine", "Confusion matrix: a row for each true class"))
        parts += ["## " + title, _table(["", *names], confusion)]
    found = report.calibration
    error = _with(found.error, found.interval)
    told = [said(CALIBRATION_ERROR, error=error, chance=_number(found.chance))]
    warmth = report.temperature
    if report.kept != 1.0:
        told.append(said(KEPT, kept=report.kept))
        if report.has_chosen:
            told.append(spoken(FITTED_HERE))
    elif warmth is not None:
        values = {
            "value": warmth.value,
            "count": warmth.num_fitted,
            "before": _number(warmth.error_before),
            "after": _number(warmth.error_after),
        }
        if warmth.fitted_on:
            told.append(said(FITTED, part=spoken(warmth.fitted_on, "word"), **values))
        else:
            told.append(said(FITTED_ON_HALF, others=warmth.num_shown, **values))
    return [*parts, "## " + spoken(marked("engine", "Calibration")), sentences(told)]


def repeating(count: int) -> str:
    """Return how many texts repeat others, in a sentence."""
    return spoken(ONE_REPEATS) if count == 1 else said(REPEATING, count=count)


def slice_name(one: Slice) -> str:
    """Return what a slice is of."""
    if one.kind == "length":
        return said(marked("engine", "{low:,} to {high:,} characters"), low=one.low, high=one.high)
    if one.kind == "word":
        return said(marked("engine", "contains “{value}”"), value=one.value)
    return said(marked("engine", "{name} is “{value}”"), name=one.name, value=one.value)


def _number(value: float) -> str:
    return f"{value:.4f}"


def _with(value: float, interval: tuple[float, float] | None) -> str:
    if interval is None:
        return _number(value)
    return bracketed(_number(value), spanned(*map(_number, interval)))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table; a cell's own bars and line ends are made harmless."""
    lines = [head, ["---", *(["---:"] * (len(head) - 1))], *rows]
    cells = ([" ".join(cell.split()).replace("|", "\\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in cells)
