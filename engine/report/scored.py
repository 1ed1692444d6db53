"""What a scored file came to, as parts of a page to send; `engine/evaluation/markdown.py` says it as text.

Each interval says how it was computed, so that a stranger can find it again from the counts beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.evaluation.baselines import MAJORITY, TFIDF, TRAINING_MAJORITY, Baseline
from engine.evaluation.report import ScoreReport, f1_intervals
from engine.evaluation.slices import Slice
from engine.events import Steps
from engine.report import charts
from engine.report.blocks import Block, KeyNumber, KeyNumbers, Said, Section, Table
from engine.report.charts import Dot
from engine.report.numbers import above, between, decimal, measure, p_value, points, share
from engine.train.scored import PEARSON

MOST_CLASSES, MOST_DRAWN, MOST_SLICES, MOST_TEXTS = 200, 20, 30, 200
NAMES = {
    MAJORITY: "majority class",
    TRAINING_MAJORITY: "majority class of the training rows",
    TFIDF: "TF-IDF",
}
ABOUT = {
    MAJORITY: "always “{label}”, the majority class of these texts",
    TRAINING_MAJORITY: "always “{label}”, the majority class of the training rows",
    TFIDF: "TF-IDF with logistic regression, on the same training rows",
}


@dataclass(frozen=True)
class Scored:
    """A report with what is told beside it. texts: what they are called, "validation rows"."""

    report: ScoreReport
    texts: str
    baselines: Sequence[Baseline] = ()
    slices: Sequence[Slice] = ()
    num_tried: int = 0
    f1_intervals: Sequence[tuple[float, float]] = ()
    comparison: str = ""

    @property
    def sentence(self) -> str:
        """The score in one sentence."""
        report, metric = self.report, self.report.scored.metric
        span = between(metric, report.interval)
        about = f" (95 %: {span})" if span else ""
        said = (
            f"{metric_name(metric)} {measure(metric, report.value)}{about} on {report.count:,} {self.texts}"
        )
        return said + "."

    @property
    def method(self) -> str:
        """How the interval was computed."""
        return interval_method(self.report)


def scored_of(
    report: ScoreReport,
    texts: str,
    baselines: Sequence[Baseline] = (),
    slices: Sequence[Slice] = (),
    num_tried: int = 0,
    comparison: str = "",
) -> Steps[Scored]:
    """Return a report with what is told beside it, and the interval of each class. Args: as `Scored`."""
    spread = (yield from f1_intervals(report)) if report.is_of_classes else ()
    return Scored(report, texts, baselines, slices, num_tried, spread, comparison)


def metric_name(metric: str) -> str:
    """Return what a metric is called: "macro_f1" is "Macro F1"."""
    said = metric.replace("_", " ").replace(" f1", " F1")
    return said[:1].upper() + said[1:]


def interval_method(report: ScoreReport) -> str:
    """Return how a report's interval was computed, in a sentence."""
    if report.interval is None:
        return ""
    count = report.count
    if report.is_of_hits:
        hits = int(report.scored.each.right.sum())
        return f"Wilson’s score interval of {hits:,} right of {count:,}, 95 %"
    if report.scored.each.score == PEARSON and report.groups is None:
        return f"Fisher’s z-transformation over {count:,} texts, 95 %"
    grouped = ", texts that repeat one another together" if report.groups is not None else ""
    return f"resampling of {count:,} texts{grouped}, 95 %"


def score_section(found: Scored, title: str = "Score") -> Section:
    """Return the score on top of a report: the number, its interval, what it is beside."""
    report, scored = found.report, found.report.scored
    metric = scored.metric
    keys = [KeyNumber(measure(metric, report.value), metric_name(metric), between(metric, report.interval))]
    if report.is_of_classes:
        keys.append(
            KeyNumber(
                share(report.classes.summary()["macro_f1"]), "Macro F1", _spread(report.mean_f1_interval)
            )
        )
    keys.append(KeyNumber(f"{report.count:,}", "texts"))
    blocks: list[Block] = [KeyNumbers(keys)]
    blocks += [Said(text, level) for text, level in _remarks(found)]
    if found.baselines and report.is_of_classes:
        blocks.append(charts.dots("Accuracy beside simple ways", list(_dots(found))))
        blocks.append(_baselines(found.baselines))
    return Section(title, blocks, found.texts)


def _spread(interval: tuple[float, float] | None) -> str:
    return between("macro_f1", interval)


def _remarks(found: Scored) -> Iterator[tuple[str, str]]:
    report, scored = found.report, found.report.scored
    if scored.num_seen:
        said = f"The model was trained on {scored.num_seen:,} of these texts."
        if report.unseen is not None:
            new, metric = report.unseen, scored.metric
            said += f" Over the {new.count:,} that are new to it: {measure(metric, new.value)}"
            said += f" ({between(metric, new.interval)})." if new.interval else "."
        yield said, "look"
    if report.num_repeating:
        yield f"{report.num_repeating:,} texts repeat others.", ""
    if report.has_chosen:
        yield "The temperature was fitted on half of these texts, so they do not test it.", "look"
    for one in found.baselines:
        if one.difference.interval is not None:
            level = "fine" if one.difference.interval[0] > 0 else "look"
            other = NAMES[one.name] if one.name == TFIDF else f"the {NAMES[one.name]}"
            said = above(one.difference.value, one.difference.interval, other)
            yield f"{said[:1].upper()}{said[1:]}; p {p_value(one.difference.p_value)}.", level
    if found.comparison:
        yield found.comparison, ""


