"""What the Models page asks: plain Python that touches no Qt object and loads no weights."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app import shipped
from engine.errors import Sentence, UserError, marked
from engine.events import Event, Progress
from engine.inspect.predict import read_info
from engine.model.arithmetic import Heads, count_built
from engine.model.config import BertConfig
from engine.model.inventory import Inventory, take_stock
from engine.text.wordpiece import WordPiece
from engine.train.run.history import history, run_of
from engine.train.run.runs import CONFIG, MODEL, list_runs

SHIPPED, TRAINED, OPENED = "shipped", "trained", "opened"


@dataclass(frozen=True, slots=True)
class Places:
    """Where models may be. opened: those used lately, the newest first."""

    opened: tuple[Path, ...]
    runs_root: Path


@dataclass(frozen=True, slots=True)
class Entry:
    """A model of the list. origin: why it is listed. score: accuracy on the rows its run kept apart, 0..1.

    inventory: None where `problem` says why it cannot be opened. written: when its files were, in ns.
    """

    path: Path
    origin: str
    inventory: Inventory | None
    problem: UserError | None = None
    written: tuple[int, ...] = ()
    score: float | None = None

    def is_as(self, other: Entry) -> bool:
        """Whether nothing of the folder has changed between the two."""
        return (self.path, self.inventory, self.written) == (other.path, other.inventory, other.written)


@dataclass(frozen=True, slots=True)
class Detail:
    """What is known of one model without its weights. info: cloze.json. num_kept: weights along its run."""

    path: Path
    inventory: Inventory
    lowercase: bool | None  # None where its vocabulary cannot be read; `problem` says why
    num_pieces: int
    has_mask: bool
    notes: tuple[Sentence, ...]
    info: dict[str, Any] = field(default_factory=dict)
    num_kept: int = 0
    problem: UserError | None = None

    @property
    def answers(self) -> tuple[str, ...]:
        """What it can be asked, once its vocabulary and its training are known too."""
        lacks = set() if self.has_mask else {"masked_words"}
        if self.info.get("next_sentence") is False:
            lacks.add("next_sentence")
        return tuple(what for what in self.inventory.answers if what not in lacks)


def list_entries(places: Places) -> Generator[Event, None, tuple[Entry, ...]]:
    """Return the models of this computer, step by step: shipped, trained here, opened lately."""
    found: dict[Path, Entry] = {}
    for origin, path in _candidates(places):
        yield Progress(stage=marked("engine", "Reading"), done=len(found), total=0)
        if path not in found:
            found[path] = _entry(path, origin)
    return tuple(found.values())


def open_entry(path: Path) -> Entry:
    """Return the entry of a folder that was chosen, or of the result in it where it is a run's."""
    inner = path / MODEL
    is_run = not (path / "config.json").is_file() and (inner / "config.json").is_file()
    return _entry((inner if is_run else path).absolute(), OPENED)


def read_detail(path: Path) -> Detail:
    """Return what is known of a folder. Raises: ModelError where it cannot be opened."""
    inventory, info, run = take_stock(path), read_info(path), run_of(path)
    num_kept = len(history(run)) if run is not None else 0
    try:
        wordpiece = WordPiece.from_folder(path)
    except UserError as error:
        return Detail(path, inventory, None, 0, False, (), info, num_kept, error)
    pieces, has_mask = wordpiece.vocab_size, wordpiece.mask_id is not None
    return Detail(path, inventory, wordpiece.lowercase, pieces, has_mask, wordpiece.notes, info, num_kept)


def count_weights(config: BertConfig, heads: Heads) -> int:
    """Return how many weights the model of these sizes has, counted in the model itself."""
    return sum(count_built(config, heads).values())


def _candidates(places: Places) -> Iterator[tuple[str, Path]]:
    """Give origin and folder of all models there may be."""
    run = shipped.history_run()
    for folder in (shipped.starter_model(), run / MODEL if run else None):
        if folder is not None and (folder / "config.json").is_file():
            yield SHIPPED, folder.absolute()
    for run_dir in _runs(places.runs_root):
        folder = run_dir / MODEL
        if (folder / "config.json").is_file():
            yield TRAINED, folder.absolute()
    for folder in places.opened:
        if folder.is_dir():
            yield OPENED, folder.absolute()


def _runs(root: Path) -> list[Path]:
    """Return the runs under a root, newest first, and those of the pipelines there; none if unreadable."""
    try:
        found = [run.path for run in list_runs(root)]
        folders = sorted(root.iterdir(), reverse=True) if root.is_dir() else []
        for folder in folders:
            if folder.is_dir() and not (folder / CONFIG).is_file():
                found += [run.path for run in list_runs(folder)]
    except OSError:
        return []
    return found


def _entry(path: Path, origin: str) -> Entry:
    try:
        stock = take_stock(path, thorough=False)
    except UserError as error:
        return Entry(path, origin, None, error)
    return Entry(path, origin, stock, written=_written(path), score=_score(path))


def _score(path: Path) -> float | None:
    """Return the accuracy that a classifier's run noted; None where there is none, or it cannot be read."""
    try:
        trained = read_info(path).get("trained")
    except UserError:
        return None
    known = isinstance(trained, dict) and trained.get("metric") == "accuracy"
    value = trained.get("value") if isinstance(trained, dict) and known else None
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


def _written(path: Path) -> tuple[int, ...]:
    """Return when the files of a folder were last written, in ns."""
    try:
        return tuple(sorted(file.stat().st_mtime_ns for file in path.iterdir()))
    except OSError:  # it went away meanwhile
        return ()
