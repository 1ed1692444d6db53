"""`evaluate` and `compare`: how good a model is, how sure that is, and whether another one is better."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.commands.ask import answered
from engine.commands.screen import print_json, score_lines, scores_document
from engine.durable import check_writable
from engine.errors import Sentence, UserError, marked
from engine.events import Event, Noted, Steps
from engine.questions.how_read import HOW_READ, HowRead
from engine.questions.writing import aligned
from engine.settings.config import with_values
from engine.settings.finetune import DataConfig, FineTuneConfig
from engine.text.roles import ROLE_NAMES

if TYPE_CHECKING:
    from engine.evaluation.baselines import Baseline
    from engine.evaluation.calibration import Temperature
    from engine.evaluation.comparing import ComparedModels
    from engine.evaluation.report import Report
    from engine.evaluation.slices import Slice
    from engine.train.scored import Scored

PARTS = ("validation", "test")
MOST_SLICES = 8  # told on a terminal
KEEP, FORGET = "keep", "forget"


def data_given(options: argparse.Namespace) -> DataConfig:
    """Return the file that a command line names, and how it is to be read. Raises: ConfigError."""
    names = ("data", *ROLE_NAMES, *HOW_READ)
    given = {name: getattr(options, name, None) for name in names}
    return with_values(FineTuneConfig(), {k: v for k, v in given.items() if v is not None}).data


def evaluate_command(model: Path, data: str, part: str, how: Mapping[str, str]) -> str:
    """Return the line that scores a model without the window. Args: how: columns, how the file is read."""
    line = ["python", "-m", "engine", "evaluate", "--model", str(model)]
    line += ["--part", part] if part else ["--data", data]
    for name in ROLE_NAMES:
        if how.get(name):
            line += [f"--{name.replace('_', '-')}", how[name]]
    return shlex.join([*line, *HowRead.of(how).words(), "--json"])


def add_evaluate_commands(commands: Any) -> None:
    """Add `evaluate` and `compare` to the parser's commands."""
    evaluate = commands.add_parser("evaluate", help="measure a model on a labelled file")
    evaluate.add_argument("--model", required=True, help="a model folder, or a run's")
    _add_data(evaluate)
    evaluate.add_argument(
        "--rows", type=Path, help="a new CSV with every text, what is true and what was answered"
    )
    evaluate.add_argument("--report", type=Path, help="a new Markdown file with all of it")
    evaluate.add_argument(
        "--quick", action="store_true", help="leave out TF-IDF and the search for weak slices"
    )
    evaluate.add_argument(
        "--meaning",
        action="store_true",
        help="also look for weak slices among groups of like meaning, by the model's own vectors",
    )
    evaluate.add_argument(
        "--near",
        action="store_true",
        help="draw texts together in each interval that nearly repeat one another, as the doctor finds them",
    )
    evaluate.add_argument(
        "--temperature",
        choices=(KEEP, FORGET),
        help="keep: write the temperature that is fitted into the model's cloze.json: from then on, its "
        "probabilities are told with it; it is fitted on validation rows of the model's run, else on half of "
        "these texts; forget: take that back, and measure without it",
    )
    evaluate.add_argument("--json", action="store_true", help="print the figures as JSON on stdout")
    evaluate.set_defaults(run=_evaluate)
    compare = commands.add_parser("compare", help="set two models side by side on the same texts")
    compare.add_argument(
        "--model", required=True, action="append", metavar="MODEL", help="a model folder; given twice"
    )
    _add_data(compare)
    compare.add_argument("--rows", type=Path, help="a new CSV with the texts that the two answer differently")
    compare.add_argument("--json", action="store_true", help="print the figures as JSON on stdout")
    compare.set_defaults(run=_compare)


def _add_data(command: argparse.ArgumentParser) -> None:
    command.add_argument("--data", help="a labelled file")
    command.add_argument("--part", choices=PARTS, help="in its place: the rows that the run kept apart")
    for name in ("text", "text-pair", "label"):
        command.add_argument(f"--{name}", help="a column, where it is not that of the training data")
    command.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))