def _dots(found: Scored) -> Iterator[Dot]:
    report = found.report
    rows = [("this model", report.value, report.interval, "a")]
    rows += [(NAMES[one.name], one.accuracy, one.interval, "other") for one in found.baselines]
    for name, value, interval, kind in rows:
        said = f"{name}: {share(value)} ({between('accuracy', interval)})"
        yield Dot(name, value, interval, share(value), said, kind)


def _baselines(baselines: Sequence[Baseline]) -> Table:
    rows = [
        (
            ABOUT[one.name].format(label=one.label),
            share(one.accuracy),
            between("accuracy", one.interval),
            points(one.difference.value, one.difference.interval),
            p_value(one.difference.p_value),
        )
        for one in baselines
    ]
    return Table(("", "accuracy", "95 %", "the model less it", "p"), rows, "Baselines", is_folded=True)


def detail_sections(found: Scored) -> Iterator[Section]:
    """Yield what a score is made of: classes, confusion, calibration, weak slices, all measures."""
    report = found.report
    if report.is_of_classes:
        yield _classes(found)
        confusion, names = report.classes.confusion, report.scored.each.names
        if confusion is not None and len(names) <= MOST_DRAWN:
            drawing = charts.matrix("Confusion matrix", names, confusion)
            rows = [
                (name, *(f"{n:,}" for n in row)) for name, row in zip(names, confusion.tolist(), strict=True)
            ]
            table = Table(("true \\ predicted", *names), rows, "Numbers", is_folded=True)
            yield Section("Confusion matrix", [drawing, table], "rows: true labels; columns: predicted")
        yield _calibration(report)
    elif report.scored.evaluated.per_label:
        rows = [
            (name, *(share(x) for x in one[:3]), f"{one[3]:,}")
            for name, one in report.scored.evaluated.per_label.items()
        ]
        yield Section(
            "By label", [Table(("label", "precision", "recall", "F1", "rows"), rows[:MOST_CLASSES])]
        )
    if found.num_tried:
        yield _slices(found)
    metrics = report.scored.evaluated.metrics
    rows = [(metric_name(name), measure(name, value)) for name, value in metrics.items()]
    yield Section("All measures", [Table(("measure", "value"), rows)])


def _classes(found: Scored) -> Section:
    report, names = found.report, found.report.scored.each.names
    scores = report.classes
    rows, shown = [], []
    for place, name in enumerate(names[:MOST_CLASSES]):
        ends = found.f1_intervals[place] if found.f1_intervals else None
        f1 = share(scores.f1[place])
        figures = (share(scores.precision[place]), share(scores.recall[place]))
        rows.append((name, *figures, f1, _spread(ends), f"{scores.support[place]:,}"))
        said = f"{name}: F1 {f1}" + (f" ({_spread(ends)})" if ends else "")
        shown.append(Dot(name, float(scores.f1[place]), ends, f1, said))
    blocks: list[Block] = []
    if len(names) <= MOST_DRAWN:
        blocks.append(charts.dots("F1 by class", shown))
    blocks.append(Table(("class", "precision", "recall", "F1", "95 %", "texts"), rows))
    return Section("By class", blocks, f"{len(names):,} classes")


def _calibration(report: ScoreReport) -> Section:
    found = report.calibration
    rows = [
        (
            f"{share(one.low)} to {share(one.high)}",
            f"{one.count:,}",
            share(one.confidence),
            share(one.accuracy),
            between("accuracy", one.interval),
        )
        for one in found.bins
    ]
    error = f"Expected calibration error {share(found.error)}"
    error += f" ({_spread(found.interval)})" if found.interval else ""
    said = [Said(f"{error}; by chance alone {share(found.chance)}.")]
    if report.kept != 1.0:
        said.append(
            Said(f"Its probabilities are divided by a temperature of {report.kept:.2f}.", is_quiet=True)
        )
    table = Table(("confidence", "texts", "mean confidence", "accuracy", "95 %"), rows)
    return Section("Calibration", [*said, table])


def _slices(found: Scored) -> Section:
    tried = f"{len(found.slices)} of {found.num_tried:,} slices that were tried, corrected for so many."
    rows = [
        (
            slice_name(one),
            f"{one.count:,}",
            share(one.accuracy),
            share(one.other_accuracy),
            p_value(one.p_value),
        )
        for one in found.slices[:MOST_SLICES]
    ]
    table = [Table(("slice", "texts", "right", "the rest", "p"), rows)] if rows else []
    return Section("Weak slices", [Said(tried), *table])


def slice_name(one: Slice) -> str:
    """Return what a slice is of."""
    if one.kind == "length":
        return f"{one.low:,} to {one.high:,} characters"
    return f"contains “{one.value}”" if one.kind == "word" else f"{one.name} is “{one.value}”"


def texts_section(report: ScoreReport) -> Section:
    """Return misclassified texts, the most confident first, word for word."""
    each, listed = report.scored.each, report.scored.listed
    wrong = [place for place in range(report.count) if each.right[place] < 0.5]
    wrong.sort(key=lambda place: -float(each.sure[place]))
    rows = [
        (
            f"{int(listed.lines[place]):,}",
            each.names[each.true[place]],
            each.names[each.predicted[place]],
            decimal(float(each.sure[place]), 2),
            listed.said(place),
        )
        for place in wrong[:MOST_TEXTS]
    ]
    table = Table(("line", "true", "predicted", "confidence", "text"), rows)
    return Section("Misclassified texts", [table], f"{len(wrong):,} of {report.count:,}")
