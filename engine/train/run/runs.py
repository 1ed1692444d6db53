"""Run folders, and how they are read: all that a run needs to be shown, resumed or repeated.

runs/<time>-<name>/
    config.toml        all settings, with a schema version
    setup/             what was prepared once: config.json, the tokenizer's files, encoded data, setup.json
    metrics.jsonl      append-only truth; on resume it is cut back to the checkpoint's byte offset. What was
                       noted stands in it too, that of preparing before all else
    checkpoints/       step-00000120/: weights, optimizer, state.json and, last, manifest.json with sha256
    answers/           what the best weights answered to validation and test texts; see answers.py
    history/           copies of the weights along the way, each a model folder; see history.py
    model/             the result
    status.json        running, stopped, finished or failed; `lock` is held while a process works here
    wanted             somebody wants it to pause or to stop; see wanted.py
    remote.json        it is trained on another computer, and mirrored here; see mirrored.py
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import platformdirs

from engine.errors import ModelError, RunError, Sentence, UserError, marked
from engine.events import Evaluated, Event, Noted
from engine.files import open_regular, read_json_object
from engine.settings.config import from_toml, to_toml, with_values
from engine.settings.family import FamilyConfig
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.train.run.lock import is_locked
from engine.train.run.mirrored import mirrored_state
from engine.train.run.records import (
    MOST_DAMAGED,
    event_from_record,
    real_number,
    record_in,
    record_of,
    records_in,
    whole_number,
)

CONFIG, METRICS, STATUS, LOCK = "config.toml", "metrics.jsonl", "status.json", "lock"
AnyConfig = FineTuneConfig | PretrainConfig
RunConfig = AnyConfig | FamilyConfig
PIPELINE = "pipeline.toml"  # settings of several runs, each in a folder within
SETUP, CHECKPOINTS, MODEL = "setup", "checkpoints", "model"
HISTORY = "history"  # see history.py
STATES = ("running", "finished", "stopped", "failed")  # a run that says "running" and is not, has crashed
MOST_STATUS = 2**20  # bytes of status.json, of a checkpoint's state and its manifest
LONGEST_METRIC = 80  # characters of a metric's name
TAIL = 65536  # bytes at the end of metrics.jsonl in which the last step or whole line is looked for


@dataclass(frozen=True, slots=True)
class RunState:
    """What a list of runs shows. state: running, finished, stopped, failed or crashed.

    problem: what its files say that cannot be.
    """

    path: Path
    name: str
    state: str
    step: int
    num_steps: int
    metric_name: str
    best_metric: float | None
    problem: Sentence | None = None


def default_root() -> Path:
    """Return where runs are kept unless a person chooses another folder."""
    return Path(platformdirs.user_data_dir("cloze", appauthor=False)) / "runs"


def new_run_dir(root: Path, name: str) -> Path:
    """Return a folder name `<time>-<name>` under root that does not exist yet."""
    plain = "".join(c if c.isalnum() or c in "-_" else "-" for c in name).strip("-")[:60]
    plain = (
        plain.encode()[:200].decode(errors="ignore") or "run"
    )  # a name in a folder has so many bytes at most
    stem = f"{time.strftime('%Y%m%d-%H%M%S')}-{plain}"
    path, count = root / stem, 1
    while path.exists():
        count += 1
        path = root / f"{stem}-{count}"
    return path


def read_config(path: Path) -> AnyConfig:
    """Return the settings of a run that trains a BERT. Raises: as `read_any_config`; RunError: a family's."""
    config = read_any_config(path)
    if isinstance(config, FamilyConfig):
        raise RunError(
            marked("engine", "{path} is a member of a family, which is trained as a whole."), path=path
        )
    return config


def read_any_config(path: Path) -> RunConfig:
    """Return the settings of a run. Raises: RunError if `path` is not a run folder; ConfigError."""
    if not _is_run(path):
        raise RunError(
            marked("engine", "{path} is not a run folder: it has no config.toml. Start the run again."),
            path=path,
        )
    values = from_toml(path / CONFIG)
    return with_values(plain_config(str(values.pop("kind", ""))), values)


def plain_config(kind: str) -> RunConfig:
    """Return the settings of a kind of run at their defaults; of one that is none, those of fine-tuning."""
    plain: dict[str, RunConfig] = {"pretrain": PretrainConfig(), "family": FamilyConfig()}
    return plain.get(kind, FineTuneConfig())


LAYERS = "layers"  # of a stage in a chain: whose layers it began with, where those are not of its "from"


def chain_of(model: str) -> list[dict[str, Any]]:
    """Return the stages of training that a model folder tells of, oldest first; [] for a new model."""
    try:
        document = read_json_object(Path(model) / "cloze.json", writable=True, kind=ModelError)
    except (ModelError, OSError):
        return []
    chain = document.get("chain")
    return [stage for stage in chain if isinstance(stage, dict)] if isinstance(chain, list) else []


def stage_name(stage: Mapping[str, Any]) -> str:
    """Return what a reader is told of a stage in a chain: its task, its run, whose layers it began with."""
    began = f", from the layers of {stage[LAYERS]}" if LAYERS in stage else ""
    return f"{stage.get('task', '?')} ({stage.get('run', '?')}{began})"


def origin_of(model: str) -> str:
    """Return what a chain calls a model that a stage began from: its folder's name, or that of its run."""
    path = Path(model)
    return model if model.startswith("new:") else path.parent.name if path.name == MODEL else path.name


def document_of(config: RunConfig) -> str:
    """Return config.toml as `read_config` reads it."""
    return f'kind = "{kind_of(config)}"\n' + to_toml(config)


