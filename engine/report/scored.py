"""What a scored file came to, as parts of a page to send; `engine/evaluation/markdown.py` says it as text.

Each interval says how it was computed, so that a stranger can find it again from the counts beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.errors import bracketed, captioned, clauses, closed, marked, sentences
from engine.evaluation.baselines import MAJORITY, TFIDF, TRAINING_MAJORITY, Baseline
from engine.evaluation.report import ScoreReport, f1_intervals
from engine.evaluation.slices import Slice
from engine.events import Steps
from engine.language import heads, metric_name, said, spoken
from engine.report import charts
from engine.report.blocks import Block, KeyNumber, KeyNumbers, Said, Section, Table
from engine.report.charts import Dot
from engine.report.numbers import above, between, decimal, measure, p_value, points, share
from engine.train.scored import PEARSON

MOST_CLASSES, MOST_DRAWN, MOST_SLICES, MOST_TEXTS = 200, 20, 30, 200
NAMES = {
    MAJORITY: marked("engine", "majority class"),
    TRAINING_MAJORITY: marked("engine", "majority class of the training rows"),
    TFIDF: marked("engine", "TF-IDF"),
}
NAMED = {
    MAJORITY: marked("engine", "the majority class"),
    TRAINING_MAJORITY: marked("engine", "the majority class of the training rows"),
}
ABOUT = {
    MAJORITY: marked("engine", "always “{label}”, the majority class of these texts"),
    TRAINING_MAJORITY: marked("engine", "always “{label}”, the majority class of the training rows"),
    TFIDF: marked("engine", "TF-IDF with logistic regression, on the same training rows"),
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
        score = f"{metric_title(metric)} {measure(metric, report.value)}"
        if span:
            score = with_span(score, span)
        template = marked("engine", "{score} on {count:,} {texts}.")
        return said(template, score=score, count=report.count, texts=self.texts)

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


def metric_title(metric: str) -> str:
    """Return what a metric is called: "macro_f1" is "Macro F1"."""
    name = metric_name(metric).replace("_", " ").replace(" f1", " F1")
    return name[:1].upper() + name[1:]


def with_span(score: str, span: str) -> str:
    """Return a score with its interval."""
    return said(marked("engine", "{score} (95 %: {span})"), score=score, span=span)


def interval_method(report: ScoreReport) -> str:
    """Return how a report's interval was computed, in a sentence."""
    if report.interval is None:
        return ""
    count = report.count
    if report.is_of_hits:
        hits = int(report.scored.each.right.sum())
        template = marked("engine", "Wilson’s score interval of {hits:,} right of {count:,}, 95 %")
        return said(template, hits=hits, count=count)
    if report.scored.each.score == PEARSON and report.groups is None:
        return said(marked("engine", "Fisher’s z-transformation over {count:,} texts, 95 %"), count=count)
    template = marked("engine", "resampling of {count:,} texts, 95 %")
    if report.groups is not None:
        template = marked(
            "engine", "resampling of {count:,} texts, texts that repeat one another together, 95 %"
        )
    return said(template, count=count)


def score_section(found: Scored, title: str = "") -> Section:
    """Return the score on top of a report: the number, its interval, what it is beside."""
    report, scored = found.report, found.report.scored
    metric = scored.metric
    keys = [KeyNumber(measure(metric, report.value), metric_title(metric), between(metric, report.interval))]
    if report.is_of_classes:
        keys.append(
            KeyNumber(
                share(report.classes.summary()["macro_f1"]),
                metric_title("macro_f1"),
                _spread(report.mean_f1_interval),
            )
        )
    keys.append(KeyNumber(f"{report.count:,}", spoken(marked("engine", "texts"))))
    blocks: list[Block] = [KeyNumbers(keys)]
    blocks += [Said(text, level) for text, level in _remarks(found)]
    if found.baselines and report.is_of_classes:
        blocks.append(
            charts.dots(spoken(marked("engine", "Accuracy compared with simple ways")), list(_dots(found)))
        )
        blocks.append(_baselines(found.baselines))
    return Section(title or spoken(marked("engine", "Score")), blocks, found.texts)


