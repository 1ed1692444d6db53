"""A lecture on the screen: one scene after the other over the whole window, by keyboard, large as one likes.

The pages are the window's own, so all that is shown can be touched. The window gets its rail, its size
and its
page back at the end. An error in an event filter would end the process, so none leaves it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol, cast

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from app import words
from app.lectures import find
from app.lectures.bar import SIZES, LectureBar
from app.lectures.lecture import Scene, SceneModel
from app.lectures.open_lecture import OpenLecture
from app.look.files import ask_folder
from app.look.widgets import EmptyState, named
from app.look.zoom import ZoomView
from app.page_stack import is_kept
from app.pages.choose.model_box import FolderQuestion
from app.pages.inside.kept_page import KeptPage
from app.session import Session
from app.work.page_state import FAMILIES, VOCABULARIES, kind_of_model
from engine.errors import UserError, marked
from engine.family.train import REPORT

SIZE = "lectures/text_size"  # per cent, kept for the next lecture where one was chosen
USUAL = QSize(1280, 720)  # px of a window that shows a lecture at 100 %
ONWARD = (Qt.Key.Key_Right, Qt.Key.Key_Space, Qt.Key.Key_PageDown)
BACKWARD = (Qt.Key.Key_Left, Qt.Key.Key_PageUp, Qt.Key.Key_Backspace)
OF_TEXT = (Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Space, Qt.Key.Key_Home, Qt.Key.Key_End)
LARGER, SMALLER = (Qt.Key.Key_Plus, Qt.Key.Key_Equal), (Qt.Key.Key_Minus,)


class LectureWindow(Protocol):
    """What a lecture needs of the window."""

    session: Session

    @property
    def titles(self) -> Mapping[str, str]: ...  # of the pages, by their keys
    @property
    def stage(self) -> QBoxLayout: ...  # where the pages lie
    @property
    def pages(self) -> QWidget: ...  # all of them, one in view
    @property
    def current_page(self) -> str: ...
    def page(self, key: str) -> QWidget: ...
    def show_page(self, key: str) -> None: ...
    def set_bare(self, bare: bool) -> None: ...


class LecturePlayer(QObject):
    """Shows the scenes of the lecture in hand over a window, from `start` to `end`."""

    shown = Signal(int)  # a scene; its answers may still be on their way
    ended = Signal()

    def __init__(self, main: LectureWindow, current: OpenLecture, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._main, self._current = main, current
        self.is_on = False
        self.place = 0
        self.percent = 100  # the size that is shown
        self._wanted = 0  # the one that is asked for; 0: as fits the screen
        self._before = ""  # the page that was open
        self._state_before = Qt.WindowState.WindowNoState
        self._bare: list[KeptPage[Any]] = []  # those that are shown without title and actions
        self._asked: SceneModel | None = None  # whose folder is asked for
        self.bar = LectureBar(self.window)
        self.zoom = ZoomView(self.window)
        self.hole = named(EmptyState("", self.tr("Choose its folder…"), self.window), "lecture_hole")
        self.hole.button.setObjectName("lecture_choose_folder")
        for widget in (self.bar, self.zoom, self.hole):
            widget.hide()
        self.question = self._question("lecture_folder_dialog")
        self.vocabulary_question = self._question("lecture_vocabulary_dialog", vocabulary_will_do=True)
        self.hole.activated.connect(self._ask_folder)
        self.bar.stepped.connect(self.step)
        self.bar.size_chosen.connect(self.set_size)
        self.bar.ended.connect(self.end)
        current.changed.connect(self._lecture_changed)

    def _question(self, name: str, *, vocabulary_will_do: bool = False) -> FolderQuestion:
        window = cast(QWidget, self._main)
        made = FolderQuestion(self._main.session, window, name=name, vocabulary_will_do=vocabulary_will_do)
        made.chosen.connect(self._take_folder)
        made.refused.connect(self._refuse_folder)
        return made

    @property
    def window(self) -> QWidget:
        return cast(QWidget, self._main)

    # ---- from outside

    def start(self, place: int = 0, *, full_screen: bool = True) -> None:
        """Show the lecture from a scene on."""
        if self.is_on or not self._current.lecture.scenes:
            return
        self.is_on = True
        self._before, self._state_before = self._main.current_page, self.window.windowState()
        self._main.set_bare(True)
        self._main.stage.insertWidget(0, self.bar)
        self._main.stage.addWidget(self.hole, 1)
        self.bar.show()
        application = QApplication.instance()
        assert application is not None
        application.installEventFilter(self)
        kept = self._main.session.settings.value(SIZE, 0)
        self._wanted = kept if kept in SIZES else 0
        self._fit()
        if full_screen:
            self.window.showFullScreen()
        self.go(place)

    def end(self) -> None:
        """Give the window back as it was."""
        if not self.is_on:
            return
        self.is_on = False
        application = QApplication.instance()
        assert application is not None
        application.removeEventFilter(self)
        self._put_back()
        self.percent = 100
        for page in self._bare:
            page.set_bare(False)
        self._bare = []
        for widget in (self.bar, self.hole):
            self._main.stage.removeWidget(widget)
            widget.hide()
        self._main.pages.show()
        self._main.set_bare(False)
        if self.window.isFullScreen():
            self.window.setWindowState(self._state_before)
        self._main.show_page(self._before)
        self.ended.emit()

    def step(self, by: int) -> None:
        """Go so many scenes on."""
        self.go(self.place + by)

    def go(self, place: int) -> None:
        """Show a scene; beyond the first and the last there is none."""
        scenes = self._current.lecture.scenes
        if not self.is_on or not scenes:
            return
        self.place = min(max(place, 0), len(scenes) - 1)
        scene = scenes[self.place]
        self.bar.show_scene(scene.title, scene.sentence, self.place, len(scenes))
        self.bar.show_note(self._note(scene))
        self._show(scene)
        self._fit()
        self._take_keyboard()
        self.shown.emit(self.place)

    def _note(self, scene: Scene) -> str:
        """Return which models stand for those that are meant."""
        said = self.tr(
            "Shown with “{other}”, not with “{name}” (weights {fingerprint}), so the sentence may not fit."
        )
        others = self._current.others
        meant = [mark for mark in dict.fromkeys(scene.models.values()) if mark.fingerprint in others]
        return words.sentences(
            said.format(other=others[mark.fingerprint], name=mark.name, fingerprint=mark.fingerprint)
            for mark in meant
        )

    def set_size(self, percent: int) -> None:
        """Show text and pictures in another size, per cent of the usual."""
        self._wanted = percent
        self._main.session.settings.set_value(SIZE, percent)
        self._fit()

    def _fit(self) -> None:
        """Show everything in the size that is wanted, or the largest in which all of it has room."""
        if not self.is_on:
            return
        least, room = self._main.pages.minimumSizeHint(), self.window.size()
        wanted = self._wanted or max(
            (one for one in SIZES if USUAL.width() * one <= 100 * room.width()
             and USUAL.height() * one <= 100 * room.height()),
            default=min(SIZES),
        )  # fmt: skip
        for percent in sorted((one for one in SIZES if one <= wanted), reverse=True):
            self.bar.set_size(percent)
            taken = self.bar.height_for(room.width())
            fits = room.width() * 100 >= least.width() * percent
            if fits and (room.height() - taken) * 100 >= least.height() * percent:
                break
        self.bar.show_size(percent, is_less=percent < wanted)
        if percent == self.percent:
            return
        self.percent = percent
        if percent == 100:
            self._put_back()
        else:
            if self._main.stage.indexOf(self.zoom) < 0:
                self._main.stage.insertWidget(self._main.stage.indexOf(self._main.pages), self.zoom, 1)
                self._main.stage.removeWidget(self._main.pages)
            self.zoom.hold(self._main.pages, percent / 100)
        self._show_hole(self.hole.label.text() if self.hole.isVisibleTo(self.window) else "")

    # ---- showing

    def _put_back(self) -> None:
        """Lay the pages into the window again, where they were taken out of it."""
        pages, stage = self.zoom.release(), self._main.stage
        if pages is not None:
            stage.insertWidget(stage.indexOf(self.zoom), pages, 1)
            stage.removeWidget(self.zoom)
            self.zoom.hide()
            pages.show()

    def _show(self, scene: Scene) -> None:
        """Show a scene, or why it cannot be shown."""
        self._asked = None
        lacking = find.lacking(scene, self._current.found)
        if not is_kept(scene.page):
            self._show_hole(
                self.tr("This scene belongs to a page that this Cloze does not have. Continue with the next.")
            )
        elif lacking and self._current.is_looking:
            self._show_hole(self.tr("Looking for the models of this scene…"))
        elif lacking:
            self._asked = lacking[0]
            said = self.tr(
                "“{name}” (weights {fingerprint}) is not on this computer, so this scene cannot be "
                "shown. Choose its folder, or continue with the next scene."
            )
            self._show_hole(said.format(name=lacking[0].name, fingerprint=lacking[0].fingerprint))
        else:
            self._show_hole("")
            self._show_page(scene)

    def _show_page(self, scene: Scene) -> None:
        self._main.show_page(scene.page)
        page = self._main.page(scene.page)
        assert isinstance(page, KeptPage)  # asked before
        if page not in self._bare:
            page.set_bare(True)
            self._bare.append(page)
        try:
            page.show_scene(find.values_of(scene, self._current.found))
        except UserError as error:
            self._show_hole(words.say_error(error))

    def _show_hole(self, why: str) -> None:
        """Say in the place of the page why it is not there; "": it is."""
        holder = self._main.pages if self._main.stage.indexOf(self._main.pages) >= 0 else self.zoom
        self.hole.set_text(why)
        self.hole.button.setVisible(self._asked is not None)
        self.hole.setVisible(bool(why))
        holder.setVisible(not why)

    def _lecture_changed(self) -> None:
        """Show the scene whose model has been found meanwhile, and whether it is the one that is meant."""
        scenes = self._current.lecture.scenes
        if self.is_on and self.hole.isVisibleTo(self.window):
            self.go(self.place)
        elif self.is_on and self.place < len(scenes):
            self.bar.show_note(self._note(scenes[self.place]))
            self._fit()

    def _ask_folder(self) -> None:
        scene = self._current.lecture.scenes[self.place]
        page = self._main.page(scene.page)
        assert isinstance(page, KeptPage)  # else there is nothing to ask for
        role = next((role for role, mark in scene.models.items() if mark == self._asked), "")
        kind = kind_of_model(page.state_kind, role)
        if kind == FAMILIES:
            title = self.tr("Choose the family’s folder")
            ask_folder(self.window, title, self._take_family, name="lecture_family_dialog")
        else:
            (self.vocabulary_question if kind == VOCABULARIES else self.question).ask()

    def _take_family(self, folder: str) -> None:
        if (Path(folder) / REPORT).is_file():
            self._take_folder(folder)
        else:
            said = marked(
                "engine", "{folder} holds no {file}, so it is not a family. Choose the folder that has one."
            )
            self._refuse_folder(UserError(said, folder=folder, file=REPORT))

    def _take_folder(self, folder: str) -> None:
        if self._asked is not None:
            self._current.choose_folder(self._asked, Path(folder).absolute())

    def _refuse_folder(self, error: UserError) -> None:
        self._show_hole(words.say_error(error))

    # ---- keys

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.window:
            QTimer.singleShot(0, self, self._fit)
            return False
        kinds = (QEvent.Type.KeyPress, QEvent.Type.ShortcutOverride)
        if event.type() not in kinds or not isinstance(watched, QWidget) or not isinstance(event, QKeyEvent):
            return False
        is_elsewhere = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if is_elsewhere or not self._is_ours(watched):
            return False
        call = self._meaning(event)
        if call is None:
            return False
        event.accept()
        if event.type() == QEvent.Type.KeyPress:
            QTimer.singleShot(0, self, call)  # outside of Qt's delivery, where an error may be raised
        return True

    def _is_ours(self, widget: QWidget) -> bool:
        pages = self._main.pages
        return widget is self.window or self.window.isAncestorOf(widget) or pages.isAncestorOf(widget)

    def _meaning(self, event: QKeyEvent) -> Callable[[], object] | None:
        """Return what a key does in a lecture; None for one that is the page's own."""
        key, modifiers = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        if modifiers & Qt.KeyboardModifier.ControlModifier and key in (*LARGER, *SMALLER):
            return partial(self._resize, 1 if key in LARGER else -1)
        if modifiers:
            return None
        is_typing = isinstance(self._focused(), QLineEdit | QPlainTextEdit | QTextEdit | QAbstractSpinBox)
        if is_typing and key == Qt.Key.Key_Escape:
            return self._take_keyboard
        if is_typing and key in (*OF_TEXT, Qt.Key.Key_Backspace):
            return None
        if key == Qt.Key.Key_Home:
            return partial(self.go, 0)
        if key == Qt.Key.Key_End:
            return partial(self.go, len(self._current.lecture.scenes) - 1)
        if key == Qt.Key.Key_Escape:
            return self.end
        if key in ONWARD or key in BACKWARD:
            return partial(self.step, 1 if key in ONWARD else -1)
        return None

    def _take_keyboard(self) -> None:
        """Let no part of the page have the keyboard, nor a ring around it."""
        self.zoom.drop_focus()
        self.bar.setFocus(Qt.FocusReason.OtherFocusReason)

    def _focused(self) -> QWidget | None:
        """Return what has the keyboard, also among enlarged pages."""
        held = self.window.focusWidget()
        return self._main.pages.focusWidget() if held is self.zoom else held

    def _resize(self, by: int) -> None:
        place = SIZES.index(self.percent if by < 0 else self._wanted or self.percent) + by
        self.set_size(SIZES[min(max(place, 0), len(SIZES) - 1)])
