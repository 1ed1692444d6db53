"""What a scored file came to, as parts of a page to send; `engine/evaluation/markdown.py` says it as text.

Each interval says how it was computed, so that a stranger can find it again from the counts beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.errors import captioned, marked, per_cent, sentences, spanned
from engine.evaluation.baselines import MAJORITY, TFIDF, TRAINING_MAJORITY, Baseline
from engine.evaluation.markdown import (
    ACCURACY,
    BASELINES,
    CALIBRATION_ERROR,
    FIGURES,
    FITTED_HERE,
    LESS,
    SEEN,
    SLICE_HEAD,
    TEXTS,
    TRIED,
    UNSEEN,
    WEAK_SLICES,
    repeating,
    slice_name,
)
from engine.evaluation.report import ScoreReport, f1_intervals
from engine.evaluation.slices import Slice
from engine.events import Steps
from engine.language import said as told
from engine.language import spoken
from engine.report import charts
from engine.report.blocks import Block, KeyNumber, KeyNumbers, Said, Section, Table
from engine.report.charts import Dot
from engine.report.numbers import (
    above,
    between,
    decimal,
    measure,
    metric_title,
    p_value,
    points,
    share,
    with_interval,
)
from engine.train.scored import PEARSON

MOST_CLASSES, MOST_DRAWN, MOST_SLICES, MOST_TEXTS = 200, 20, 30, 200
NAMES = {
    MAJORITY: marked("engine", "majority class"),
    TRAINING_MAJORITY: marked("engine", "majority class of the training rows"),
    TFIDF: marked("engine", "TF-IDF"),
}
ABOUT = {
    MAJORITY: marked("engine", "always “{label}”, the majority class of these texts"),
    TRAINING_MAJORITY: marked("engine", "always “{label}”, the majority class of the training rows"),
    TFIDF: marked("engine", "TF-IDF with logistic regression, on the same training rows"),
}
BESIDE = {  # what a difference is told from
    MAJORITY: marked("word", "the majority class"),
    TRAINING_MAJORITY: marked("word", "the majority class of the training rows"),
    TFIDF: marked("word", "TF-IDF"),
}
SCORE = marked("engine", "Score")


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
        value = with_interval(measure(metric, report.value), span)
        template = marked("engine", "{metric} {value} on {count:,} {texts}.")
        return told(template, metric=metric_title(metric), value=value, count=report.count, texts=self.texts)

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


def interval_method(report: ScoreReport) -> str:
    """Return how a report's interval was computed, in a sentence."""
    if report.interval is None:
        return ""
    count = report.count
    if report.is_of_hits:
        hits = int(report.scored.each.right.sum())
        template = marked("engine", "Wilson’s score interval of {hits:,} right of {count:,}, 95 %")
        return told(template, hits=hits, count=count)
    if report.scored.each.score == PEARSON and report.groups is None:
        return told(marked("engine", "Fisher’s z-transformation over {count:,} texts, 95 %"), count=count)
    if report.groups is None:
        return told(marked("engine", "resampling of {count:,} texts, 95 %"), count=count)
    grouped = marked("engine", "resampling of {count:,} texts, those that repeat one another together, 95 %")
    return told(grouped, count=count)


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
    keys.append(KeyNumber(f"{report.count:,}", spoken(TEXTS)))
    blocks: list[Block] = [KeyNumbers(keys)]
    blocks += [Said(text, level) for text, level in _remarks(found)]
    if found.baselines and report.is_of_classes:
        blocks.append(
            charts.dots(spoken(marked("engine", "Accuracy compared with baselines")), list(_dots(found)))
        )
        blocks.append(_baselines(found.baselines))
    return Section(title or spoken(SCORE), blocks, found.texts)


def _spread(interval: tuple[float, float] | None) -> str:
    return between("macro_f1", interval)


def _remarks(found: Scored) -> Iterator[tuple[str, str]]:
    report, scored = found.report, found.report.scored
    if scored.num_seen:
        seen = told(SEEN, count=scored.num_seen)
        unseen = ""
        if report.unseen is not None:
            new, metric = report.unseen, scored.metric
            value = with_interval(measure(metric, new.value), between(metric, new.interval), is_named=False)
            unseen = told(UNSEEN, count=new.count, value=value)
        yield sentences([seen, unseen]), "look"
    if report.num_repeating:
        yield repeating(report.num_repeating), ""
    if report.has_chosen:
        yield spoken(FITTED_HERE), "look"
    for one in found.baselines:
        if one.difference.interval is not None:
            level = "fine" if one.difference.interval[0] > 0 else "look"
            difference = above(
                one.difference.value, one.difference.interval, spoken(BESIDE[one.name], "word")
            )
            template, p = marked("engine", "{difference}; p {p}."), p_value(one.difference.p_value)
            said = told(template, difference=difference, p=p)
            yield f"{said[:1].upper()}{said[1:]}", level
    if found.comparison:
        yield found.comparison, ""