def _spread(interval: tuple[float, float] | None) -> str:
    return between("macro_f1", interval)


def _remarks(found: Scored) -> Iterator[tuple[str, str]]:
    report, scored = found.report, found.report.scored
    if scored.num_seen:
        template = marked("engine", "The model was trained on {count:,} of these texts.")
        told = [said(template, count=scored.num_seen)]
        if report.unseen is not None:
            new, metric = report.unseen, scored.metric
            value = measure(metric, new.value)
            if new.interval:
                value = bracketed(value, between(metric, new.interval))
            template = marked("engine", "Over the {count:,} that are new to it: {value}.")
            told.append(said(template, count=new.count, value=value))
        yield sentences(told), "look"
    if report.num_repeating:
        yield said(marked("engine", "{count:,} texts repeat others."), count=report.num_repeating), ""
    if report.has_chosen:
        template = marked(
            "engine", "The temperature was fitted on half of these texts, so they do not test it."
        )
        yield spoken(template), "look"
    for one in found.baselines:
        if one.difference.interval is not None:
            level = "fine" if one.difference.interval[0] > 0 else "look"
            other = NAMES[one.name] if one.name == TFIDF else NAMED[one.name]
            gained = above(one.difference.value, one.difference.interval, spoken(other))
            chance = p_value(one.difference.p_value)
            yield closed(clauses((f"{gained[:1].upper()}{gained[1:]}", f"p {chance}"))), level
    if found.comparison:
        yield found.comparison, ""


def _dots(found: Scored) -> Iterator[Dot]:
    report = found.report
    rows = [(spoken(marked("engine", "this model")), report.value, report.interval, "a")]
    rows += [(spoken(NAMES[one.name]), one.accuracy, one.interval, "other") for one in found.baselines]
    for name, value, interval, kind in rows:
        about = captioned(name, bracketed(share(value), between("accuracy", interval)))
        yield Dot(name, value, interval, share(value), about, kind)


def _baselines(baselines: Sequence[Baseline]) -> Table:
    rows = [
        (
            said(ABOUT[one.name], label=one.label),
            share(one.accuracy),
            between("accuracy", one.interval),
            points(one.difference.value, one.difference.interval),
            p_value(one.difference.p_value),
        )
        for one in baselines
    ]
    head = heads(
        "",
        marked("table", "accuracy"),
        marked("table", "95 %"),
        marked("table", "the model less it"),
        marked("table", "p"),
    )
    return Table(head, rows, spoken(marked("engine", "Baselines")), is_folded=True)


def detail_sections(found: Scored) -> Iterator[Section]:
    """Yield what a score is made of: classes, confusion, calibration, weak slices, all measures."""
    report = found.report
    if report.is_of_classes:
        yield _classes(found)
        confusion, names = report.classes.confusion, report.scored.each.names
        if confusion is not None and len(names) <= MOST_DRAWN:
            title = spoken(marked("engine", "Confusion matrix"))
            drawing = charts.matrix(title, names, confusion)
            rows = [
                (name, *(f"{n:,}" for n in row)) for name, row in zip(names, confusion.tolist(), strict=True)
            ]
            corner = heads(marked("table", "true \\ predicted"))
            table = Table((*corner, *names), rows, spoken(marked("engine", "Numbers")), is_folded=True)
            hint = spoken(marked("engine", "rows: true labels; columns: predicted"))
            yield Section(title, [drawing, table], hint)
        yield _calibration(report)
    elif report.scored.evaluated.per_label:
        rows = [
            (name, *(share(x) for x in one[:3]), f"{one[3]:,}")
            for name, one in report.scored.evaluated.per_label.items()
        ]
        head = heads(
            marked("table", "label"),
            marked("table", "precision"),
            marked("table", "recall"),
            marked("table", "F1"),
            marked("table", "rows"),
        )
        yield Section(spoken(marked("engine", "By label")), [Table(head, rows[:MOST_CLASSES])])
    if found.num_tried:
        yield _slices(found)
    metrics = report.scored.evaluated.metrics
    rows = [(metric_title(name), measure(name, value)) for name, value in metrics.items()]
    head = heads(marked("table", "measure"), marked("table", "value"))
    yield Section(spoken(marked("engine", "All measures")), [Table(head, rows)])


