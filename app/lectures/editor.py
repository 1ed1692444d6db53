"""The editor of a lecture: its scenes in a list, what is said of each, their order, its file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QListWidget, QMessageBox, QSplitter, QWidget

from app import words
from app.lectures.lecture import BEFORE, LONGEST_SENTENCE, LONGEST_TITLE, SUFFIX, Scene
from app.lectures.open_lecture import OpenLecture
from app.look.files import ask_file, ask_save
from app.look.inputs import LineEdit, TextEdit
from app.look.labels import PART, label
from app.look.layout import STRETCH, column, form_rows, row
from app.look.widgets import GAP, PAGE_MARGIN, Card, button, named
from app.plots.figure_files import file_stem
from app.words import translate
from app.work.page_state import texts_of

SIZE = (860, 560)
LIST_WIDTH = 320
REST_MS = 400  # after the last letter


class LectureEditor(QDialog):
    """Stands beside the window, so that pages can be prepared and added meanwhile.

    Args: titles: of the pages that can be kept, by their keys.
    """

    add_wanted = Signal(object)  # the open page, at a place or at the end (None)
    look_wanted = Signal(int)  # at a scene, in the window
    show_wanted = Signal(int)  # the lecture, from a scene on
    export_wanted = Signal()

    def __init__(
        self, current: OpenLecture, titles: Mapping[str, str], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.setObjectName("lecture_editor")
        self.setWindowFlag(Qt.WindowType.Window)
        self.resize(*SIZE)
        self._current, self._titles = current, titles
        self._editing = -1  # the scene whose words stand in the fields
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._make()
        self._lay_out()
        self._connect()
        self.refresh()

    @property
    def place(self) -> int:
        """The scene that is chosen, from 0; -1 for none."""
        return self.list.currentRow()

    def _make(self) -> None:
        self.title = named(LineEdit(maxLength=LONGEST_TITLE), "lecture_name", self.tr("Title of the lecture"))
        self.title.setPlaceholderText(self.tr("Title of the lecture"))
        self.list = named(QListWidget(), "lecture_scenes", self.tr("Scenes"))
        self.scene_title = named(LineEdit(maxLength=LONGEST_TITLE), "scene_title", self.tr("Title"))
        self.sentence = named(TextEdit(tabChangesFocus=True), "scene_sentence", self.tr("Sentence"))
        self.facts = label("", "muted", wrap=True, name="scene_facts")
        self.file_words = label("", "muted", wrap=True, name="lecture_file")
        said = self.tr(
            "No scenes yet. Go to {pages}, show what you want to speak about, and press “Add "
            "this page” (Ctrl+K)."
        )
        self.empty = label(said.format(pages=either(self._titles)), "muted", wrap=True, name="lecture_empty")
        self.add_button = button(self.tr("Add this page…"), name="scene_add", tool_tip=self.tr("Ctrl+K"))
        self.up_button = button(self.tr("Up"), name="scene_up", tool_tip=self.tr("Ctrl+Up"))
        self.down_button = button(self.tr("Down"), name="scene_down", tool_tip=self.tr("Ctrl+Down"))
        self.delete_button = button(self.tr("Delete"), name="scene_delete", tool_tip=self.tr("Del"))
        self.look_button = button(
            self.tr("Show it"), name="scene_look", tool_tip=self.tr("Show this scene on its page")
        )
        self.new_button = button(self.tr("New"), name="lecture_new", call=self._new)
        self.open_button = button(self.tr("Open…"), name="lecture_open_file", call=self._open)
        self.save_button = button(self.tr("Save"), name="lecture_save", tool_tip=self.tr("Ctrl+S"))
        self.save_as_button = button(self.tr("Save as…"), name="lecture_save_as", call=self.save_as)
        self.export_button = button(
            self.tr("Export…"), name="lecture_export", tool_tip=self.tr("A folder of figures with captions")
        )
        self.start_button = button(self.tr("Show the lecture"), "primary", icon="play", name="lecture_show")

    def _lay_out(self) -> None:
        left, right = Card(self.tr("Scenes")), Card(self.tr("Scene"))
        left.add(self.empty)
        left.add(self.list, 1)
        order = (self.up_button, self.down_button, self.delete_button)
        left.add_layout(row(self.add_button, STRETCH, *order, gap=6))
        fields = ((self.tr("Title"), self.scene_title), (self.tr("Sentence"), self.sentence))
        right.add_layout(form_rows(*fields, role="muted"))
        right.add(self.facts)
        right.add_layout(row(STRETCH, self.look_button))
        both = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False, handleWidth=GAP)
        both.addWidget(left)
        both.addWidget(right)
        both.setSizes([LIST_WIDTH, SIZE[0] - LIST_WIDTH])
        files = (self.new_button, self.open_button, self.save_button, self.save_as_button)
        foot = row(*files, STRETCH, self.export_button, self.start_button, gap=6)
        margins = (PAGE_MARGIN, 16, PAGE_MARGIN, 16)
        column(self.title, (both, 1), self.file_words, foot, gap=GAP, margins=margins, parent=self)

    def _connect(self) -> None:
        self._current.changed.connect(self.refresh)
        self._current.opened.connect(self._choose_first)
        self._current.kept.connect(self._choose_last)
        self.list.currentRowChanged.connect(self._row_changed)
        self.list.itemActivated.connect(self._look)
        self.title.textEdited.connect(self._rest.start)
        self.scene_title.textEdited.connect(self._rest.start)
        self.sentence.textChanged.connect(self._rest.start)
        self._rest.timeout.connect(self.commit)
        self.add_button.clicked.connect(self._add)
        self.up_button.clicked.connect(partial(self._move, -1))
        self.down_button.clicked.connect(partial(self._move, 1))
        self.delete_button.clicked.connect(self._delete)
        self.look_button.clicked.connect(self._look)
        self.save_button.clicked.connect(self.save)
        self.export_button.clicked.connect(self._export)
        self.start_button.clicked.connect(self._start)
        for keys, call in (
            ("Ctrl+Up", partial(self._move, -1)),
            ("Ctrl+Down", partial(self._move, 1)),
            (QKeySequence.StandardKey.Save, self.save),
            ("Ctrl+K", self._add),
            ("F5", self._start),
        ):
            QShortcut(QKeySequence(keys), self).activated.connect(call)
        delete = QShortcut(QKeySequence(QKeySequence.StandardKey.Delete), self.list)
        delete.setContext(Qt.ShortcutContext.WidgetShortcut)
        delete.activated.connect(self._delete)

    # ---- showing

    def refresh(self) -> None:
        """Show the lecture in hand; what is being typed stays."""
        lecture, current = self._current.lecture, self._current
        here = self.place
        names = [f"{n}   {scene.title}" for n, scene in enumerate(lecture.scenes, start=1)]
        if names != [self.list.item(n).text() for n in range(self.list.count())]:
            with QSignalBlocker(self.list):
                self.list.clear()
                self.list.addItems(names)
                self.list.setCurrentRow(min(max(here, 0), len(names) - 1))
        if not self._rest.isActive() and self.title.text() != lecture.title:
            self.title.setText(lecture.title)
        self.empty.setVisible(not names)
        self.list.setVisible(bool(names))
        self._show_scene()
        name = self.tr("Lecture") if current.path is None else current.path.name
        action = self.tr("Edit the lecture")
        self.setWindowTitle(f"{name}{' *' if current.is_changed else ''} – {action}")
        self.file_words.setText(self._file_words())
        for each in (self.save_as_button, self.export_button, self.start_button):
            each.setEnabled(bool(names))
        self.save_button.setEnabled(bool(names) and (current.is_changed or current.path is None))

    def _file_words(self) -> str:
        """Return where the lecture is, and which of its models are not here."""
        current = self._current
        if current.path is None and not current.lecture.scenes:
            return ""
        parts = [self.tr("Not saved in a file yet. It is kept until you save it.")]
        if current.path is not None:
            parts = [str(current.path)]
        elif not current.is_changed and current.lecture.scenes:
            parts = [self.tr("It comes with Cloze. Save it under another name to change it.")]
        lacking = () if current.is_looking else current.lacking
        if lacking:
            names = words.listed(dict.fromkeys(mark.name for mark in lacking))
            parts.append(self.tr("Not on this computer: {names}.").format(names=names))
        return PART.join(parts)

    def _row_changed(self) -> None:
        if self._rest.isActive():  # what was typed is of the scene before
            self.commit()
        self._show_scene()

    def _show_scene(self) -> None:
        scenes, place = self._current.lecture.scenes, self.place
        scene = scenes[place] if 0 <= place < len(scenes) else None
        for each in (self.scene_title, self.sentence, self.delete_button, self.look_button):
            each.setEnabled(scene is not None)
        self.up_button.setEnabled(scene is not None and place > 0)
        self.down_button.setEnabled(scene is not None and place < len(scenes) - 1)
        self.facts.setText("" if scene is None else self._facts(scene))
        if self._rest.isActive():
            return
        self._editing = place
        title, sentence = ("", "") if scene is None else (scene.title, scene.sentence)
        if self.scene_title.text() != title:
            self.scene_title.setText(title)
        if self.sentence.toPlainText() != sentence:
            with QSignalBlocker(self.sentence):
                self.sentence.setPlainText(sentence)

    def _facts(self, scene: Scene) -> str:
        """Return which page, models and text a scene is of."""
        lines = [self._titles.get(scene.page, scene.page)]
        for mark in dict.fromkeys(scene.models.values()):
            said = self.tr("{name}, sha256 {fingerprint}")
            lines.append(said.format(name=mark.name, fingerprint=mark.fingerprint))
        lines += [words.shorten(text, 200) for text in texts_of(scene) if text.strip()]
        return "\n".join(lines)

    def _choose_first(self) -> None:
        self._rest.stop()
        self.list.setCurrentRow(0 if self.list.count() else -1)
        self.refresh()

    def _choose_last(self) -> None:
        self.list.setCurrentRow(self.list.count() - 1)

    # ---- changing

    def commit(self) -> None:
        """Take what is typed into the lecture."""
        self._rest.stop()
        lecture, place = self._current.lecture, self._editing
        if self.title.text().strip() != lecture.title:
            lecture = replace(lecture, title=self.title.text().strip())
        if 0 <= place < len(lecture.scenes):
            scene = lecture.scenes[place]
            title = self.scene_title.text().strip() or scene.title
            sentence = " ".join(self.sentence.toPlainText().split())[:LONGEST_SENTENCE]
            if title != scene.title:
                lecture = lecture.told(place, title=title)
            if sentence != scene.sentence:
                lecture = lecture.told(place, sentence=sentence)
        self._current.take(lecture)

    def _add(self) -> None:
        self.commit()
        self.add_wanted.emit(None)

    def _move(self, by: int, _checked: bool = False) -> None:
        self.commit()
        place = self.place
        moved = self._current.lecture.moved(place, by)
        if moved is not self._current.lecture:
            self._current.take(moved)
            self.list.setCurrentRow(place + by)

    def _delete(self) -> None:
        self.commit()
        if 0 <= self.place < len(self._current.lecture.scenes):
            self._current.take(self._current.lecture.without(self.place))

    def _look(self) -> None:
        if self.place >= 0:
            self.commit()
            self.look_wanted.emit(self.place)

    def _start(self) -> None:
        self.commit()
        self.show_wanted.emit(0)

    def _export(self) -> None:
        self.commit()
        self.export_wanted.emit()

    # ---- files

    def save(self) -> None:
        """Save where the lecture was, or ask where to."""
        self.commit()
        if self._current.path is None:
            self.save_as()
        else:
            self._current.save(self._current.path)

    def save_as(self) -> None:
        """Ask where to, and save."""
        self.commit()
        name = file_stem(self.title.text() or self.tr("Lecture")) + SUFFIX
        recent = self._current.recent
        folder = recent[0].parent if recent else Path.home()
        ask_save(
            self,
            self.tr("Save the lecture"),
            self._current.save,
            name="lecture_save_dialog",
            suggested=self._current.path or folder / name,
            filters=[self.tr("Lectures (*{suffix})").format(suffix=SUFFIX)],
            suffix=SUFFIX.removeprefix("."),
        )

    def _new(self) -> None:
        self.commit()
        self.ask_to_leave(self._current.start_new)

    def _open(self) -> None:
        self.commit()
        self.ask_to_leave(self._ask_for_file)

    def _ask_for_file(self) -> None:
        recent = self._current.recent
        ask_file(
            self,
            self.tr("Open a lecture"),
            self._current.open,
            name="lecture_open_dialog",
            start=recent[0].parent if recent else Path.home(),
            filters=[self.tr("Lectures (*{suffix})").format(suffix=f"{SUFFIX} *{BEFORE}")],
        )

    def ask_to_leave(self, call: Callable[[], object]) -> None:
        """Do what puts another lecture in hand; where this one is not saved, ask before."""
        if not self._current.is_changed or not self._current.lecture.scenes:
            call()
            return
        box = named(QMessageBox(self), "lecture_leave")
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.setText(self.tr("This lecture has scenes that are not saved. Discard them?"))
        leave = box.addButton(self.tr("Discard them"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(self.tr("Keep them"), QMessageBox.ButtonRole.RejectRole)
        leave.clicked.connect(lambda: QTimer.singleShot(0, self, call))
        box.open()

    def closeEvent(self, event: QCloseEvent) -> None:
        self.commit()
        super().closeEvent(event)


def either(titles: Mapping[str, str]) -> str:
    """Return pages in a sentence: one, another or a third."""
    *others, last = titles.values()
    return translate("lectures", "{others} or {last}").format(others=words.listed(others), last=last)
