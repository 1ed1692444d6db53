"""How good a model is, as a program reads it and a terminal shows it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import WORD, marked
from engine.events import Evaluated
from engine.language import heads, metric_name, said, spoken
from engine.questions.writing import aligned, columns_of, padded
from engine.train.metrics import scores_of, wilson_interval, written
from engine.train.run.records import real_numbers

if TYPE_CHECKING:
    from engine.evaluation.baselines import Baseline
    from engine.evaluation.report import ScoreReport
    from engine.evaluation.slices import Slice
    from engine.train.scored import ScoredTable

MOST_SLICES = 8  # told on a terminal


def score_lines(event: Evaluated) -> list[str]:
    """Return an evaluation as lines for a terminal: of classes a row a label, the means, the baseline.

    Of another task what it measured, by name.
    """
    scores = scores_of(event, event.labels)
    if scores is None:
        names = {name: metric_name(name) for name in event.metrics}
        width = max(map(columns_of, names.values()), default=0)
        measured = [
            f"{padded(names[name], width)}  {written(value)}{_between(event, name)}"
            for name, value in event.metrics.items()
        ]
        if not event.per_label:
            return measured
        found = [
            heads(
                marked("table", "label"),
                marked("table", "precision"),
                marked("table", "recall"),
                marked("table", "F1"),
                marked("table", "rows"),
            )
        ]
        for name, one in event.per_label.items():
            found.append((_named(name), *(f"{x:.4f}" for x in one[:3]), str(one[3])))
        return [*aligned(found), *measured]
    rows = [
        heads(
            marked("table", "label"),
            marked("table", "precision"),
            marked("table", "recall"),
            marked("table", "F1"),
            marked("table", "rows"),
            marked("table", "predicted"),
        )
    ]
    for place, name in enumerate(event.labels):
        figures = (scores.precision[place], scores.recall[place], scores.f1[place])
        counts = (scores.support[place], scores.num_predicted[place])
        rows.append((_named(name), *(f"{x:.4f}" for x in figures), *map(str, counts)))
    total, summary = int(scores.support.sum()), scores.summary()
    for kind in ("macro", "weighted"):
        means = [summary[f"{kind}_{name}"] for name in ("precision", "recall", "f1")]
        average = {
            "macro": marked("engine", "(macro average)"),
            "weighted": marked("engine", "(weighted average)"),
        }
        rows.append((spoken(average[kind]), *(f"{x:.4f}" for x in means), str(total), str(total)))
    most, share = scores.majority
    template = marked("engine", "Always answering {label} would score {share:.4f}.")
    return [*aligned(rows), said(template, label=event.labels[most][:40], share=share)]


def _between(event: Evaluated, metric: str) -> str:
    """Return the 95 % interval of a metric where the task has told one; else ""."""
    found = event.details.get("intervals")
    ends = real_numbers(found.get(metric), 2) if isinstance(found, dict) else []
    return said(marked("engine", "  ({low:.4f} to {high:.4f})"), low=ends[0], high=ends[1]) if ends else ""


def _named(label: str) -> str:
    return " ".join(label.split())[:40]


def scores_document(event: Evaluated, notes: Sequence[str]) -> dict[str, Any]:
    """Return an evaluation for a program: every figure there is, and every sentence told."""
    names = ("precision", "recall", "f1", "support")
    scores = scores_of(event, event.labels)
    if scores is None:
        per_label = {label: dict(zip(names, one, strict=True)) for label, one in event.per_label.items()}
        return {
            **event.metrics,
            "loss": event.loss,
            "num_examples": event.details.get("num_examples"),
            **({"labels": list(event.labels), "per_label": per_label} if per_label else {}),
            "details": dict(event.details),
            "notes": list(notes),
        }
    total, (most, share) = int(scores.support.sum()), scores.majority
    return {
        **scores.summary(),
        **event.metrics,
        "accuracy_interval": list(wilson_interval(int(scores.hits.sum()), total)),
        "majority_baseline": {"label": event.labels[most], "accuracy": share},
        "loss": event.loss,
        "num_examples": total,
        "predicted_labels": int((scores.num_predicted > 0).sum()),
        "labels": list(event.labels),
        **({"confusion": event.confusion.tolist()} if event.confusion is not None else {}),
        "per_label": {
            label: {**dict(zip(names, event.per_label[label], strict=True)), "predicted": int(count)}
            for label, count in zip(event.labels, scores.num_predicted, strict=True)
        },
        "notes": list(notes),
    }


def report_document(
    report: ScoreReport, baselines: list[Baseline], slices: tuple[Slice, ...], num_tried: int
) -> dict[str, Any]:
    """Return what a program reads of a report beside the plain scores."""
    document: dict[str, Any] = {
        "score": {"metric": report.scored.metric, "value": report.value, "interval": ends(report.interval)},
        "num_repeating": report.num_repeating,
        "grouped_by": "exact" if report.near is None else "near",
    }
    if report.interval_by_group is not None:
        document["score"]["interval_by_group"] = ends(report.interval_by_group)
    if report.scored.num_seen:
        document["learned_from"] = {"rows": report.scored.num_seen, "unseen": _unseen_document(report)}
    if not report.is_of_classes:
        return document
    names, found, warmth = report.scored.each.names, report.calibration, report.temperature
    document["macro_f1_interval"] = ends(report.mean_f1_interval)
    if len(names) <= 200:
        document["f1_intervals"] = {name: ends(report.f1_interval(i)) for i, name in enumerate(names)}
    document["baselines"] = [_baseline_document(one) for one in baselines]
    document["calibration"] = {
        "ece": found.error,
        "interval": ends(found.interval),
        "by_chance": found.chance,
        "p_value": found.p_value,
        "bins": [
            {
                "from": one.low, "to": one.high, "count": one.count, "confidence": one.confidence,
                "accuracy": one.accuracy, "interval": ends(one.interval),
            }
            for one in found.bins
        ],
        "kept_temperature": report.kept,
        "kept_fitted_on": report.kept_from[0] or None,
        "temperature": None if warmth is None else {
            "value": warmth.value, "fitted_on": warmth.fitted_on or None,
            "num_fitted": warmth.num_fitted, "num_shown": warmth.num_shown,
            "loss_before": warmth.loss_before, "loss_after": warmth.loss_after,
            "ece_before": warmth.error_before, "ece_after": warmth.error_after,
        },
    }  # fmt: skip
    document["slices"] = {"tried": num_tried, "worse": [_slice_document(one) for one in slices]}
    return document


def _unseen_document(report: ScoreReport) -> dict[str, Any]:
    """Return the score over the texts that are new to the model, where they are enough for one."""
    found: dict[str, Any] = {"rows": report.count - report.scored.num_seen}
    if report.unseen is not None:
        found |= {"value": report.unseen.value, "interval": ends(report.unseen.interval)}
    return found


def _baseline_document(one: Baseline) -> dict[str, Any]:
    return {
        "name": one.name,
        "label": one.label,
        "accuracy": one.accuracy,
        "interval": ends(one.interval),
        "trained_on": one.num_rows,
        "difference": one.difference.value,
        "difference_interval": ends(one.difference.interval),
        "p_value": one.difference.p_value,
    }


def _slice_document(one: Slice) -> dict[str, Any]:
    return {
        "kind": one.kind,
        "column": one.name,
        "value": one.value,
        "low": one.low,
        "high": one.high,
        "count": one.count,
        "accuracy": one.accuracy,
        "interval": ends(one.interval),
        "others": one.other_accuracy,
        "p_value": one.p_value,
    }


def ends(interval: tuple[float, float] | None) -> list[float] | None:
    """Return the two ends of an interval as JSON has them."""
    return None if interval is None else [float(end) for end in interval]


def report_lines(
    report: ScoreReport, baselines: list[Baseline], slices: tuple[Slice, ...], num_tried: int
) -> list[str]:
    """Return what a terminal tells of a report beside the plain scores."""
    found = []
    if report.interval is not None:
        low, high = report.interval
        template = marked("engine", "{metric} {value:.4f} (95 %: {low:.4f} to {high:.4f})")
        found.append(
            said(template, metric=metric_name(report.scored.metric), value=report.value, low=low, high=high)
        )
    if report.unseen is not None and report.unseen.interval is not None:
        new, (low, high) = report.unseen, report.unseen.interval
        template = marked(
            "engine",
            "over the {count:,} texts that are new to the model: {metric} {value:.4f} "
            "(95 %: {low:.4f} to {high:.4f})",
        )
        values = {"count": new.count, "value": new.value, "low": low, "high": high}
        found.append(said(template, metric=metric_name(new.scored.metric), **values))
    if not report.is_of_classes:
        return found
    from engine.evaluation.markdown import NAMES

    for one in baselines:
        name = said(NAMES[one.name], label=one.label[:40])
        low, high = one.interval
        template = marked(
            "engine",
            "{name}: {value:.4f} (95 %: {low:.4f} to {high:.4f}); the model less it: {less:+.4f}, "
            "p = {p:.3g}",
        )
        less, p = one.difference.value, one.difference.p_value
        found.append(said(template, name=name, value=one.accuracy, low=low, high=high, less=less, p=p))
    calibrated = report.calibration
    template = marked("engine", "calibration error {error:.4f} (by chance alone {chance:.4f}, p = {p:.3g})")
    p = calibrated.p_value
    found.append(said(template, error=calibrated.error, chance=calibrated.chance, p=p))
    if report.temperature is not None:
        warmth = report.temperature
        template = marked(
            "engine",
            "temperature {value:.2f}, fitted on half of these texts: on the other half the error goes from "
            "{before:.4f} to {after:.4f}",
        )
        if warmth.fitted_on:
            template = marked(
                "engine",
                "temperature {value:.2f}, fitted on half of the {rows} rows: here the error goes from "
                "{before:.4f} to {after:.4f}",
            )
        before, after = warmth.error_before, warmth.error_after
        rows = spoken(str(warmth.fitted_on), WORD)
        found.append(said(template, value=warmth.value, rows=rows, before=before, after=after))
    if num_tried:
        template = marked("engine", "slices tried: {count}; worse than the rest: {worse}")
        found.append(said(template, count=num_tried, worse=len(slices)))
    lines = [
        heads(
            marked("table", "slice"),
            marked("table", "texts"),
            marked("table", "right"),
            marked("table", "the rest"),
            marked("table", "p"),
        )
    ]
    for each in slices[:MOST_SLICES]:
        name = {
            "length": marked("engine", "{low} to {high} characters"),
            "word": marked("engine", "contains {value!r}"),
        }.get(each.kind, marked("engine", "{name} is {value}"))
        lines.append(
            (
                said(name, low=each.low, high=each.high, name=each.name, value=each.value),
                str(each.count),
                f"{each.accuracy:.3f}",
                f"{each.other_accuracy:.3f}",
                f"{each.p_value:.2g}",
            )
        )
    return [*found, *(aligned(lines) if len(lines) > 1 else [])]


def write_rows(path: Path, scored: ScoredTable, places: list[int] | None = None) -> None:
    """Write scored texts as a table. Args: places: of those that are written; None: all."""
    from engine.text.table import write_table

    each, listed = scored.each, scored.listed
    columns = ["row", "line", "true", "predicted", "right", "probability", "text"]
    has_texts = len(listed.texts) == len(listed)
    if listed.pairs is not None:
        columns.append("text_pair")
    chosen = range(len(each)) if places is None else places
    rows = (
        [
            int(listed.rows[i]), int(listed.lines[i]), each.names[each.true[i]],
            each.names[each.predicted[i]], f"{each.right[i]:.4g}", f"{each.sure[i]:.6f}",
            listed.texts[i] if has_texts else "",
            *([listed.pairs[i]] if listed.pairs is not None else []),
        ]
        for i in chosen
    )  # fmt: skip
    plain = ("row", "line", "right", "probability")
    write_table(path, columns, rows, exempt=plain)
