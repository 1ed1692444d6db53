"""The texts that a run kept apart, with the answers of its result: from its files, else asked for again."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from engine.device import open_device
from engine.errors import RunError, UserError, marked
from engine.evaluation.calibration import with_temperature
from engine.evaluation.report import ScoreReport
from engine.events import Finished, Noted, Progress, Steps
from engine.model.fastest import fastest
from engine.model.info import read_info, temperature_from, temperature_in
from engine.model.tensor_files import open_tensors
from engine.model.weights import load_headed
from engine.settings.finetune import FineTuneConfig
from engine.settings.shared import DeviceConfig
from engine.text.batch import EncodedRows
from engine.text.example_rows import ExampleRows
from engine.text.listed import ListedRows, TextColumn
from engine.text.read_tokenizer import read_tokenizer
from engine.text.roles import Roles
from engine.text.table import reading_table
from engine.text.tokenizer import Tokenizer
from engine.train.evaluate import evaluate
from engine.train.learned import blocks_of, telling_seen
from engine.train.loop import evaluated
from engine.train.prepare import SPLITS
from engine.train.run.answers import load_answers
from engine.train.run.kept import name_of, run_of
from engine.train.run.records import whole_number
from engine.train.run.runs import MODEL, SETUP, evaluation_of, read_config
from engine.train.run.setup import read_setup
from engine.train.scored import ScoredTable
from engine.train.task import scored as told
from engine.train.tasks.kind import StandIn
from engine.train.tasks.known import task_named
from engine.train.tasks.rows.kept import MeasuredRows

PARTS = SPLITS[1:]  # that a run does not learn from
_DATA = "data.safetensors"
_TEXTS_AT_ONCE = 1024


def run_behind(folder: Path) -> Path | None:
    """Return the run of fine-tuning whose result a model folder is, or that a folder itself is; else None."""
    run = folder.absolute() if (folder / SETUP).is_dir() else run_of(folder)
    return run if run is not None and (run / SETUP / _DATA).is_file() else None


def parts_of(run_dir: Path) -> tuple[str, ...]:
    """Return which of PARTS a run kept apart; () where its files do not say."""
    try:
        with open_tensors(run_dir / SETUP / _DATA) as file:
            return tuple(split for split in PARTS if f"{split}/rows" in file.infos)
    except UserError:
        return ()


def check_same_rows(one: Path, other: Path, split: str, names: tuple[str, str] | None = None) -> None:
    """Refuse two models of runs that have kept other rows apart. Args: names: what the two are called.

    Raises: RunError.
    """
    runs = run_behind(one), run_behind(other)
    if runs[0] is not None and runs[1] is not None and _share_rows(runs[0], runs[1], split):
        return
    first, second = names or (name_of(one), name_of(other))
    labels = [set(read_info(folder).get("labels", ())) for folder in (one, other)]
    template = marked(
        "engine",
        "{one} and {other} did not hold out the same {split} rows. Score both on one "
        "labelled file that neither was trained on.",
    )
    if labels[0] and labels[1] and not labels[0] & labels[1]:
        template = marked(
            "engine",
            "{one} and {other} have no label in common, so no text can be scored for both.",
        )
    raise RunError(template, one=first, other=second, split=split)


def _share_rows(one: Path, other: Path, split: str) -> bool:
    if one == other:
        return True
    kinds = {"data": dict, "split": dict}
    ours, theirs = (read_setup(run / SETUP, kinds) for run in (one, other))
    settings = (read_config(run) for run in (one, other))
    own, apart = (getattr(getattr(each, "data", None), f"{split}_data", "") for each in settings)
    if own or apart:
        return bool(own == apart)
    same = ours["data"].get("sha256") == theirs["data"].get("sha256")
    return bool(same and ours["split"].get("sha256") == theirs["split"].get("sha256"))


def scoring_part(
    run_dir: Path, split: str, device: str = "auto", stand_in: StandIn | None = None
) -> Steps[ScoredTable]:
    """Return a run's own texts with what its result answered: Progress, Noted, one Evaluated, Finished.

    What the training kept is read; of a run of before, or damaged, its result is asked again, and so is what
    `stand_in` makes to be measured in its place. Labels are as sure as the temperature makes them that was
    kept with the result, and are answered from the thresholds on that were.
    Raises: RunError if the run kept no such part or has no result; ModelError if its files are damaged.
    """
    start = time.perf_counter()
    yield Progress(stage=marked("engine", "Reading"), done=0, total=0)
    run_dir = Path(run_dir)
    config = read_config(run_dir)
    if split not in parts_of(run_dir) or not isinstance(config, FineTuneConfig):
        template = marked("engine", "The run {path} held out no {split} texts.")
        raise RunError(template, path=run_dir, split=split)
    found = _kept(run_dir, split) if stand_in is None else None
    if found is not None:
        yield found[1].evaluated
    else:
        found = yield from _asked_again(run_dir, split, device, stand_in)
    data, answered = found
    if task_named(answered.task).has_temperature:  # what was kept knows of none
        answered = with_temperature(answered, temperature_in(read_info(run_dir / MODEL)))
    listed = yield from _with_texts(run_dir, config, split, data)
    seen = yield from _telling_seen(run_dir, config, split, listed)
    yield Finished(path=None, seconds=time.perf_counter() - start, metrics=answered.evaluated.metrics)
    return replace(answered, listed=listed, seen=seen)


def reporting(scored: ScoredTable, model: Path, part: str = "") -> ScoreReport:
    """Return a report on what a model has answered. Args: model: its folder. part: of its run, "" of a file.

    A temperature is fitted on the validation rows of the run, where their answers were kept.
    """
    info, run = read_info(model), run_behind(model)
    fitting = None
    if run is not None and part != PARTS[0] and task_named(scored.task).has_temperature:
        kept = _kept(run, PARTS[0])
        fitting = None if kept is None else with_temperature(kept[1], temperature_in(info))
    return ScoreReport(scored, temperature_in(info), kept_from=temperature_from(info), fitting=fitting)


def _kept(run_dir: Path, split: str) -> tuple[EncodedRows, ScoredTable] | None:
    """Return a part with the answers in the run's folder; None where there are none of its result."""
    about = read_setup(run_dir / SETUP, {"task": str})
    info = read_info(run_dir / MODEL)
    trained = info.get("trained")
    step = whole_number(trained.get("step")) if isinstance(trained, dict) else None
    metric = str(trained.get("metric")) if isinstance(trained, dict) else ""
    if step is None:
        return None
    kind = task_named(about["task"])
    data, each = kind.setup.load_part(run_dir / SETUP, split), load_answers(run_dir, split, step)
    event = evaluation_of(run_dir, split, step)
    if data is None or each is None or event is None or metric not in event.metrics:
        return None
    if kind.has_marks and each.marks is None:  # kept before marks were
        return None
    listed = data.listed
    if len(listed) != len(each):
        return None
    found = kind.as_it_answers(ScoredTable(kind.name, metric, event, listed, each), data, info)
    return None if found is None else (data, found)


