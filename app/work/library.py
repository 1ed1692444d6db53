"""Which models are on this computer: the one answer to that question, in the same order for every page.

Folders are read by `look`, on a worker; the window's thread opens no model's file.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app import shipped
from app.look.labels import PART
from app.settings import AppSettings
from app.words import share, translate
from app.work.later import later
from app.work.titles import answer_words, model_title, shape_words
from engine.errors import UserError, marked
from engine.events import Event, Progress
from engine.hub.kept import models_in
from engine.train.run.kept import is_kept
from engine.train.run.runs import CONFIG, MODEL, RunState, list_runs

if TYPE_CHECKING:
    from engine.model.info import read_info
    from engine.model.inventory import Inventory, take_stock
    from engine.model.tensorflow.checkpoint import is_checkpoint
else:
    is_checkpoint = later("engine.model.tensorflow.checkpoint", "is_checkpoint")
    read_info = later("engine.model.info", "read_info")
    take_stock = later("engine.model.inventory", "take_stock")

FILES = "files"
ORIGINS = SHIPPED, TRAINED, FETCHED, OPENED = "shipped", "trained", "fetched", "opened"


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model to choose. origin: SHIPPED, TRAINED here, FETCHED from a hub or OPENED: why.

    inventory: what it holds; None until its files are read, and where `problem` says why it cannot be opened.
    written: when its files were, in ns. score: accuracy that its run noted, 0..1; is_cross_validated: it is
    that, and not of validation rows.
    """

    path: Path
    origin: str
    inventory: Inventory | None = None
    problem: UserError | None = None
    written: tuple[int, ...] = ()
    score: float | None = None
    is_cross_validated: bool = False

    @property
    def title(self) -> str:
        """What it is called on every page."""
        return model_title(self.path)

    @property
    def is_read(self) -> bool:
        return self.inventory is not None or self.problem is not None

    def fits(self, wanted: str) -> bool:
        """Whether it answers what is wanted, one of `Inventory.answers`; "": any model, to begin from; FILES:
        one that was fine-tuned to answer files, whatever for.
        """
        if not wanted or self.inventory is None:
            return not wanted
        return bool(self.inventory.task) if wanted == FILES else wanted in self.inventory.answers


@dataclass(frozen=True, slots=True)
class LibraryContents:
    """What lies on this computer. runs: the newest first. entries: by origin.

    problem: why the folder for runs cannot be read.
    """

    runs: tuple[RunState, ...]
    entries: tuple[ModelEntry, ...]
    problem: OSError | None = None


def entry_words(entry: ModelEntry) -> str:
    """Return a model in a line: its shape, what it answers, how good its run has found it."""
    if entry.problem is not None:
        return translate("models", "cannot be opened")
    if entry.inventory is None:
        return ""
    parts = [shape_words(entry.inventory.config)]
    parts.append(answer_words(entry.inventory.answers, entry.inventory.heads.num_labels))
    if entry.score is not None:
        said = translate("models", "{share} in validation")
        if entry.is_cross_validated:
            said = translate("models", "{share} cross-validated")
        parts.append(said.format(share=share(entry.score)))
    return PART.join(parts)


