"""The window's own small parts: the settings, the question before closing, the help."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QShowEvent, QStandardItemModel
from PySide6.QtWidgets import (
    QApplication,
    QCheckBox,
    QDialog,
    QHBoxLayout,
    QProgressBar,
    QSizePolicy,
    QWidget,
)

from app import words
from app.language import has_font_for, language_of, own_name
from app.look import theme
from app.look.files import ask_folder
from app.look.inputs import ComboBox, ToolButton
from app.look.labels import ElidedLabel, label, tip
from app.look.layout import STRETCH, column, dialog_buttons, form_rows, row
from app.look.segmented_buttons import SegmentedButtons
from app.look.widgets import (
    CARD_Y,
    DIALOG_MARGINS,
    GAP,
    PAGE_MARGIN,
    button,
    leave_room,
    named,
    set_role,
)
from app.session import Session
from app.settings import TEXT_SIZES
from app.work.training_state import TrainingState
from engine.language import VARIABLE, languages, named_outside

LEAST_SIZE = QSize(960, 600)  # of the window, px


class SettingsButton(ToolButton):
    """Opens what belongs to no page."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        words = self.tr("Settings")
        self.setText(f"\u2002{words}")  # as in the rail above it
        self.setAccessibleName(words)
        self.setObjectName("rail_settings")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(28)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        set_role(self, "nav")
        theme.on_theme_change(self, self._draw)

    def _draw(self) -> None:
        self.setIcon(theme.icon("settings"))


class SettingsDialog(QDialog):
    """Colours, the size of text, the folder for runs, and whether the internet is asked; taken as chosen."""

    help_wanted = Signal()
    language_chosen = Signal()  # that can be taken at once

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("settings_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Settings"))
        self._session = session
        self._themes = self._appearance()
        self._runs = ElidedLabel("", "muted")
        self._runs.setMinimumWidth(260)
        change = button(self.tr("Change…"), name="settings_runs_change", call=self._choose_runs_root)
        offline = QCheckBox(self.tr("Offline: do not download models"))
        self._offline = named(offline, "settings_offline")
        self._offline.setChecked(session.hub.way.offline)
        self._offline.toggled.connect(session.hub.set_offline)
        keys = button(self.tr("Keys and help"), name="settings_help", call=self.accept)
        keys.clicked.connect(self.help_wanted)
        close = button(self.tr("Close"), "primary", name="settings_close", call=self.accept)
        column(
            form_rows(
                (self.tr("Appearance"), row(self._themes, STRETCH)),
                (self.tr("Language"), self._languages()),
                (self.tr("Text size"), self._sizes()),
                (self.tr("Runs folder"), row((self._runs, 1), change)),
                (self.tr("Internet"), self._offline),
                gap=GAP,
                caption_gap=24,
            ),
            row(keys, STRETCH, close),
            gap=PAGE_MARGIN,
            margins=DIALOG_MARGINS,
            parent=self,
        )
        close.setDefault(True)
        self._themes.buttons[theme.mode()].setFocus()
        self._show_runs()

    def _appearance(self) -> SegmentedButtons:
        entries = (
            ("system", self.tr("System"), self.tr("As the system: light or dark, and its high contrast")),
            ("light", self.tr("Light"), ""),
            ("dark", self.tr("Dark"), ""),
            ("contrast", self.tr("High contrast"), self.tr("Black and white, light or dark as the system")),
        )
        buttons = SegmentedButtons("theme", entries)
        buttons.set_current(theme.mode())
        buttons.chosen.connect(self._choose_theme)
        return buttons

    def _languages(self) -> QHBoxLayout:
        """Return the languages by the names that their speakers know, the system's first."""
        self._language = named(ComboBox(), "settings_language", self.tr("Language"))
        self._language.addItem(self.tr("System"), "")
        for language in languages():
            self._language.addItem(own_name(language), language)
            if not has_font_for(language):
                said = self.tr("No font on this computer has its letters. Install one, such as a Noto font.")
                _grey_out_last(self._language, said)
        self._language.choose(self._session.settings.language, or_first=True)
        self._language_later = label(self.tr("at the next start"), "muted", name="settings_language_later")
        self._language_later.hide()
        if named_outside():  # which comes before whatever is chosen here
            self._language.setEnabled(False)
            self._language_later.setText(VARIABLE)
            self._language_later.show()
        self._language.activated.connect(self._choose_language)
        return row(self._language, self._language_later, STRETCH)

    def _choose_language(self) -> None:
        """Take a language: at once, unless a model is in training, which the window would have to end."""
        settings, spoken = self._session.settings, language_of(self._session.settings)
        settings.language = str(self._language.currentData())
        is_other = language_of(settings) != spoken
        is_later = self._session.training.is_running
        self._language_later.setVisible(is_other and is_later)
        if is_other and not is_later:
            self.accept()
            self.language_chosen.emit()

    def _sizes(self) -> QHBoxLayout:
        """Return the sizes, those greyed out for which this screen is too small."""
        self._size = named(ComboBox(), "settings_size", self.tr("Text size"))
        room = QGuiApplication.primaryScreen().availableSize() * (self._session.settings.size_at_start / 100)
        for size in TEXT_SIZES:
            self._size.addItem(self.tr("{size} %").format(size=words.number(size)), size)
            needed = LEAST_SIZE * (size / 100)
            if size > 100 and not (needed.width() <= room.width() and needed.height() <= room.height()):
                said = self.tr("Needs a screen of {width}×{height} pixels")
                text = said.format(width=needed.width(), height=needed.height())
                _grey_out_last(self._size, text)
        self._size.choose(self._session.settings.text_size)
        self._later = label(self.tr("at the next start"), "muted", name="settings_size_later")
        self._size.currentIndexChanged.connect(self._choose_size)
        self._show_later()
        return row(self._size, self._later, STRETCH)

    def _choose_theme(self, mode: str) -> None:
        self._session.settings.theme = mode
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        theme.apply_theme(app, mode)

    def _choose_size(self) -> None:
        self._session.settings.text_size = int(self._size.currentData())
        self._show_later()

    def _show_later(self) -> None:
        settings = self._session.settings
        self._later.setVisible(settings.text_size != settings.size_at_start)

    def _show_runs(self) -> None:
        root = str(self._session.runs.root)
        self._runs.setText(root)
        self._runs.setToolTip(tip(root))

    def _choose_runs_root(self) -> None:
        root = self._session.runs.root
        start = root if root.is_dir() else Path.home()
        title, name = self.tr("Folder for runs"), "runs_root_dialog"
        ask_folder(self, title, self._take_runs_root, name=name, start=start)

    def _take_runs_root(self, folder: str) -> None:
        self._session.runs.set_root(folder)
        self._show_runs()


