"""The Label page: one text in the middle and a key for each label, while a model learns along.

A key writes the label and brings the next text at once, from what was chosen before; what the model makes of
the new label is heard a moment later, and changes the suggestion and what comes after.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.look.banner import Banner
from app.look.layout import stacked
from app.look.pending import Pending
from app.look.widgets import EmptyState, button
from app.pages.label.answering import Answering
from app.pages.label.column_offer import ColumnOffer
from app.pages.label.handover import Handover
from app.pages.label.keys import PageKey, press
from app.pages.label.learner import Learner
from app.pages.label.requests import MOST_PIECES
from app.pages.label.review import Review
from app.pages.label.state import LabelState
from app.pages.label.walk import AGAIN, SOUGHT, TextWalk
from app.pages.label.work import LabelWork
from app.pages.stated_page import StatedPage
from app.session import Session
from app.work.texts_read import TableTexts, TextsRead
from engine.errors import UserError, marked
from engine.labelling.columns import ColumnLabels
from engine.labelling.kinds import LabelKind
from engine.labelling.order import Choice

if TYPE_CHECKING:
    from engine.doctor.suspected import DoubtfulLabels

PAINTED_MS = 25  # after a key, until the next text is on screen and all else may follow


class LabelPage(StatedPage[LabelState]):
    """What a person does, and what follows from it."""

    state_kind = LabelState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("label_page")
        self.header.title_label.setText(self.tr("Label"))
        self.session, self.labels = session, session.labels
        self.learner = Learner(session, self)
        self.walk = TextWalk(self.labels, self.learner)
        self.handover = Handover(session, self.learner, self)
        self.offer = ColumnOffer(session, self)
        self._after = QTimer(self, singleShot=True, interval=PAINTED_MS)
        self._after.timeout.connect(self._catch_up)
        self._make_parts()
        self._connect()
        self._show_kind()
        self._take_table()

    # ---- building

    def _make_parts(self) -> None:
        handover = self.handover
        self.save_button = button(self.tr("Save as table…"), name="label_save", call=handover.save)
        self.tune_button = button(
            self.tr("Fine-tune"), "primary", name="label_finetune", call=handover.finetune
        )
        for action in (self.save_button, self.tune_button):
            self.header.add_action(action)
        self.keys_button = button(
            self.tr("Show or hide the keys"), name="label_show_keys", call=self.toggle_keys
        )
        self.header.add_more(self.keys_button)
        self.banner = Banner(name="label_banner")
        self.work = LabelWork(self.session, self.learner, self.walk, self)
        self.codebook, self.card, self.queue = self.work.codebook, self.work.card, self.work.queue
        self.keys = self.work.keys
        self.answering = Answering(self.labels, self.learner, self.walk, self.work, self)
        self._keys, self._keys_for = self._declared_keys(), (self.labels.kind, 0)
        self.keys.show_keys(self._keys)
        self.empty = EmptyState(
            self.tr("No table is open. A table with a column of texts is enough; labels are given here."),
            self.tr("Open a table"),
        )
        self.empty.setObjectName("label_empty")
        self.review = Review(self.session, self.learner, self)
        self.shown = stacked(self.work, self.review)
        self.views = Pending(self.shown, self.empty, name="label")
        self.body.addWidget(self.banner)
        self.body.addWidget(self.views, 1)

    def _declared_keys(self) -> tuple[PageKey, ...]:
        answering = self.answering
        return (
            *answering.keys(),
            PageKey("skip", "S", self.tr("skip"), answering.skip, ("S",)),
            PageKey("undo", "U", self.tr("undo"), answering.undo, ("U", "Ctrl+Z"), is_repeated=True),
            PageKey("back", "B", self.tr("back"), self.go_back, ("B",)),
            PageKey("note", "N", self.tr("note"), self.card.begin_note, ("N",)),
            PageKey("like", "M", self.tr("more like this"), self.more_like, ("M",)),
            PageKey("search", "/", self.tr("search"), self.search, ("/",)),
            PageKey("keys", "?", self.tr("hide keys"), self.toggle_keys, ("?",)),
            PageKey("new", "A", "", self.codebook.begin_new, ("A",)),
            PageKey("edit", "E", "", self.codebook.toggle_edit, ("E",)),
            PageKey("hide", "Shift+Space", "", self.toggle_suggestions, ("Shift+Space",)),
            PageKey("let_go", "Esc", "", self._let_go, ("Esc",)),
        )

    def _connect(self) -> None:
        session, learner, work, answering = self.session, self.learner, self.work, self.answering
        answering.done.connect(self.take_keys)
        answering.passed.connect(self._pass)
        answering.wanted.connect(self._go_to)
        session.data.roles_changed.connect(self._take_table)
        session.data.mends.changed.connect(self._take_mends)
        learner.mended.connect(self.work.show_text)
        session.inspector.model_changed.connect(self._take_model)
        self.labels.changed.connect(self._labels_changed)
        learner.texts_changed.connect(self._texts_changed)
        learner.changed.connect(self._learner_changed)
        learner.measured.connect(work.show_measures)
        learner.found_like.connect(self._take_like)
        work.accuracy.share_chosen.connect(self.draw_at_random)
        for source in (self.labels, learner, self.handover):
            source.refused.connect(self.refuse)
        self.handover.saved.connect(self._tell_saved)
        self.empty.activated.connect(partial(session.show_page, "data"))
        self.codebook.given.connect(answering.give)
        self.codebook.left.connect(self._leave_codebook)
        self.codebook.unfolded.connect(self._fold)
        self.codebook.kind_chosen.connect(self._choose_kind)
        self.codebook.wanted.connect(self._take_over)
        self.offer.changed.connect(self.codebook.offer_column)
        self.card.given.connect(answering.give_shown)
        self.card.toggled.connect(self.toggle_suggestions)
        self.card.add_wanted.connect(self.codebook.begin_new)
        self.card.edit_wanted.connect(self.codebook.toggle_edit)
        self.card.noted.connect(self._keep_note)
        self.card.typed.connect(answering.type_number)
        self.card.accepted.connect(answering.accept)
        self.card.tags.selected.connect(work.select_words)
        self.card.tags.cleared.connect(answering.clear_tags)
        self.queue.wanted.connect(self._go_to)
        self.queue.sought.connect(work.search)
        self.queue.left.connect(self.take_keys)
        work.model_card.paused.connect(learner.pause)
        session.doctor.changed.connect(self._take_suspected)
        self.review.ended.connect(self.end_review)

    # ---- what is shown, as a value

    @property
    def state(self) -> LabelState:
        table, texts = self.session.data.table, self.learner.texts
        if table is None or texts is None:
            raise UserError(marked("engine", "There is nothing to keep here yet. Open a table first."))
        is_keyed, walk = not self.keys.isHidden(), self.review.walk
        row = self.walk.row if walk is None else walk.row
        return LabelState(table.path, row, self.work.shows_suggestions, is_keyed, review=walk is not None)

    def goes_on_with(self, state: LabelState) -> bool:
        return state.table in (None, self.session.data.path)

    def open_state(self, state: LabelState) -> None:
        if state.table is not None and state.table != self.session.data.path:
            self.session.data.open(state.table)

    def is_open(self, state: LabelState) -> bool:
        is_it = state.table in (None, self.session.data.path)
        return is_it and self.learner.texts is not None and self.labels.is_ready

    def take_state(self, state: LabelState) -> None:
        if self._review(self.session.doctor.suspected if state.review else None):
            self.review.go_to_row(state.row)
            return
        self.work.shows_suggestions = state.suggestions
        self.walk.show_twins(state.suggestions)
        self._show_keys(are_shown=state.keys)
        assert self.learner.texts is not None
        place = self.learner.texts.place(state.row) if state.row >= 0 and not state.review else None
        if place is not None:
            self._go_to(place)
        self.work.show_text()

    def refuse(self, error: BaseException) -> None:
        self.banner.show_text("look", words.say_error(error))

    @property
    def texts_read(self) -> tuple[TextsRead, ...]:
        """The texts, by the model that learns along."""
        about, texts = self.session.inspector.about, self.learner.texts
        if about is None or texts is None or self.learner.is_taught:
            return ()
        columns = TableTexts(texts.table, texts.columns[0], "".join(texts.columns[1:2]))
        length, take = min(MOST_PIECES, about.max_length), self.session.inspector.choose
        return (TextsRead(about.wordpiece, columns, length, take=take),)

    def model_shared(self) -> Path | None:
        return self.learner.known.folder if self.learner.known is not None else None

    # ---- what is open

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        inspector = self.session.inspector
        known = self.session.library.offered() if inspector.folder is None else ()
        if known:
            inspector.hold(known[0].path)
        self._take_model()
        self.offer.look()
        self.take_keys()
        self.take_up()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold()

    def _fold(self) -> None:
        self.work.fold(self.width(), self.height())

    def _take_table(self) -> None:
        self.walk.begin()
        self.queue.end_search()
        self.codebook.end_find()
        self.banner.hide()
        self._take_model()
        self.learner.take_table()

    def _take_mends(self) -> None:
        """Show texts as they are changed; labels stay, and rows that were excluded are asked no more."""
        self.learner.mend()
        self._learn()

    def _take_model(self) -> None:
        inspector = self.session.inspector
        if self.isVisible():
            inspector.open()
            self.learner.take_model(inspector.about)
        self.work.show_model()
        self.reading_changed.emit()

    def _texts_changed(self) -> None:
        self.reading_changed.emit()
        if self.learner.texts is None:
            data = self.session.data
            if data.table is not None and not self.learner.is_looking:
                self.empty.set_text(
                    self.tr("The table has no column of texts yet. Say on Data which one it is.")
                )
            elif data.table is None and data.path is not None:
                self.empty.set_text(
                    self.tr("This file has a form of its own. Open a table with a column of texts.")
                )
            self.save_button.setEnabled(False)
            self.tune_button.setEnabled(False)
            self.views.show_nothing(self.empty)
            return
        self.views.show_answer()
        self._labels_changed()
        self._catch_up()
        self.take_keys()
        self.take_up()

    def _labels_changed(self) -> None:
        """Show the text that is to be labelled now; all else follows once it is painted."""
        if self.learner.texts is None:
            return
        if self.labels.is_ready:
            self._show_kind()
            if self.walk.current is None:
                self.walk.take_next()
            self.work.show_text()
        self._after.start()

    def _catch_up(self) -> None:
        """Show what the labels come to, and have the model learn from them."""
        labelled, texts = self.labels.labelled, self.learner.texts
        if texts is None:
            return
        self.codebook.show_labels(labelled, len(texts.rows))
        if labelled is not None:
            self.work.accuracy.set_random_share(labelled.random_share)
        self._fold()
        self.save_button.setEnabled(self.labels.num_given > 0)
        is_enough = labelled is not None and labelled.kind.can_teach(labelled.given.values())
        self.tune_button.setEnabled(is_enough)
        sample = len(self.handover.held_out())
        kept = self.tr("{count} texts that were drawn at random stay out of training, as its test.")
        said = kept.format(count=words.number(sample)) if sample else ""
        self.tune_button.setToolTip(said if is_enough else words.tr_engine(self.labels.kind.needs))
        if labelled is None:
            return
        self._learn()
        self.work.show_around()
        self.work.show_measures()
        self.work.show_model()
        self.take_up()

    def _learner_changed(self) -> None:
        if self.learner.known is not None and self.learner.learned is None:
            self._learn()
        if self.walk.current is None and self.walk.ahead():  # else all are done, and stay so
            self._labels_changed()
        self.work.show_model()
        self.work.show_suggestions()
        self.work.show_queue()

    def _learn(self) -> None:
        if self.labels.labelled is not None:
            self.learner.learn(self.labels.labelled, self.walk.shown)

    # ---- what a person does

    def _choose_kind(self, kind: LabelKind) -> None:
        labelled = self.labels.labelled
        if labelled is not None and labelled.can_choose_kind and kind is not labelled.kind:
            self.labels.choose_kind(kind)
        self.take_keys()

    def _take_over(self, found: ColumnLabels) -> None:
        """Give the texts the labels that a column has, and tell where they come from."""
        before = self.labels.num_given
        if not self.labels.is_ready or not self.labels.take_over(found):
            return
        self.walk.leave()
        self._labels_changed()
        said = self.tr(
            "{count} labels are taken over from column “{column}”. They teach the model, but are not counted "
            "in the random sample."
        )
        count = words.number(self.labels.num_given - before)
        self.banner.show_text("fine", said.format(count=count, column=words.shorten(found.column, 40)))
        self.take_keys()

    def _pass(self) -> None:
        """Go on from a text that stays as it is."""
        self._labels_changed()
        self.take_keys()

    def go_back(self) -> None:
        """Show the text before this one that has a label or was skipped."""
        place = self.walk.before()
        if place is not None:
            self._go_to(place, AGAIN)

    def _go_to(self, place: int, why: str = SOUGHT) -> None:
        """Show a text that a person wants; what was in view waits."""
        if self.walk.go_to(place, why):
            self.work.show_text()
            self._after.start()
        self.take_keys()

    def more_like(self) -> None:
        """Have the texts most similar to the one in view come next."""
        if self.walk.current is not None and self.labels.labelled is not None:
            self.walk.drop_like()
            self.learner.look_like(self.walk.current.place, self.labels.labelled, self.walk.shown)

    def _take_like(self, found: tuple[Choice, ...]) -> None:
        self.walk.wait_for(found)
        self._after.start()

    def draw_at_random(self, share: float) -> None:
        """Draw another share of the texts that come next at random."""
        labelled = self.labels.labelled
        if labelled is not None and share != labelled.random_share:
            self.labels.draw_at_random(share)

    def search(self) -> None:
        """Look for texts by their words."""
        self.work.begin_search()

    def toggle_suggestions(self) -> None:
        """Hide what the model suggests, or show it."""
        self.work.shows_suggestions = not self.work.shows_suggestions
        self.walk.show_twins(self.work.shows_suggestions)
        self.work.show_text()
        self.work.show_around()

    def toggle_keys(self) -> None:
        """Hide the line of keys, or show it."""
        self._show_keys(are_shown=self.keys.isHidden())

    def _show_keys(self, *, are_shown: bool) -> None:
        for line in (self.keys, self.review.keys):
            line.setVisible(are_shown)

    # ---- suspected labels

    def end_review(self) -> None:
        """Go through all texts again."""
        self._review(None)

    def _review(self, found: DoubtfulLabels | None) -> bool:
        """Go through suspected labels alone; None: through all texts. Returns: whether there are any."""
        is_on = self.review.begin(found)
        self.shown.setCurrentWidget(self.review if is_on else self.work)
        self._show_head()
        self.take_keys()
        return is_on

    def _take_suspected(self) -> None:
        """Go on with the labels that are suspected now; all texts where none are any more."""
        found = self.session.doctor.suspected
        if self.review.walk is not None and self.review.walk.found is not found:
            self._review(found)

    def _show_head(self) -> None:
        """Say what is done here, and offer what can be done with it."""
        kind = self.labels.kind
        for action in (self.save_button, self.tune_button):
            action.setVisible(not self.review.is_on)
        self.save_button.setText(
            self.tr("Save as table…") if kind.is_of_rows else self.tr("Save tagged texts…")
        )
        sentence = self.tr("Label texts by keys. The model learns along and chooses what comes next.")
        if kind.on_learning:
            sentence = self.tr("Answer each text by keys. One click then fine-tunes a model on the answers.")
        if self.review.is_on:
            sentence = self.tr("Keep or change each label by a key. What you decide is a fix on Data.")
        self.header.set_sentence(sentence)

    def _show_kind(self) -> None:
        """Show the keys that there are now."""
        now = (self.labels.kind, len(self.work.numbers()))
        if now != self._keys_for:
            self._keys, self._keys_for = self._declared_keys(), now
            self.keys.show_keys(self._keys)
        self._show_head()

    def take_keys(self) -> None:
        """Give the keyboard to the text, where all keys are heard; before there is a label, to its line."""
        labelled = self.labels.labelled
        if self.isVisible() and self.review.is_on:
            self.review.take_keys()
        elif self.isVisible() and labelled is not None:
            has_any = bool(labelled.names) or not labelled.kind.has_codebook
            self.codebook.is_wanted = self.codebook.is_wanted and not has_any
            (self.card.text_view if has_any else self.codebook.line).setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.review.is_on and self.shown.isVisible() and self.review.press(event):
            return
        held = event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        is_open = self.learner.texts is not None and not self.review.is_on
        is_typed = is_open and not held and self.answering.type(event.text(), is_again=event.isAutoRepeat())
        if not is_typed and not (is_open and press(self._keys, event)):
            super().keyPressEvent(event)

    def _let_go(self) -> None:
        self.work.typed.end()
        self.queue.end_search()
        self.codebook.end_find()
        self.work.show_answer()
        self._leave_codebook()

    def _leave_codebook(self) -> None:
        self._fold()
        self.take_keys()

    def _keep_note(self, note: str) -> None:
        if self.walk.row >= 0 and self.labels.is_ready:
            self.labels.note(self.walk.row, note.strip())
        self.take_keys()

    def _tell_saved(self, path: Path) -> None:
        said = self.tr("Saved as {name}, with {count} labels.")
        if not self.labels.kind.is_of_rows:
            said = self.tr("Saved as {name}: {count} texts with their tags, none that has not been tagged.")
        count = words.number(self.labels.num_given)
        self.banner.show_text("fine", said.format(name=path.name, count=count), closable=True)