def kind_of(config: RunConfig) -> str:
    """Return what config.toml calls the kind of a run, of KINDS."""
    kinds = {PretrainConfig: "pretrain", FamilyConfig: "family", FineTuneConfig: "finetune"}
    return kinds[type(config)]


def read_status(path: Path) -> dict[str, Any]:
    """Return what status.json says, or nothing."""
    try:
        return read_json_object(path / STATUS, most=MOST_STATUS)
    except UserError:
        return {}


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Return the records of metrics.jsonl; lines that are none, and a last one cut off, are left out.

    Raises: RunError if it is no ordinary file, or far too large.
    """
    return [record for record in _records(path) if record is not None]


def read_events(path: Path) -> Iterator[Event]:
    """Yield what a run said, read from metrics.jsonl; at the end, what of it could not be read.

    Only what a person should see comes, and no exception: a damaged history is told as a `Noted`.
    """
    num_damaged = 0
    try:
        for record in _records(path):
            event = event_from_record(record) if record is not None else None
            if event is not None:
                yield event
            else:
                num_damaged += 1
    except RunError as error:
        yield Noted(sentence=error.sentence, level="wrong")
    if num_damaged:
        template = marked("engine", "{count} lines of {path} cannot be read and are skipped.")
        if num_damaged == 1:
            template = marked("engine", "One line of {path} cannot be read and is skipped.")
        values = {"count": f"{num_damaged} +" if num_damaged >= MOST_DAMAGED else num_damaged}
        yield Noted(sentence=Sentence(template, {**values, "path": path / METRICS}), level="wrong")


def _records(path: Path) -> Iterator[dict[str, Any] | None]:
    file = path / METRICS
    return records_in(file) if os.path.lexists(file) else iter(())


def evaluation_of(run_dir: Path, split: str, step: int) -> Evaluated | None:
    """Return the evaluation of a step, as the run has written it down."""
    for record in reversed(read_metrics(run_dir)):
        if record.get("event") == "evaluated" and record.get("step") == step and record.get("split") == split:
            found = event_from_record(record)
            if isinstance(found, Evaluated):
                return found
    return None


def notes_document(notes: Iterable[Noted]) -> list[dict[str, Any]]:
    """Return notes as JSON can hold them: what was said in English, and what it was made of."""
    return [{name: value for name, value in record_of(note).items() if name != "event"} for note in notes]


def notes_from(document: Any) -> list[Noted]:
    """Return the notes that `notes_document` was made from; what is none of them is left out."""
    records = document if isinstance(document, list) else []
    found = (event_from_record({**one, "event": "noted"}) for one in records if isinstance(one, dict))
    return [event for event in found if isinstance(event, Noted)]


def texts_noted(path: Path) -> set[str]:
    """Return what metrics.jsonl says was noted."""
    notes = (record for record in records_in(path) if record and record.get("event") == "noted")
    events = (event_from_record(record) for record in notes)
    return {str(event.sentence) for event in events if isinstance(event, Noted)}


def list_runs(root: Path) -> list[RunState]:
    """Return the runs under a root, newest first. Folders that are not runs are passed over.

    A damaged run is listed with what can be read of it, and `problem` says what cannot.
    """
    if not root.is_dir():
        return []
    entries = sorted(root.iterdir(), key=lambda entry: entry.name, reverse=True)
    return [run_info(path) for path in entries if _is_run(path)]


def _is_run(path: Path) -> bool:
    try:
        return (path / CONFIG).is_file()
    except OSError:  # a folder that this person may not enter
        return False


def run_info(path: Path) -> RunState:
    """Return what a run's files say, each held to what it can be."""
    status, problem = dict[str, Any](), None
    try:
        if os.path.lexists(path / STATUS):  # without one it was cut off as it began
            status = read_json_object(path / STATUS, most=MOST_STATUS)
    except UserError as error:
        problem = error.sentence
    state, metric = status.get("state", "running"), status.get("metric", "accuracy")
    step, num_steps = (whole_number(status.get(name, 0)) for name in ("step", "num_steps"))
    best = real_number(status.get("best_metric"))
    wrong = {
        "state": state not in STATES,
        "step": step is None,
        "num_steps": num_steps is None,
        "metric": not isinstance(metric, str) or len(metric) > LONGEST_METRIC,
        "best_metric": best is None and status.get("best_metric") is not None,
    }
    if any(wrong.values()):
        template = marked(
            "engine", "{path} is damaged: {names} cannot be true. The rest of the run is shown."
        )
        names = [name for name, is_wrong in wrong.items() if is_wrong]
        problem = Sentence(template, {"path": path / STATUS, "names": names})
    if there := mirrored_state(path):
        state = there  # nobody here trains it
    elif state not in STATES or (state == "running" and not is_locked(path / LOCK)):
        state = "crashed"
    return RunState(
        path=path,
        name=path.name,
        state=state,
        step=_last_step(path, step or 0),
        num_steps=num_steps or 0,
        metric_name="accuracy" if wrong["metric"] else metric,
        best_metric=best,
        problem=problem,
    )


def _last_step(path: Path, fallback: int) -> int:
    """Return the last step in metrics.jsonl, read from its end."""
    try:
        with open_regular(path / METRICS) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL))
            lines = file.read(TAIL).split(b"\n")[:-1]
    except (OSError, UserError):
        return fallback
    for line in reversed(lines):
        record = record_in(line)
        step = whole_number(record.get("step")) if record and record.get("event") == "step" else None
        if step is not None:
            return step
    return fallback