def _scoring(options: argparse.Namespace, model: Path) -> Steps[Scored]:
    """Return the work of scoring a model on what the command line names. Raises: UserError."""
    from engine.evaluation.part import run_behind, scoring_part
    from engine.inspect.predict import evaluate_file

    if bool(options.data) == bool(options.part):
        raise UserError(marked("engine", "Give either --data, a file, or --part, of a run's own rows."))
    run = run_behind(model)
    if options.part:
        if run is None:
            template = marked("engine", "{path} is no run, nor the result of one, so it has no {part} part.")
            raise UserError(template, path=model, part=options.part)
        return scoring_part(run, options.part, options.device)
    return evaluate_file(_folder(model), data_given(options), options.device)


def _folder(model: Path) -> Path:
    """Return the model folder that is named, or that of the result of a run that is."""
    from engine.evaluation.part import run_behind
    from engine.train.run.runs import MODEL

    return model / MODEL if run_behind(model) == model.absolute() else model


def _evaluate(options: argparse.Namespace) -> int:
    from engine.evaluation.part import reporting
    from engine.evaluation.report import keep_fitted
    from engine.model.info import forget_temperature

    model = Path(options.model)
    if options.temperature == FORGET:
        forget_temperature(_folder(model))
    if options.rows is not None:
        check_writable(options.rows, Path(options.data) if options.data else None)
    if options.report is not None:
        check_writable(options.report, Path(options.data) if options.data else None)
    heard: list[Event] = []
    code, scored = answered(_scoring(options, model), heard)
    if scored is None:
        return code
    report = reporting(scored, _folder(model), options.part or "")
    if options.near and len(scored.listed.texts):
        from engine.evaluation.meaning import groups_of_near

        code, near = answered(groups_of_near(scored.listed.texts, scored.listed.pairs), heard)
        if near is None:
            return code
        report = replace(report, near=near)
    if options.temperature == KEEP:
        keep_fitted(report, _folder(model), options.part or Path(options.data).name)
    baselines, slices, num_tried = list["Baseline"](), tuple["Slice", ...](), 0
    if report.is_of_classes:
        code, baselines = _baselines(options, model, scored, heard)
        if not code and not options.quick:
            code, slices, num_tried = _slices(report, heard, _folder(model) if options.meaning else None)
    if code:
        return code
    notes = [str(event.sentence) for event in heard if isinstance(event, Noted)]
    told = [str(one) for one in _on_temperature(report, keeps=options.temperature == KEEP)]
    print(*told, sep="\n", end="\n" if told else "", file=sys.stderr)
    notes += told
    if options.rows is not None:
        write_rows(options.rows, scored)
    if options.report is not None:
        from engine.durable import write_text
        from engine.evaluation.markdown import report_markdown
        from engine.train.run.kept import name_of

        texts = f"its {options.part} part" if options.part else Path(options.data).name
        found = report_markdown(report, name_of(model), texts, baselines, slices, num_tried)
        write_text(options.report, found)
    if options.json:
        document = scores_document(scored.evaluated, notes)
        print_json({**document, **report_document(report, baselines, slices, num_tried)})
    else:
        print(*score_lines(scored.evaluated), sep="\n", file=sys.stderr)
        print(*report_lines(report, baselines, slices, num_tried), sep="\n", file=sys.stderr)
    return code


def _on_temperature(report: Report, *, keeps: bool) -> list[Sentence]:
    """Say that texts have chosen the temperature that is kept, so that they do not test it."""
    warmth = report.temperature if keeps and report.is_of_classes else None
    if not report.has_chosen and (warmth is None or warmth.fitted_on):
        return []
    template = marked(
        "engine",
        "The temperature that the model keeps was fitted on half of these texts: how sure it is has to be "
        "tested on others.",
    )
    return [Sentence(template)]


def _baselines(
    options: argparse.Namespace, model: Path, scored: Scored, heard: list[Event]
) -> tuple[int, list[Baseline]]:
    from engine.evaluation.baselines import can_count_words, counting_words, one_label

    found = list(one_label(scored, model))
    if options.quick or not can_count_words(scored, model):
        return 0, found
    code, words = answered(counting_words(scored, model, options.part or ""), heard)
    return code, [*found, *([words] if words is not None else [])]


def _slices(report: Report, heard: list[Event], model: Path | None) -> tuple[int, tuple[Slice, ...], int]:
    code, found = answered(_worse(report, model), heard)
    return (code, (), 0) if found is None else (code, *found)