def _dots(found: Scored) -> Iterator[Dot]:
    report = found.report
    rows = [(spoken(marked("engine", "this model")), report.value, report.interval, "a")]
    rows += [(spoken(NAMES[one.name]), one.accuracy, one.interval, "other") for one in found.baselines]
    for name, value, interval, kind in rows:
        said = captioned(name, with_interval(share(value), between("accuracy", interval), is_named=False))
        yield Dot(name, value, interval, share(value), said, kind)


def _baselines(baselines: Sequence[Baseline]) -> Table:
    rows = [
        (
            told(ABOUT[one.name], label=one.label),
            share(one.accuracy),
            between("accuracy", one.interval),
            points(one.difference.value, one.difference.interval),
            p_value(one.difference.p_value),
        )
        for one in baselines
    ]
    head = ("", spoken(ACCURACY), per_cent("95"), spoken(LESS), "p")
    return Table(head, rows, spoken(BASELINES), is_folded=True)


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
            corner = spoken(marked("engine", "true \\ predicted"))
            table = Table((corner, *names), rows, spoken(marked("engine", "Numbers")), is_folded=True)
            hint = spoken(marked("engine", "rows: true labels; columns: predicted"))
            yield Section(title, [drawing, table], hint)
        yield _calibration(report)
    elif report.scored.evaluated.per_label:
        rows = [
            (name, *(share(x) for x in one[:3]), f"{one[3]:,}")
            for name, one in report.scored.evaluated.per_label.items()
        ]
        head = (spoken(marked("engine", "label")), *map(spoken, FIGURES), spoken(marked("engine", "rows")))
        yield Section(spoken(marked("engine", "By label")), [Table(head, rows[:MOST_CLASSES])])
    if found.num_tried:
        yield _slices(found)
    metrics = report.scored.evaluated.metrics
    rows = [(metric_title(name), measure(name, value)) for name, value in metrics.items()]
    head = (spoken(marked("engine", "measure")), spoken(marked("engine", "value")))
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
        said = captioned(name, f"F1 {with_interval(f1, _spread(ends), is_named=False)}")
        shown.append(Dot(name, float(scores.f1[place]), ends, f1, said))
    blocks: list[Block] = []
    if len(names) <= MOST_DRAWN:
        blocks.append(charts.dots(spoken(marked("engine", "F1 by class")), shown))
    head = (spoken(marked("engine", "class")), *map(spoken, FIGURES), per_cent("95"), spoken(TEXTS))
    blocks.append(Table(head, rows))
    hint = told(marked("engine", "{count:,} classes"), count=len(names))
    return Section(spoken(marked("engine", "By class")), blocks, hint)


def _calibration(report: ScoreReport) -> Section:
    found = report.calibration
    rows = [
        (
            spanned(share(one.low), share(one.high)),
            f"{one.count:,}",
            share(one.confidence),
            share(one.accuracy),
            between("accuracy", one.interval),
        )
        for one in found.bins
    ]
    error = with_interval(share(found.error), _spread(found.interval), is_named=False)
    said = [Said(told(CALIBRATION_ERROR, error=error, chance=share(found.chance)))]
    if report.kept != 1.0:
        kept = marked("engine", "Its probabilities are divided by a temperature of {kept:.2f}.")
        said.append(Said(told(kept, kept=report.kept), is_quiet=True))
    head = (
        spoken(marked("engine", "confidence")),
        spoken(TEXTS),
        spoken(marked("engine", "mean confidence")),
        spoken(ACCURACY),
        per_cent("95"),
    )
    return Section(spoken(marked("engine", "Calibration")), [*said, Table(head, rows)])


def _slices(found: Scored) -> Section:
    tried = told(TRIED, found=len(found.slices), count=found.num_tried)
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
    table = [Table((*map(spoken, SLICE_HEAD), "p"), rows)] if rows else []
    return Section(spoken(WEAK_SLICES), [Said(tried), *table])


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
    head = (
        spoken(marked("engine", "line")),
        spoken(marked("engine", "true")),
        spoken(marked("engine", "predicted")),
        spoken(marked("engine", "confidence")),
        spoken(marked("engine", "text")),
    )
    hint = told(marked("engine", "{count:,} of {total:,}"), count=len(wrong), total=report.count)
    return Section(spoken(marked("engine", "Misclassified texts")), [Table(head, rows)], hint)