def _classes(found: Scored) -> Section:
    report, names = found.report, found.report.scored.each.names
    scores = report.classes
    rows, shown = [], []
    for place, name in enumerate(names[:MOST_CLASSES]):
        ends = found.f1_intervals[place] if found.f1_intervals else None
        f1 = share(scores.f1[place])
        figures = (share(scores.precision[place]), share(scores.recall[place]))
        rows.append((name, *figures, f1, _spread(ends), f"{scores.support[place]:,}"))
        about = captioned(name, bracketed(f"F1 {f1}", _spread(ends)) if ends else f"F1 {f1}")
        shown.append(Dot(name, float(scores.f1[place]), ends, f1, about))
    blocks: list[Block] = []
    if len(names) <= MOST_DRAWN:
        blocks.append(charts.dots(spoken(marked("engine", "F1 by class")), shown))
    head = heads(
        marked("table", "class"),
        marked("table", "precision"),
        marked("table", "recall"),
        marked("table", "F1"),
        marked("table", "95 %"),
        marked("table", "texts"),
    )
    blocks.append(Table(head, rows))
    hint = said(marked("engine", "{count:,} classes"), count=len(names))
    return Section(spoken(marked("engine", "By class")), blocks, hint)


def _calibration(report: ScoreReport) -> Section:
    found = report.calibration
    rows = [
        (
            said(marked("engine", "{low} to {high}"), low=share(one.low), high=share(one.high)),
            f"{one.count:,}",
            share(one.confidence),
            share(one.accuracy),
            between("accuracy", one.interval),
        )
        for one in found.bins
    ]
    error = share(found.error)
    if found.interval:
        error = bracketed(error, _spread(found.interval))
    template = marked("engine", "Expected calibration error {error}; by chance alone {chance}.")
    told = [Said(said(template, error=error, chance=share(found.chance)))]
    if report.kept != 1.0:
        template = marked("engine", "Its probabilities are divided by a temperature of {value:.2f}.")
        told.append(Said(said(template, value=report.kept), is_quiet=True))
    head = heads(
        marked("table", "confidence"),
        marked("table", "texts"),
        marked("table", "mean confidence"),
        marked("table", "accuracy"),
        marked("table", "95 %"),
    )
    return Section(spoken(marked("engine", "Calibration")), [*told, Table(head, rows)])


def _slices(found: Scored) -> Section:
    template = marked("engine", "{count} of {tried:,} slices that were tried, corrected for so many.")
    tried = said(template, count=len(found.slices), tried=found.num_tried)
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
    head = heads(
        marked("table", "slice"),
        marked("table", "texts"),
        marked("table", "right"),
        marked("table", "the rest"),
        marked("table", "p"),
    )
    table = [Table(head, rows)] if rows else []
    return Section(spoken(marked("engine", "Weak slices")), [Said(tried), *table])


def slice_name(one: Slice) -> str:
    """Return what a slice is of."""
    if one.kind == "length":
        return said(marked("engine", "{low:,} to {high:,} characters"), low=one.low, high=one.high)
    if one.kind == "word":
        return said(marked("engine", "contains “{value}”"), value=one.value)
    return said(marked("engine", "{name} is “{value}”"), name=one.name, value=one.value)


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
    head = heads(
        marked("table", "line"),
        marked("table", "true"),
        marked("table", "predicted"),
        marked("table", "confidence"),
        marked("table", "text"),
    )
    hint = said(marked("engine", "{count:,} of {total:,}"), count=len(wrong), total=report.count)
    return Section(spoken(marked("engine", "Misclassified texts")), [Table(head, rows)], hint)
