"""The sentence of the Probe page: its words to click, its text to edit, the questions before it."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app import words
from app.look.labels import tip
from app.look.segmented_buttons import SegmentedButtons
from app.look.widgets import Card, icon_button, named
from app.pages.inside.texts import TextPair
from app.pages.probe.draft import ProbeDraft
from app.pages.probe.history import QuestionHistory
from app.plots.buttons import save_icon
from app.plots.word_chips import MaskableWord, WordChips
from app.session import Session
from engine.text.segmenter import finds_chinese_words, has_chinese
from engine.text.vocabulary import MASK

MOST_IN_MENU = 20
INSTALL = "pip install 'cloze-workbench[chinese]'"
IS_OPEN = "probe_text_is_open"  # in the settings: whether the boxes for the text are shown


class SentenceCard(Card):
    """Chips of the words or pieces; a click hides one. The text itself is edited above them."""

    def __init__(self, session: Session, draft: ProbeDraft, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("probe_sentence")
        self.set_title(self.tr("Sentence"))
        self._draft, self._settings = draft, session.settings
        self._places: list[int] = []  # of each chip: a word's number, or a piece's position
        self.history: QuestionHistory | None = None
        self.texts = TextPair(session, name="probe")
        self.chips = named(WordChips(self.tr("Sentence")), "probe_words")
        self._make_corner()
        self.add(self.texts)
        self.add(self.chips)
        self.edit.setChecked(self._settings.value(IS_OPEN, False))
        self.texts.setVisible(self.edit.isChecked())
        self.chips.word_chosen.connect(self._toggle)
        draft.changed.connect(self.refresh)
        self.refresh()

    def _make_corner(self) -> None:
        pieces = self.tr("Mask single pieces, as the model reads them, instead of whole words")
        self.switch = SegmentedButtons(
            "probe_by",
            (
                ("words", self.tr("Words"), self.tr("A click masks a whole word")),
                ("pieces", self.tr("Pieces"), tip(pieces)),
            ),
        )
        make = partial(icon_button, color="text")
        undo, redo = self._draft.undo, self._draft.redo
        self.undo = make("undo", self.tr("Undo the last step (Ctrl+Z)"), name="probe_undo", call=undo)
        self.redo = make("redo", self.tr("Redo it (Ctrl+Shift+Z)"), name="probe_redo", call=redo)
        shown = self.tr("Show every word again")
        self.clear_button = make("close", shown, name="probe_clear", call=self._draft.clear)
        self.edit = make("edit", self.tr("Show the boxes for the text"), name="probe_edit")
        self.edit.setCheckable(True)
        self.past = make("history", self.tr("Questions asked before"), name="probe_history")
        self.past.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.past_menu = QMenu(self.past)
        self.past_menu.aboutToShow.connect(self._fill_menu)
        self.past.setMenu(self.past_menu)
        self.switch.chosen.connect(self._switched)
        self.edit.toggled.connect(self._show_texts)
        self.edit.clicked.connect(self._edit_clicked)
        for each in (self.switch, self.undo, self.redo, self.clear_button, self.edit, self.past):
            self.add_corner(each)
        self.add_corner(save_icon(self.chips))

    def make_shortcuts(self, page: QWidget) -> None:
        """Let Ctrl+Z and its opposite work anywhere on a page; a box that is typed in keeps its own."""
        for keys, call in (
            ("Ctrl+Z", self._draft.undo),
            ("Ctrl+Shift+Z", self._draft.redo),
            ("Ctrl+Y", self._draft.redo),
        ):
            shortcut = QShortcut(QKeySequence(keys), page)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(call)

    def refresh(self) -> None:
        """Show the question as it stands."""
        draft = self._draft
        self.switch.set_current("pieces" if draft.by_pieces else "words")
        chips = self._piece_chips() if draft.by_pieces else self._word_chips()
        can = draft.about is not None and draft.about.has_masked_words
        self.chips.set_chips(chips, can_hide=can)
        self.chips.setVisible(bool(chips))
        self.chips.set_caption(draft.caption())
        if draft.about is not None and not chips and not self.edit.isChecked():
            self.edit.setChecked(True)
        self.undo.setEnabled(draft.steps.can_undo)
        self.redo.setEnabled(draft.steps.can_redo)
        self.clear_button.setEnabled(bool(draft.question.words or draft.question.pieces))
        self._say_hint(can)

    def _say_hint(self, can: bool) -> None:
        """Say what a click does, and where Chinese words cannot be told from their characters."""
        question = self._draft.question
        lacks = has_chinese(question.text + question.text_pair) and not finds_chinese_words()
        tip_said = self.tr("Chinese words are masked whole with one more package: {command}")
        self.set_hint(
            self.tr("each Chinese character is a word here") if lacks else "",
            tip_said.format(command=INSTALL) if lacks else "",
            deed=self.tr("click a word to mask it") if can else "",
        )

    def _gap_of(self, place: int) -> int:
        """Return the number of the gap that a token is in, 0 for none."""
        masked = self._draft.masked
        gaps = masked.gaps if masked is not None else ()
        return next((number for number, gap in enumerate(gaps, start=1) if place in gap.places), 0)

    def _word_chips(self) -> list[MaskableWord]:
        encoding = self._draft.encoding
        self._places = list(range(len(self._draft.words)))
        chips = []
        for word in self._draft.words:
            about = self._draft.about
            assert encoding is not None and about is not None
            pieces = [encoding.shown[place] for place in word.pieces]
            first = encoding.input_ids[word.pieces[0]]
            note = ""
            if len(pieces) > 1:
                note = self.tr("{count} pieces: {pieces}").format(
                    count=words.number(len(pieces)), pieces=" ".join(pieces)
                )
            elif first == about.wordpiece.unk_id:
                note = self.tr("not in the vocabulary: the model reads {piece}").format(piece=pieces[0])
            gap = next((gap for gap in map(self._gap_of, word.pieces) if gap), 0)
            text = MASK if first == about.wordpiece.mask_id else word.text
            chips.append(MaskableWord(text, word.segment, gap, note=note))
        return chips

    def _piece_chips(self) -> list[MaskableWord]:
        encoding = self._draft.encoding
        if encoding is None:
            return []
        self._places = list(range(len(encoding.shown)))
        return [
            MaskableWord(token, segment, self._gap_of(place), is_special=bool(special))
            for place, (token, segment, special) in enumerate(
                zip(encoding.shown, encoding.token_type_ids, encoding.special_tokens_mask, strict=True)
            )
        ]

    def _toggle(self, index: int) -> None:
        if self._draft.by_pieces:
            self._draft.toggle_piece(self._places[index])
        else:
            self._draft.toggle_word(self._places[index])

    def _switched(self, key: str) -> None:
        self._draft.set_by_pieces(key == "pieces")

    def _show_texts(self, wanted: bool) -> None:
        self.texts.setVisible(wanted)
        if wanted and self.isVisible():
            self.texts.box_a.setFocus()

    def begin_typing(self) -> None:
        """Show the box for the text, with the caret in it and all of it selected."""
        self.edit.setChecked(True)
        self.texts.box_a.setFocus(Qt.FocusReason.OtherFocusReason)
        self.texts.box_a.selectAll()

    def _edit_clicked(self, wanted: bool) -> None:
        self._settings.set_value(IS_OPEN, wanted)

    def _fill_menu(self) -> None:
        self.past_menu.clear()
        asked = self.history.asked if self.history is not None else []
        for number, one in enumerate(asked[:MOST_IN_MENU], start=1):
            text = words.shorten(one.written, 70).replace("&", "&&")
            action = self.past_menu.addAction(f"{text}    {words.shorten(one.guesses, 30)}")
            action.setObjectName(f"probe_past_{number}")
            action.triggered.connect(lambda _=False, question=one.question: self._draft.go(question))
        if not asked:
            self.past_menu.addAction(self.tr("Nothing has been asked of this model yet")).setEnabled(False)
            return
        self.past_menu.addSeparator()
        self.past_menu.addAction(self.tr("Forget these questions"), self._forget)

    def _forget(self) -> None:
        if self.history is not None:
            self.history.clear()