def _grey_out_last(box: ComboBox, why: str) -> None:
    """Let a box's last line be seen but not chosen, and say why."""
    last, model = box.count() - 1, box.model()
    assert isinstance(model, QStandardItemModel)
    box.setItemData(last, tip(why), Qt.ItemDataRole.ToolTipRole)
    model.item(last).setEnabled(False)


class ClosingDialog(QDialog):
    """Asks what becomes of a training that runs, then shows that it is being saved.

    Args: continues: whether it trains on another computer, and goes on there when the window is closed.
    """

    stop_wanted = Signal()

    def __init__(
        self, state: TrainingState, parent: QWidget | None = None, *, continues: bool = False
    ) -> None:
        super().__init__(parent)
        self.setObjectName("closing_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.is_saving = False
        self._continues = continues
        self.setWindowTitle(self.tr("A model is in training"))
        self.setMinimumWidth(460)
        self._text = label(self._question(state), wrap=True, name="closing_text")
        self._bar = QProgressBar(textVisible=False, minimum=0, maximum=0)
        self._bar.hide()
        keep, stop = self.tr("Keep training"), self.tr("Stop, save and close")
        if state.host:
            keep, stop = self.tr("Keep open"), self.tr("Close")
        self._keep = button(keep, name="closing_keep")
        self._keep.clicked.connect(self.reject)
        self._stop = button(stop, "primary", name="closing_stop")
        self._stop.clicked.connect(self._save)
        buttons = dialog_buttons(accept=self._stop, reject=self._keep)
        column(self._text, self._bar, buttons, gap=CARD_Y, margins=DIALOG_MARGINS, parent=self)
        # wherever the platform puts it: a stray Space must not stop a training
        (self._stop if continues else self._keep).setFocus()
        leave_room(self)

    def _question(self, state: TrainingState) -> str:
        if state.host:
            return self._there_words(state)
        if state.step is None:
            return self.tr("{name} is about to be trained. Stop and close?").format(name=state.name)
        template = self.tr(
            "{name} is in training: step {step} of {total}. If you stop now, what it has "
            "learned is saved, and you can resume it."
        )
        if not state.num_steps:  # minutes or tokens bound it
            template = self.tr(
                "{name} is in training: step {step}, {share} done. If you stop now, what it has "
                "learned is saved, and you can resume it."
            )
        return template.format(
            name=state.name,
            step=words.number(state.step.step),
            total=words.number(state.num_steps),
            share=words.share(state.share, 0),
        )

    def _there_words(self, state: TrainingState) -> str:
        """Return what becomes of a run of another computer."""
        template = self.tr(
            "{name} continues on {host} when you close Cloze. It is followed again when you open it."
        )
        if not self._continues:
            template = self.tr(
                "{name} has not begun on {host} yet. If you close now, nothing is started there."
            )
        elif state.state == "stopping":
            template = self.tr(
                "{name} is being stopped on {host}. What it learned is downloaded when you open Cloze again."
            )
        return template.format(name=state.name, host=state.host)

    def _save(self) -> None:
        self.is_saving = True
        text = self.tr("Saving. The window closes as soon as everything is on disk.")
        self._text.setText(self.tr("Closing…") if self._continues else text)
        self._bar.show()
        self._keep.hide()
        self._stop.hide()
        self.stop_wanted.emit()

    def reject(self) -> None:
        if not self.is_saving:  # Escape must not hide that it is still saving
            super().reject()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not (self.is_saving and event.key() == Qt.Key.Key_Escape):
            super().keyPressEvent(event)


class HelpDialog(QDialog):
    """The way through the window in three steps, and its keys; and the tour."""

    tour_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("help_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Keys and help"))
        way = self.tr(
            "Open a table on the Data page, choose a model and train it on the Fine-tune "
            "page, then use it on the Predict page. The Pretrain page makes a model from "
            "plain text. Tokenizer, Masked words, Attention and Embeddings show what happens "
            "inside any model. Point at a setting to read what it does."
        )
        sentence = label(way, wrap=True)
        sentence.setMinimumWidth(420)
        keys = ((label(key, "strong"), label(meaning, "muted")) for key, meaning in self._keys())
        self._close = button(self.tr("Close"), "primary", name="help_close")
        self._close.clicked.connect(self.accept)
        self._tour = button(self.tr("Take the tour"), name="help_tour")
        self._tour.clicked.connect(self.accept)
        self._tour.clicked.connect(self.tour_wanted)
        column(
            sentence,
            form_rows(*keys, gap=CARD_Y, caption_gap=24),
            row(STRETCH, self._tour, self._close),
            gap=CARD_Y,
            margins=DIALOG_MARGINS,
            parent=self,
        )

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        leave_room(self)
        self._close.setFocus(Qt.FocusReason.OtherFocusReason)

    def _keys(self) -> list[tuple[str, str]]:
        return [
            (
                self.tr("Ctrl+O"),
                self.tr("Open a table. Dropping a file anywhere on the window does the same"),
            ),
            (
                self.tr("Ctrl+1 to Ctrl+9, Ctrl+0"),
                self.tr("The five steps to a model, then the pages that look inside"),
            ),
            (self.tr("Ctrl+Shift+C"), self.tr("Copy what the page shows as a command for a terminal")),
            (self.tr("Ctrl+T"), self.tr("Edit the text that is looked at, on every page")),
            (
                self.tr("Ctrl+Shift+S"),
                self.tr("Save what the page shows as one file for any browser, to send"),
            ),
            (self.tr("Ctrl+P"), self.tr("Search for a page, run, model or table, or an action")),
            (self.tr("Alt+←, Alt+→"), self.tr("Back to the previous place, and forward again")),
            (self.tr("Tab, Shift+Tab"), self.tr("From one control to the next and back")),
            (self.tr("Ctrl+C"), self.tr("Copy the chosen cells or text")),
            (self.tr("Shift+F10"), self.tr("On a picture: save it, or copy its numbers")),
            (
                self.tr("Arrows, Enter"),
                self.tr("In a picture or sentence: move from part to part, choose or hide it"),
            ),
            (self.tr("[ ], PgUp, PgDn"), self.tr("Attention, Step by step: the next head, the next layer")),
            (self.tr("← → ↑ ↓, Shift+← →"), self.tr("Step by step: step, piece; the number worked out")),
            (self.tr("O, Shift+O, Shift+A"), self.tr("Attention: head off or on, layer off or on, all on")),
            (self.tr("F8, Ctrl+F, Ctrl+Z"), self.tr("Data: to the next remark; search; undo a fix")),
            (self.tr("Ctrl+Z, Ctrl+Shift+Z"), self.tr("Masked words: undo a step, redo it")),
            (self.tr("Ctrl+K, Ctrl+L, F5"), self.tr("Keep as a scene, edit the lecture, show it")),
            (self.tr("Ctrl+,"), self.tr("Settings: colours, text size, folder for runs")),
            (self.tr("F1"), self.tr("This help")),
            (self.tr("Ctrl+Q"), self.tr("Close")),
        ]
