"""The lecture in hand: scenes are kept into it, it is opened and saved; it is in hand again when the window
opens again, and so is what is not saved of it.

Files are read and written on a worker. Nothing here draws.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from app.lectures import find
from app.lectures.find import ModelPlaces
from app.lectures.lecture import Lecture, Scene, SceneModel, read_lecture, write_lecture
from app.pages.choose.new_model import vocabularies
from app.session import Session
from app.shipped import assets
from app.work.page_state import SceneValues
from app.work.worker import Channel
from engine.language import spoken_language

UNSAVED = "unsaved-lecture.json"
PATH = "lectures/path"  # of the lecture that is not saved, in the settings
IN_HAND = "lectures/in_hand"  # the file of the one that was open last; "": none, or one that ships
RECENT = "lectures/recent"
NUM_RECENT = 5


class OpenLecture(QObject):
    """Holds one lecture and where it is saved. found: where its models lie, by fingerprint."""

    changed = Signal()  # the lecture, its file, or where its models are
    opened = Signal()  # another lecture
    saved = Signal()
    kept = Signal()  # a scene more
    refused = Signal(object)  # UserError

    def __init__(self, session: Session, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._session = session
        files = session.workers.files
        self._keeping, self._reading = Channel(self, files), Channel(self, files)
        self._writing, self._drafting = Channel(self, files), Channel(self, files)
        self._finding, self._comparing = Channel(self, files), Channel(self, files)
        self.lecture = Lecture(language=spoken_language())
        self.path: Path | None = None
        self.is_changed = False  # since it was saved
        self.is_reading = False  # at the start, what was in hand at the end; then comes `opened`
        self.found: dict[str, Path] = {}
        self._chosen: dict[str, Path] = {}  # by hand, in the place of models that are not here
        self.others: dict[str, str] = {}  # what they are called, where they are not what is meant
        self._open_draft()

    # ---- what is in it

    @property
    def lacking(self) -> tuple[SceneModel, ...]:
        """The models of the lecture that are not here."""
        return tuple(mark for mark in find.marks_of(self.lecture) if mark.fingerprint not in self.found)

    @property
    def is_looking(self) -> bool:
        """Whether models of it are still being looked for."""
        return self._finding.is_asking

    @property
    def is_busy(self) -> bool:
        """Whether a scene is being kept, or a file read or written."""
        channels = (
            self._keeping,
            self._reading,
            self._writing,
            self._drafting,
            self._finding,
            self._comparing,
        )
        return any(channel.is_asking for channel in channels)

    def take(self, lecture: Lecture) -> None:
        """Have another state of the same lecture in hand."""
        if lecture != self.lecture:
            self.lecture, self.is_changed = lecture, True
            self._keep_draft()
            self._look()
            self.changed.emit()

    def keep(
        self, title: str, sentence: str, page: str, shown: SceneValues, place: int | None = None
    ) -> None:
        """Put what a page shows into the lecture as a scene; its models are named on a worker."""
        work = partial(find.scene_of, title, sentence, page, shown)
        self._keeping.ask(
            object(), work, again=True, heard=partial(self._take_scene, place), refused=self.refused.emit
        )

    def _take_scene(self, place: int | None, scene: Scene) -> None:
        self.take(self.lecture.with_scene(scene, place))
        self.kept.emit()

    # ---- models

    def places(self) -> ModelPlaces:
        """Return where models may lie."""
        session = self._session
        known = [entry.path for entry in session.library.offered()]
        known += [entry.path for entry in session.library.entries]
        known += [Path(path) for path in vocabularies(session.settings)]
        if session.inspector.folder is not None:
            known.append(session.inspector.folder)
        return ModelPlaces(tuple(dict.fromkeys(known)), session.runs.root)

    def choose_folder(self, mark: SceneModel, folder: Path) -> None:
        """Use this model where the lecture means another that is not here."""
        self._chosen[mark.fingerprint] = folder
        self.found = {**self.found, mark.fingerprint: folder}
        heard = partial(self._take_compared, mark)
        self._comparing.ask(
            (mark, folder), partial(find.mark_of, folder), again=True, heard=heard, refused=self.refused.emit
        )
        self.changed.emit()

    def _take_compared(self, meant: SceneModel, chosen: SceneModel) -> None:
        self.others.pop(meant.fingerprint, None)
        if chosen.fingerprint != meant.fingerprint:
            self.others[meant.fingerprint] = chosen.name
        self.changed.emit()

    def _look(self) -> None:
        """Find out where the models of the lecture are."""
        marks = find.marks_of(self.lecture)
        if all(mark.fingerprint in self.found for mark in marks):
            return
        work = partial(find.find, marks, self.places())
        # there may be more models by now
        self._finding.ask(
            marks,
            work,
            again=True,
            heard=self._take_found,
            refused=self.refused.emit,
            ended=self.changed.emit,
        )

    def _take_found(self, found: dict[str, Path]) -> None:
        self.found = {**self.found, **self._chosen, **found}
        self.changed.emit()

    # ---- files

    def open(self, path: Path | str) -> None:
        """Open a lecture in the place of this one."""
        work = partial(read_lecture, Path(path))
        heard = partial(self._take_opened, Path(path).absolute())
        self._reading.ask(Path(path), work, again=True, heard=heard, refused=self.refused.emit)

    def _take_opened(self, path: Path, lecture: Lecture) -> None:
        self.is_reading = False
        self.lecture, self.path, self.is_changed = lecture, path, False
        self.found = dict(self._chosen)
        if path.is_relative_to(assets()):
            self.path = None  # what ships is never written to
        self._keep_in_hand()
        self._remember(path)
        self._drop_draft()
        self._look()
        self.opened.emit()
        self.changed.emit()

    def start_new(self) -> None:
        """Begin an empty lecture."""
        self.lecture = Lecture(language=spoken_language())
        self.path, self.is_changed = None, False
        self._keep_in_hand()
        self._drop_draft()
        self.opened.emit()
        self.changed.emit()

    def save(self, path: Path | str) -> None:
        """Write the lecture to a file, whole or not at all."""
        place, lecture = Path(path).absolute(), self.lecture
        work = partial(write_lecture, place, lecture)
        heard = partial(self._take_saved, place, lecture)
        self._writing.ask((place, lecture.title), work, again=True, heard=heard, refused=self.refused.emit)

    def _take_saved(self, path: Path, lecture: Lecture, _nothing: None) -> None:
        self.path = path
        self._keep_in_hand()
        self._remember(path)
        if lecture == self.lecture:
            self.is_changed = False
            self._drop_draft()
        self.saved.emit()
        self.changed.emit()

    @property
    def recent(self) -> tuple[Path, ...]:
        """The lectures that were opened or saved last and are still there; none that ships."""
        paths = [Path(path) for path in self._session.settings.value(RECENT, list[str]())]
        return tuple(path for path in paths if path.is_file())

    def _keep_in_hand(self) -> None:
        """Let the next window begin with this lecture."""
        self._session.settings.set_value(IN_HAND, "" if self.path is None else str(self.path))

    def _remember(self, path: Path) -> None:
        if path.is_relative_to(assets()):
            return
        settings = self._session.settings
        others = [one for one in settings.value(RECENT, list[str]()) if one != str(path)]
        settings.set_value(RECENT, [str(path), *others][:NUM_RECENT])

    # ---- what is not saved

    @property
    def _draft(self) -> Path:
        return self._session.runs.root.parent / UNSAVED

    def _keep_draft(self) -> None:
        self._session.settings.set_value(PATH, "" if self.path is None else str(self.path))
        work = partial(_write_draft, self._draft, self.lecture)
        self._drafting.ask(object(), work, again=True, heard=lambda _nothing: None, refused=self.refused.emit)

    def _drop_draft(self) -> None:
        self._drafting.ask(object(), partial(_remove, self._draft), again=True, heard=lambda _nothing: None)

    def _open_draft(self) -> None:
        if self._draft.is_file():
            draft, self.is_reading = self._draft, True
            self._reading.ask(
                draft, partial(read_lecture, draft), heard=self._take_draft, refused=self._forget_draft
            )
            return
        newest = str(self.recent[0]) if self.recent else ""
        last = Path(self._session.settings.value(IN_HAND, newest) or ".")
        if last.is_file():
            self.is_reading = True
            heard = partial(self._take_opened, last)
            self._reading.ask(last, partial(read_lecture, last), heard=heard, refused=self._forget_draft)

    def _take_draft(self, lecture: Lecture) -> None:
        self.is_reading = False
        path = self._session.settings.value(PATH, "")
        self.lecture, self.path, self.is_changed = lecture, Path(path) if path else None, True
        self._look()
        self.opened.emit()
        self.changed.emit()

    def _forget_draft(self, _error: BaseException) -> None:
        """Begin without what cannot be read: a draft is written over with the next scene."""
        self.is_reading = False
        self.opened.emit()


def _write_draft(path: Path, lecture: Lecture) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_lecture(path, lecture)


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