def _asked_again(
    run_dir: Path, split: str, device: str, stand_in: StandIn | None
) -> Steps[tuple[EncodedRows, ScoredTable]]:
    """Measure the result of a run on one of its parts."""
    folder = run_dir / MODEL
    kind = task_named(read_setup(run_dir / SETUP, {"task": str})["task"])
    setup, info = kind.setup.load(run_dir / SETUP), read_info(folder)
    setup = replace(setup, about={**setup.about, **info})
    model, _ = load_headed(folder, kind.head)
    ready = open_device(DeviceConfig(device=device))
    ready = fastest(ready, DeviceConfig(precision="float32"), model.config)
    task, data = kind.measured(setup, split)
    measured = model.to(ready.device) if stand_in is None else stand_in(model)
    measures = yield from evaluate(measured, task, data, ready)
    event = evaluated(0, 0.0, split, measures, task)
    for note, level in task.remarks(measures, split):
        yield Noted(sentence=note, level=level)
    yield event
    return data, told(task, event, data.listed, measures)


def _telling_seen(run_dir: Path, config: FineTuneConfig, split: str, listed: ListedRows) -> Steps[np.ndarray]:
    """Tell how many texts of a part the result has learned from all the same; return (E,) bool, which."""
    about = read_setup(run_dir / SETUP, {"data": dict})
    own = config.data.apart.get(split, "")
    sha256 = "" if own else str(about["data"].get("sha256"))
    blocks = blocks_of(listed.texts, listed.pairs)
    return (yield from telling_seen(run_dir / MODEL, blocks, len(listed), sha256, about.get("split")))


def _with_texts(run_dir: Path, config: FineTuneConfig, split: str, data: EncodedRows) -> Steps[ListedRows]:
    """Return a part's texts: those that were kept, else of its file if that is as it was, else of pieces."""
    listed = data.listed
    if len(listed.texts):
        return listed
    about = read_setup(run_dir / SETUP, {})
    own = config.data.apart.get(split, "")
    try:
        found = yield from _of_file(config, split if own else "", about, data)
    except UserError:
        found = None
    if found is None:
        texts = yield from _of_pieces(data, read_tokenizer(run_dir / SETUP))
        found = replace(listed, texts=texts)
    return found


def _of_file(
    config: FineTuneConfig, own: str, about: dict[str, Any], data: EncodedRows
) -> Steps[ListedRows | None]:
    """Return the rows of the table that a run learned from; None where it is another table by now.

    Args: own: the part that has a table of its own; "": the rows are of the data itself.
    """
    path = config.data.apart.get(own, config.data.data)
    table = yield from reading_table(path, **config.data.how_of(own))
    known, roles = about.get("data"), about.get("roles")
    sha256 = known.get("sha256") if isinstance(known, dict) else None
    if not isinstance(roles, dict) or (not own and sha256 != table.sha256):
        return None
    if data.rows.max(initial=0) >= table.num_rows:
        return None
    columns = [table.frame[table.column(name)].array for name in Roles.from_json(roles).read]
    examples = ExampleRows(columns, data.rows, np.full(len(data), -1, np.int32))
    return MeasuredRows.over(data, examples, table.lines).listed


def _of_pieces(data: EncodedRows, wordpiece: Tokenizer) -> Steps[TextColumn]:
    """Return texts as a model reads them: in pieces that are put together, and cut where they were cut."""
    blocks = list[list[str]]()
    special = {wordpiece.cls_id, wordpiece.sep_id, wordpiece.pad_id}
    for start in range(0, len(data), _TEXTS_AT_ONCE):
        stop = min(start + _TEXTS_AT_ONCE, len(data))
        block = list[str]()
        for place in range(start, stop):
            ids = data.input_ids[data.bounds[place] : data.bounds[place + 1]].tolist()
            block.append(wordpiece.spelled([one for one in ids if one not in special]))
        blocks.append(block)
        yield Progress(stage=marked("engine", "Reading"), done=stop, total=len(data))
    return TextColumn.joined(blocks)
