"""All there is of lectures in a window: keeping a scene, the editor, the lecture on screen, its export."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app import words
from app.lectures import find
from app.lectures.editor import LectureEditor, either
from app.lectures.export_dialog import LectureExportDialog
from app.lectures.keep_dialog import KeepDialog
from app.lectures.lecture import BEFORE, SUFFIX
from app.lectures.open_lecture import OpenLecture
from app.lectures.player import LecturePlayer, LectureWindow
from app.look.error_dialog import show_error
from app.look.files import ask_file
from app.look.labels import PART
from app.page_stack import is_kept
from app.pages.inside.kept_page import KeptPage
from app.work.page_state import SceneValues, texts_of
from engine.errors import UserError, marked

LONGEST_SUGGESTION = 80  # characters


class Lectures(QObject):
    """The lecture in hand, and what is done with it."""

    def __init__(self, main: LectureWindow) -> None:
        super().__init__(cast(QObject, main))
        self._main = main
        self.current = OpenLecture(main.session, self)
        self.player = LecturePlayer(main, self.current, self)
        self.editor: LectureEditor | None = None
        self._then: Callable[[], object] | None = None  # as soon as the lecture is open
        self.current.refused.connect(self._refuse)
        self.current.opened.connect(self._opened)

    @property
    def window(self) -> QWidget:
        return cast(QWidget, self._main)

    @property
    def _front(self) -> QWidget:
        """The window that a person is in."""
        return self.editor if self.editor is not None and self.editor.isVisible() else self.window

    # ---- keeping

    @property
    def page_here(self) -> KeptPage[Any]:
        """The open page. Raises: UserError: it is none that can be kept."""
        page = self._main.page(self._main.current_page)
        if isinstance(page, KeptPage):
            return page
        said = marked("engine", "This page cannot be kept as a scene. Go to {pages}.")
        raise UserError(said, pages=either(self._titles))

    @property
    def _titles(self) -> dict[str, str]:
        """What the pages are called that can be kept."""
        return {key: title for key, title in self._main.titles.items() if is_kept(key)}

    def ask_to_keep(self, place: int | None = None) -> None:
        """Ask for title and sentence, and keep the open page. Args: place: in the lecture; None: the end."""
        if self.current.is_reading:  # as the window begins
            self._then = partial(self.ask_to_keep, place)
            return
        try:
            shown = self.page_here.as_scene()
        except UserError as error:
            self._refuse(error)
            return
        count = len(self.current.lecture.scenes)
        at = count if place is None else place
        dialog = KeepDialog(self._suggested(shown), at + 1, self.current.lecture.title, self._front)
        dialog.kept.connect(partial(self._keep, self._main.current_page, shown, place))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _keep(self, page: str, shown: SceneValues, place: int | None, title: str, sentence: str) -> None:
        self.current.keep(title, sentence, page, shown, place)

    def _suggested(self, shown: SceneValues) -> str:
        """Return a title for what is shown: its picture's, and its text."""
        page = self.page_here
        figures = page.figures_shown()
        name = figures[0].title if figures else ""
        name = name or page.header.title_label.text()
        text = PART.join(" ".join(one.split()) for one in texts_of(shown) if one.strip())
        return words.shorten(words.captioned(name, text) if text else name, LONGEST_SUGGESTION)

    # ---- the editor

    def edit(self) -> None:
        """Open the editor beside the window."""
        if self.editor is None:
            self.editor = LectureEditor(self.current, self._titles, self.window)
            self.editor.add_wanted.connect(self.ask_to_keep)
            self.editor.show_wanted.connect(self.start)
            self.editor.look_wanted.connect(self.look_at)
            self.editor.export_wanted.connect(self.export)
        self.editor.show()
        self.editor.raise_()
        self.editor.activateWindow()

    def look_at(self, place: int) -> None:
        """Show a scene on its page, in the window as it is."""
        scene = self.current.lecture.scenes[place]
        lacking = find.lacking(scene, self.current.found)
        if lacking or not is_kept(scene.page):
            said = marked("engine", "“{name}” is not on this computer, so this scene cannot be shown.")
            self._refuse(UserError(said, name=lacking[0].name if lacking else scene.page))
            return
        self._main.show_page(scene.page)
        try:
            self.page_here.show_scene(find.values_of(scene, self.current.found))
        except UserError as error:
            self._refuse(error)

    # ---- on screen

    def start(self, place: int = 0) -> None:
        """Show the lecture from a scene on; without one, the editor says how it gets scenes."""
        if self.current.is_reading:  # as the window begins
            self._then = partial(self.start, place)
            return
        if not self.current.lecture.scenes:
            self.edit()
            return
        if self.editor is not None:
            self.editor.hide()
        self.player.start(place)

    def start_here(self) -> None:
        """Show the lecture from the scene that is chosen in the editor."""
        self.start(max(0, self.editor.place) if self.editor is not None else 0)

    def open(self, path: Path, *, starts: bool = False) -> None:
        """Open a lecture, and show it at once where that is wanted; scenes that are not saved are
        asked about.
        """
        if self.current.is_changed and self.current.lecture.scenes:
            self.edit()
            assert self.editor is not None  # made there
            self.editor.ask_to_leave(partial(self._open, path, starts))
        else:
            self._open(path, starts)

    def _open(self, path: Path, starts: bool) -> None:
        self._then = self.start if starts else None
        self.current.open(path)

    def _opened(self) -> None:
        then, self._then = self._then, None
        if then is not None:
            then()

    def ask_to_open(self) -> None:
        """Ask for a lecture's file."""
        recent = self.current.recent
        ask_file(
            self.window,
            self.tr("Open a lecture"),
            lambda path: self.open(Path(path), starts=True),
            name="lecture_open_dialog",
            start=recent[0].parent if recent else Path.home(),
            filters=[self.tr("Lectures (*{suffix})").format(suffix=f"{SUFFIX} *{BEFORE}")],
        )

    def export(self) -> None:
        """Ask where to, and export the lecture's figures."""
        dialog = LectureExportDialog(self._main.session, self.current, self._front)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def close(self) -> None:
        """End what is shown, before the window goes."""
        self.player.end()
        if self.editor is not None:
            self.editor.close()

    def _refuse(self, error: BaseException) -> None:
        self._then = None
        show_error(error, self._front)