def _worse(report: Report, model: Path | None) -> Steps[tuple[tuple[Slice, ...], int]]:
    """Return slices that are worse than the rest, and how many were tried. Args: model: groups by meaning."""
    from engine.evaluation.slices import LANGUAGE, MEANING, finding_worse, languages

    scored, listed = report.scored, report.scored.listed
    columns = {LANGUAGE: (yield from languages(listed.texts))}
    if model is not None:
        from engine.evaluation.meaning import groups_by_meaning

        columns[MEANING] = yield from groups_by_meaning(model, listed)
    columns = {name: values for name, values in columns.items() if values}
    right, sizes = scored.each.right > 0.5, listed.sizes()
    return (yield from finding_worse(listed.texts, listed.pairs, right, sizes, columns, report.groups))


def report_document(
    report: Report, baselines: list[Baseline], slices: tuple[Slice, ...], num_tried: int
) -> dict[str, Any]:
    """Return what a program reads of a report beside the plain scores."""
    document: dict[str, Any] = {
        "score": {"metric": report.scored.metric, "value": report.value, "interval": _ends(report.interval)},
        "num_repeating": report.num_repeating,
        "grouped_by": "exact" if report.near is None else "near",
    }
    if report.interval_by_group is not None:
        document["score"]["interval_by_group"] = _ends(report.interval_by_group)
    if report.scored.num_seen:
        document["learned_from"] = {"rows": report.scored.num_seen, "unseen": _unseen_document(report)}
    if not report.is_of_classes:
        return document
    names, found, warmth = report.scored.each.names, report.calibration, report.temperature
    document["macro_f1_interval"] = _ends(report.mean_f1_interval)
    if len(names) <= 200:
        document["f1_intervals"] = {name: _ends(report.f1_interval(i)) for i, name in enumerate(names)}
    document["baselines"] = [_baseline_document(one) for one in baselines]
    document["calibration"] = {
        "ece": found.error,
        "interval": _ends(found.interval),
        "by_chance": found.chance,
        "p_value": found.p_value,
        "bins": [
            {
                "from": one.low, "to": one.high, "count": one.count, "confidence": one.confidence,
                "accuracy": one.accuracy, "interval": _ends(one.interval),
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


def _unseen_document(report: Report) -> dict[str, Any]:
    """Return the score over the texts that are new to the model, where they are enough for one."""
    found: dict[str, Any] = {"rows": report.count - report.scored.num_seen}
    if report.unseen is not None:
        found |= {"value": report.unseen.value, "interval": _ends(report.unseen.interval)}
    return found


def _baseline_document(one: Baseline) -> dict[str, Any]:
    return {
        "name": one.name,
        "label": one.label,
        "accuracy": one.accuracy,
        "interval": _ends(one.interval),
        "trained_on": one.num_rows,
        "difference": one.difference.value,
        "difference_interval": _ends(one.difference.interval),
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
        "interval": _ends(one.interval),
        "others": one.other_accuracy,
        "p_value": one.p_value,
    }


def _fitted_on(warmth: Temperature) -> str:
    return f"the {warmth.fitted_on} rows: here" if warmth.fitted_on else "these texts: on the other half"


def _ends(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else [float(end) for end in interval]


def report_lines(
    report: Report, baselines: list[Baseline], slices: tuple[Slice, ...], num_tried: int
) -> list[str]:
    """Return what a terminal tells of a report beside the plain scores."""
    found = []
    if report.interval is not None:
        low, high = report.interval
        found.append(f"{report.scored.metric} {report.value:.4f} (95 %: {low:.4f} to {high:.4f})")
    if report.unseen is not None and report.unseen.interval is not None:
        new, (low, high) = report.unseen, report.unseen.interval
        found.append(
            f"over the {new.count:,} texts that are new to the model: {new.scored.metric} {new.value:.4f} "
            f"(95 %: {low:.4f} to {high:.4f})"
        )
    if not report.is_of_classes:
        return found
    from engine.evaluation.markdown import NAMES

    for one in baselines:
        name = NAMES[one.name].format(label=one.label[:40])
        low, high = one.interval
        found.append(
            f"{name}: {one.accuracy:.4f} (95 %: {low:.4f} to {high:.4f}); the model less it: "
            f"{one.difference.value:+.4f}, p = {one.difference.p_value:.3g}"
        )
    calibrated = report.calibration
    found.append(
        f"calibration error {calibrated.error:.4f} (by chance alone {calibrated.chance:.4f}, "
        f"p = {calibrated.p_value:.3g})"
    )
    if report.temperature is not None:
        warmth = report.temperature
        found.append(
            f"temperature {warmth.value:.2f}, fitted on half of {_fitted_on(warmth)} the error goes from "
            f"{warmth.error_before:.4f} to {warmth.error_after:.4f}"
        )
    if num_tried:
        found.append(f"slices tried: {num_tried}; worse than the rest: {len(slices)}")
    rows = [("slice", "texts", "right", "the rest", "p")]
    for each in slices[:MOST_SLICES]:
        name = {
            "length": f"{each.low} to {each.high} characters",
            "word": f"contains {each.value!r}",
        }.get(each.kind, f"{each.name} is {each.value}")
        rows.append(
            (
                name,
                str(each.count),
                f"{each.accuracy:.3f}",
                f"{each.other_accuracy:.3f}",
                f"{each.p_value:.2g}",
            )
        )
    return [*found, *(aligned(rows) if len(rows) > 1 else [])]


def write_rows(path: Path, scored: Scored, places: list[int] | None = None) -> None:
    """Write scored texts as a table. Args: places: of those that are written; None: all."""
    from engine.text.table import write_csv

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
    write_csv(path, columns, rows, exempt=plain)


def _compare(options: argparse.Namespace) -> int:
    from engine.evaluation.comparing import compare_scored
    from engine.evaluation.part import check_same_rows

    if len(options.model) != 2:
        raise UserError(marked("engine", "Name two models: --model A --model B."))
    if options.rows is not None:
        check_writable(options.rows, Path(options.data) if options.data else None)
    if options.part:
        check_same_rows(Path(options.model[0]), Path(options.model[1]), options.part)
    scored, heard = list["Scored"](), list[Event]()
    for model in options.model:
        code, found = answered(_scoring(options, Path(model)), heard)
        if found is None:
            return code
        scored.append(found)
    compared = compare_scored(*scored)
    names = _names(options.model)
    if options.rows is not None:
        _write_differing(options.rows, compared, names)
    if options.json:
        print_json(compared_document(compared, names))
    else:
        for name, value in zip(names, compared.scores, strict=True):
            print(f"{name}: {compared.first.metric} {value:.4f}")
        print(compared.sentence(*names))
    return 0


def _names(models: list[str]) -> tuple[str, str]:
    """Return what the two are called: their folders' names, or A and B where these are the same."""
    from engine.train.run.kept import name_of

    first, second = (name_of(Path(model)) for model in models)
    return (first, second) if first != second else ("A", "B")


def compared_document(compared: ComparedModels, names: tuple[str, str]) -> dict[str, Any]:
    """Return what a program reads of a comparison: the second model less the first."""
    found = compared.difference
    first, second = compared.scores
    return {
        "metric": compared.first.metric,
        "num_examples": len(compared),
        "copies_count_once": compared.repeat,
        "models": [
            {"name": name, "score": score, "learned_from": count}
            for name, score, count in zip(names, (first, second), compared.num_seen, strict=True)
        ],
        "difference": found.value,
        "interval": _ends(found.interval),
        "p_value": found.p_value,
        "test": found.test,
        "is_sure": found.is_sure,
        "only_first_right": found.only_first,
        "only_second_right": found.only_second,
        "num_differing": len(compared.differing),
        "differing_rows": compared.first.listed.rows[compared.first_rows[compared.differing]].tolist(),
        "sentence": str(compared.sentence(*names)),
    }


def _write_differing(path: Path, compared: ComparedModels, names: tuple[str, str]) -> None:
    from engine.text.table import write_csv

    first, second, listed = compared.first.each, compared.second.each, compared.first.listed
    has_texts = len(listed.texts) == len(listed)
    rows = []
    for place in compared.differing.tolist():
        i, j = int(compared.first_rows[place]), int(compared.second_rows[place])
        answers = first.names[first.predicted[i]], second.names[second.predicted[j]]
        text = listed.said(i) if has_texts else ""
        rows.append([int(listed.rows[i]), int(listed.lines[i]), first.names[first.true[i]], *answers, text])
    write_csv(path, ["row", "line", "true", *names, "text"], rows, exempt=("row", "line"))