class ModelLibrary(QObject):
    """The models of this computer as far as the window knows them."""

    changed = Signal()
    look_wanted = Signal()  # a folder is known whose files nobody has read

    def __init__(self, settings: AppSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._settings = settings
        self._entries: dict[Path, ModelEntry] = {}
        self._last_trained: Path | None = None
        self.is_complete = False  # whether anybody has looked

    @property
    def entries(self) -> tuple[ModelEntry, ...]:
        """Those whose files have been read."""
        return tuple(self._entries.values())

    @property
    def recent(self) -> tuple[Path, ...]:
        """Those used lately, the newest first, there or not."""
        return tuple(Path(path).absolute() for path in self._settings.recent_models)

    def remember(self, folder: Path | str, *, trained: bool = False) -> None:
        """Put a model that was opened, or `trained` just now, before the others.

        Weights that a run kept along the way are not remembered: the run's result stands for them.
        """
        path = Path(folder).absolute()
        if is_kept(path):
            return
        before = self._order()
        self._settings.add_recent_model(path)
        if trained:
            self._last_trained = path
            self._entries.pop(path, None)  # a resumed run has written it anew
        if path not in self._entries:
            self.look_wanted.emit()
        if self._order() != before:
            self.changed.emit()

    def score_of(self, folder: Path | None) -> float | None:
        """Return the accuracy that a model's run noted, see `_score`; None where nobody knows it."""
        entry = self._entries.get(folder) if folder is not None else None
        return None if entry is None else entry.score

    def set_found(self, entries: Iterable[ModelEntry]) -> None:
        """Know these models, which are all that a look has found."""
        found = {entry.path: entry for entry in entries}
        if list(found.items()) != list(self._entries.items()) or not self.is_complete:
            self._entries, self.is_complete = found, True
            self.changed.emit()

    def offered(self, wanted: str = "", *, chosen: Path | str | None = None) -> tuple[ModelEntry, ...]:
        """Return the models that answer what is wanted, see `ModelEntry.fits`, in the order of all pages:
        the last trained, those used lately, what ships with Cloze, the results of all other runs.

        Args: chosen: offered in any case; before all others where it is none of them.
        """
        held = Path(chosen).absolute() if chosen else None
        known = [entry for entry in map(self._entry, self._order()) if entry is not None]
        found = [entry for entry in known if entry.path == held or entry.fits(wanted)]
        if held is not None and held not in [entry.path for entry in found]:
            found.insert(0, ModelEntry(held, OPENED))
        return tuple(found)

    def own(self, wanted: str) -> tuple[ModelEntry, ...]:
        """Return those of `offered` that a person trained, fetched, opened or used: one of these is taken
        unasked, one that only ships is not.
        """
        recent = self.recent
        return tuple(
            entry for entry in self.offered(wanted) if entry.origin != SHIPPED or entry.path in recent
        )

    def _order(self) -> tuple[Path, ...]:
        first = () if self._last_trained is None else (self._last_trained,)
        return tuple(dict.fromkeys((*first, *self.recent, *shipped_models(), *self._entries)))

    def _entry(self, path: Path) -> ModelEntry | None:
        """Return what is known of a folder; None where it is gone."""
        if path in self._entries:
            return self._entries[path]
        return ModelEntry(path, OPENED) if path.is_dir() else None


def shipped_models() -> tuple[Path, ...]:
    """Return the folders of the models that ship with Cloze; none in a build without them."""
    run = shipped.history_run()
    small = None if run is None else run / MODEL
    folders = (
        shipped.home_model(),
        shipped.starter_model(),
        shipped.chinese_model(),
        small,
        shipped.home_tuned_model(),
        shipped.tuned_model(),
        shipped.chinese_tuned_model(),
    )
    return tuple(dict.fromkeys(folder.absolute() for folder in folders if folder is not None))


def models_root(runs_root: Path) -> Path:
    """Return where models that were fetched lie: beside the runs."""
    return runs_root.parent / "models"


def look(
    runs_root: Path, opened: Iterable[Path], known: Mapping[Path, ModelEntry]
) -> Generator[Event, None, LibraryContents]:
    """Find out what lies on this computer. known: what was found before, and need not be read again."""
    problem, runs, pipelines = None, list[RunState](), list[RunState]()
    try:
        runs, pipelines = _runs(runs_root)
    except OSError as error:
        problem = error
    found: dict[Path, ModelEntry] = {}
    for origin, path in _candidates([*runs, *pipelines], models_root(runs_root), opened):
        yield Progress(stage=marked("engine", "Reading"), done=len(found), total=0)
        if path not in found:
            before = known.get(path)
            is_same = before is not None and (before.origin, before.written) == (origin, _written(path))
            found[path] = before if before is not None and is_same else read_entry(path, origin)
    return LibraryContents(tuple(runs), tuple(found.values()), problem)


class CheckpointRefusal(UserError):
    """What was to be opened as a model is a checkpoint of TensorFlow, which can be converted."""

    def __init__(self, path: Path) -> None:
        template = marked(
            "engine",
            "{path} is a TensorFlow checkpoint. Convert it on the Models page, which opens the result.",
        )
        super().__init__(template, path=path)
        self.path = path


def read_entry(path: Path, origin: str) -> ModelEntry:
    """Return what a folder's files say, without their weights; `problem` where it cannot be opened."""
    written = _written(path)
    try:
        return ModelEntry(path, origin, take_stock(path, thorough=False), None, written, *_score(path))
    except UserError as error:
        is_other = not (path / "config.json").is_file() and is_checkpoint(path)
        return ModelEntry(path, origin, None, CheckpointRefusal(path) if is_other else error, written)


def read_folder(path: Path, *, vocabulary_will_do: bool = False) -> ModelEntry:
    """Return what a folder that was chosen holds: a model, or a run and so its result.

    Args: vocabulary_will_do: a folder that can cut text alone is no problem.
    """
    inner = path / MODEL
    is_run = not (path / "config.json").is_file() and (inner / "config.json").is_file()
    entry = read_entry((inner if is_run else path).absolute(), OPENED)
    if entry.problem is not None and vocabulary_will_do:
        with suppress(UserError):  # what the model is refused for is said, not what its vocabulary is
            from engine.text.read_tokenizer import read_tokenizer

            read_tokenizer(path)
            return ModelEntry(path.absolute(), OPENED)
    return entry


def _candidates(
    runs: Iterable[RunState], fetched: Path, opened: Iterable[Path]
) -> Iterator[tuple[str, Path]]:
    """Give origin and folder of all models there may be."""
    for folder in shipped_models():
        if (folder / "config.json").is_file():
            yield SHIPPED, folder
    for run in runs:
        folder = run.path / MODEL
        if (folder / "config.json").is_file():
            yield TRAINED, folder.absolute()
    for folder in models_in(fetched):
        yield FETCHED, folder.absolute()
    for folder in opened:
        if folder.is_dir():
            yield OPENED, folder.absolute()


def _runs(root: Path) -> tuple[list[RunState], list[RunState]]:
    """Return the runs under a root, newest first, and those of the pipelines there. Raises: OSError."""
    runs, pipelines = list_runs(root), list[RunState]()
    folders = sorted(root.iterdir(), reverse=True) if root.is_dir() else []
    for folder in folders:
        if folder.is_dir() and not (folder / CONFIG).is_file():
            pipelines += list_runs(folder)
    return runs, pipelines


def _score(path: Path) -> tuple[float | None, bool]:
    """Return the accuracy that a classifier's run noted, and whether it is cross-validated and not of
    validation rows; None where there is none, or it cannot be read.
    """
    try:
        info = read_info(path)
    except UserError:
        return None, False
    trained, way = info.get("trained"), info.get("way")
    known = isinstance(trained, dict) and trained.get("metric") == "accuracy"
    value = trained.get("value") if isinstance(trained, dict) and known else None
    is_judged = value is None and isinstance(way, dict)
    if is_judged and isinstance(way, dict):
        value = way.get("accuracy")
    return (float(value), is_judged) if isinstance(value, int | float) and 0 <= value <= 1 else (None, False)


def _written(path: Path) -> tuple[int, ...]:
    """Return when the files of a folder were last written, in ns."""
    try:
        return tuple(sorted(file.stat().st_mtime_ns for file in path.iterdir()))
    except OSError:  # it went away meanwhile
        return ()
