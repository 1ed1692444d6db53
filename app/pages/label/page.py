"""The Label page: one text in the middle and a key for each label, while a model learns along.

A key writes the label and brings the next text at once, from what was chosen before; what the model makes of
the new label is heard a moment later, and changes the suggestion and what comes after.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QKeyEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app import words
from app.look.banner import Banner
from app.look.files import ask_save
from app.look.layout import column, row
from app.look.pending import Pending
from app.look.widgets import GAP, EmptyState, button
from app.pages.label.codebook import WIDTH, CodebookCard, key_of
from app.pages.label.keys import KeysLine
from app.pages.label.learner import Learner
from app.pages.label.measures import AccuracyCard, ModelCard, SharesCard, right_side
from app.pages.label.queue import QueueCard, QueuedText
from app.pages.label.requests import LabelTexts, search_texts
from app.pages.label.state import LabelState
from app.pages.label.text import NearText, TextCard
from app.pages.run.state import RunPageState
from app.pages.stated_page import StatedPage
from app.plots.label_rows import LabelRow
from app.session import Session
from app.work.labels import COPIES
from app.work.worker import Channel
from engine.errors import UserError, marked
from engine.labelling.journal import GIVE, SKIP, Labelled
from engine.labelling.labelled_table import own_column
from engine.labelling.order import DIFFERENT, RANDOM, SPREAD, UNCERTAIN, WHY, Choice
from engine.labelling.random_sample import LEAST_HELD_OUT, sample_path
from engine.text.roles import Roles

NARROW, LOW = 900, 640  # px of the page below which a column, and the queue, gives way
SOUGHT, AGAIN = "sought", "again"  # why a text is in view that nobody chose for a person
MOST_NEXT = 4
PAINTED_MS = 25  # after a key, until the next text is on screen and all else may follow


class LabelPage(StatedPage[LabelState]):
    """Codebook left, the text in the middle, what all of it brings at the right."""

    state_kind = LabelState

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("label_page")
        self.header.title_label.setText(self.tr("Label"))
        self.header.set_sentence(
            self.tr("Give each text a label by a key. The model learns along and chooses what comes next.")
        )
        self.session, self.labels = session, session.labels
        self.learner = Learner(session, self)
        self._saving, self._searching = (
            Channel(self, session.workers.files),
            Channel(self, session.workers.files),
        )
        self.current: Choice | None = None  # the text in view
        self._after = QTimer(self, singleShot=True, interval=PAINTED_MS)
        self._after.timeout.connect(self._catch_up)
        self._waiting: list[Choice] = []  # texts that a person went away from, the newest last
        self._shows_suggestions = True
        self._make_parts()
        self._lay_out()
        self._connect()
        self._take_table()

    # ---- building

    def _make_parts(self) -> None:
        self.save_button = button(self.tr("Save as table…"), name="label_save", call=self.save)
        self.tune_button = button(self.tr("Fine-tune"), "primary", name="label_finetune", call=self.finetune)
        for action in (self.save_button, self.tune_button):
            self.header.add_action(action)
        self.keys_button = button(
            self.tr("Show or hide the keys"), name="label_show_keys", call=self.toggle_keys
        )
        self.header.add_more(self.keys_button)
        self.banner = Banner(name="label_banner")
        self.codebook = CodebookCard(self.labels)
        self.codebook.setFixedWidth(WIDTH)
        self.card, self.queue = TextCard(), QueueCard()
        self.model_card = ModelCard()
        self.accuracy, self.shares = AccuracyCard(), SharesCard()
        self.keys = KeysLine(
            (
                ("label", self.tr("1–9"), self.tr("label"), self.codebook.begin_new),
                ("accept", self.tr("Enter"), self.tr("accept"), self.accept),
                ("skip", "S", self.tr("skip"), self.skip),
                ("undo", "U", self.tr("undo"), self.undo),
                ("back", "B", self.tr("back"), self.go_back),
                ("note", "N", self.tr("note"), self.card.begin_note),
                ("search", "/", self.tr("search"), self.search),
                ("keys", "?", self.tr("hide keys"), self.toggle_keys),
            )
        )
        self.empty = EmptyState(
            self.tr("No table is open. A table with a column of texts is enough; labels are given here."),
            self.tr("Open a table"),
        )
        self.empty.setObjectName("label_empty")

    def _lay_out(self) -> None:
        self.right = right_side(self.model_card, self.accuracy, self.shares)
        middle = column((self.card, 1), self.keys, self.queue, gap=10)
        self.work = QWidget()
        row(self.codebook, (middle, 1), self.right, gap=GAP, parent=self.work)
        self.views = Pending(self.work, self.empty, name="label")
        self.body.addWidget(self.banner)
        self.body.addWidget(self.views, 1)

    def _connect(self) -> None:
        session, learner = self.session, self.learner
        session.data.roles_changed.connect(self._take_table)
        session.data.mends.changed.connect(self._learn)
        session.inspector.model_changed.connect(self._take_model)
        self.labels.changed.connect(self._labels_changed)
        learner.texts_changed.connect(self._texts_changed)
        learner.changed.connect(self._learner_changed)
        learner.measured.connect(self._show_measures)
        for source in (self.labels, learner):
            source.refused.connect(self.refuse)
        self.empty.activated.connect(partial(session.show_page, "data"))
        self.codebook.given.connect(self.give)
        self.codebook.left.connect(self.take_keys)
        self.card.given.connect(self._give_suggested)
        self.card.toggled.connect(self.toggle_suggestions)
        self.card.noted.connect(self._keep_note)
        self.queue.wanted.connect(self._go_to)
        self.queue.sought.connect(self._search)
        self.queue.left.connect(self.take_keys)
        self.model_card.paused.connect(learner.pause)

    # ---- what is shown, as a value

    @property
    def state(self) -> LabelState:
        table, texts = self.session.data.table, self.learner.texts
        if table is None or texts is None:
            raise UserError(marked("engine", "There is nothing to keep here yet. Open a table first."))
        shown = int(texts.rows[self.current.place]) if self.current is not None else -1
        return LabelState(table.path, shown, self._shows_suggestions, not self.keys.isHidden())

    def goes_on_with(self, state: LabelState) -> bool:
        return state.table in (None, self.session.data.path)

    def open_state(self, state: LabelState) -> None:
        if state.table is not None and state.table != self.session.data.path:
            self.session.data.open(state.table)

    def is_open(self, state: LabelState) -> bool:
        is_it = state.table in (None, self.session.data.path)
        return is_it and self.learner.texts is not None and self.labels.is_ready

    def take_state(self, state: LabelState) -> None:
        self._shows_suggestions = state.suggestions
        self.keys.setVisible(state.keys)
        assert self.learner.texts is not None
        place = self.learner.texts.place(state.row) if state.row >= 0 else None
        if place is not None:
            self._go_to(place)
        self._show_text()

    def refuse(self, error: BaseException) -> None:
        self.banner.show_text("look", words.say_error(error))

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
        self.take_keys()
        self.take_up()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        was_folded = self.codebook.isHidden()
        self._fold()
        if self.codebook.isHidden() != was_folded:
            self._show_suggestions()

    def _fold(self) -> None:
        """Let the codebook and the queue give way where there is no room for them."""
        labelled = self.labels.labelled
        has_labels = labelled is not None and bool(labelled.names)
        needs_codebook = not has_labels or self.codebook.is_editing
        self.codebook.setVisible(not self.is_narrow or needs_codebook)
        self.right.setVisible(not self.is_narrow or not needs_codebook)
        self.queue.setVisible(self.height() >= LOW or self.queue.is_searching)

    @property
    def is_narrow(self) -> bool:
        """Whether the codebook stands in the place of the suggestions."""
        return self.width() < NARROW

    def _take_table(self) -> None:
        self.current, self._waiting = None, []
        self.queue.end_search()
        self.banner.hide()
        self.learner.take_table()

    def _take_model(self) -> None:
        inspector = self.session.inspector
        if self.isVisible():
            inspector.open()
            self.learner.take_model(inspector.about)
        self._show_model()

    def _texts_changed(self) -> None:
        texts = self.learner.texts
        if texts is None:
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
            if self.current is None:
                self._take_next()
            self._show_text()
        self._after.start()

    def _catch_up(self) -> None:
        """Show what the labels come to, and have the model learn from them."""
        labelled, texts = self.labels.labelled, self.learner.texts
        if texts is None:
            return
        self.codebook.show_labels(labelled, len(texts.rows))
        self._fold()
        self.save_button.setEnabled(self.labels.num_given > 0)
        several = labelled is not None and sum(1 for count in labelled.count().values() if count) > 1
        self.tune_button.setEnabled(several)
        sample = len(self._sample_held_out())
        kept = self.tr("{count} texts that were drawn at random stay out of training, as its test.")
        said = kept.format(count=words.number(sample)) if sample else ""
        lacking = self.tr("Fine-tuning needs texts with two different labels.")
        self.tune_button.setToolTip(said if several else lacking)
        if labelled is None:
            return
        self._learn()
        self._show_around()
        self._show_measures()
        self.take_up()

    def _learner_changed(self) -> None:
        if self.learner.known is not None and self.learner.learned is None:
            self._learn()
        if self.current is None and self._ahead():  # else all are done, and stay so
            self._labels_changed()
        self._show_model()
        self._show_suggestions()
        self._show_queue()

    # ---- going from text to text

    @property
    def _shown(self) -> tuple[int, ...]:
        """The places that are in view, or wait to be again."""
        shown = [] if self.current is None else [self.current]
        return tuple(choice.place for choice in (*shown, *self._waiting))

    def _take_next(self) -> None:
        """Have the next text in view: one that waits, else what was chosen last."""
        labelled = self.labels.labelled
        if labelled is None or self.learner.texts is None:
            return
        if self._waiting:
            self.current = self._waiting.pop()
        else:
            ahead = self.learner.ahead(labelled, ())
            self.current = ahead[0] if ahead else None

    def _learn(self) -> None:
        if self.labels.labelled is not None:
            self.learner.learn(self.labels.labelled, self._shown)

    def _go_to(self, place: int, why: str = SOUGHT) -> None:
        """Show a text that a person wants; what was in view waits."""
        if self.current is not None and self.current.place == place:
            self.take_keys()
            return
        found = next((one for one in self._ahead() if one.place == place), Choice(place, why))
        waiting = [one for one in (*self._waiting, self.current) if one is not None and one.place != place]
        self._waiting = [one for one in waiting if one.why != AGAIN]
        self.current = found
        self._show_text()
        self._after.start()
        self.take_keys()

    def _ahead(self) -> list[Choice]:
        labelled = self.labels.labelled
        return [] if labelled is None else self.learner.ahead(labelled, self._shown)

    # ---- what a person does

    def give(self, label: int) -> None:
        """Give the text in view a label, and go on."""
        texts, current = self.learner.texts, self.current
        if texts is None or current is None or not self.labels.is_ready:
            return
        why = current.why if current.why in WHY else ""
        self.current = None
        row_number = int(texts.rows[current.place])
        if not self.labels.give(row_number, label, suggested=bool(self._suggested(current)), why=why):
            self.current = current
        self.take_keys()

    def accept(self) -> None:
        """Give the text in view the label that is suggested first."""
        suggested = self._suggested(self.current)
        if suggested:
            self.give(suggested[0][0])

    def skip(self) -> None:
        """Ask the text in view no more."""
        texts, current = self.learner.texts, self.current
        if texts is not None and current is not None and self.labels.is_ready:
            self.current = None
            if not self.labels.skip(int(texts.rows[current.place])):
                self.current = current

    def undo(self) -> None:
        """Take back what was done last, and show the text that it was done to."""
        entry, texts = self.labels.undo(), self.learner.texts
        if entry is None or texts is None or entry.do not in (GIVE, SKIP):
            return
        place = texts.place(entry.row)
        if place is not None:
            self._go_to(place, entry.why or AGAIN)

    def go_back(self) -> None:
        """Show the text before this one that has a label or was skipped."""
        texts, labelled = self.learner.texts, self.labels.labelled
        if texts is None or labelled is None:
            return
        places = texts.places([*labelled.skipped, *labelled.given])
        done = [int(place) for place in places if place >= 0]
        here = self.current.place if self.current is not None else -1
        at = done.index(here) - 1 if here in done else len(done) - 1
        if at >= 0:
            self._go_to(done[at], AGAIN)

    def search(self) -> None:
        """Look for texts by their words."""
        self.queue.show()
        self.queue.begin_search()

    def toggle_suggestions(self) -> None:
        """Hide what the model suggests, or show it."""
        self._shows_suggestions = not self._shows_suggestions
        self._show_text()
        self._show_around()

    def toggle_keys(self) -> None:
        """Hide the line of keys, or show it."""
        self.keys.setVisible(self.keys.isHidden())

    def take_keys(self) -> None:
        """Give the keyboard to the text, where all keys are heard; before there is a label, to its line."""
        labelled = self.labels.labelled
        if self.isVisible() and labelled is not None:
            (self.card.read if labelled.names else self.codebook.line).setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, held = Qt.Key(event.key()), event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
        plain = {
            Qt.Key.Key_Return: self.accept,
            Qt.Key.Key_Enter: self.accept,
            Qt.Key.Key_S: self.skip,
            Qt.Key.Key_U: self.undo,
            Qt.Key.Key_B: self.go_back,
            Qt.Key.Key_N: self.card.begin_note,
            Qt.Key.Key_A: self.codebook.begin_new,
            Qt.Key.Key_E: self.codebook.toggle_edit,
            Qt.Key.Key_Escape: self._let_go,
        }
        if self.learner.texts is None or held & ~Qt.KeyboardModifier.ShiftModifier:
            super().keyPressEvent(event)
        elif event.text() in ("/", "?"):
            self.search() if event.text() == "/" else self.toggle_keys()
        elif key == Qt.Key.Key_Space and held:
            self.toggle_suggestions()
        elif Qt.Key.Key_1 <= key <= Qt.Key.Key_9 and not held:
            self._give_by_key(key - Qt.Key.Key_1, is_again=event.isAutoRepeat())
        elif key in plain and not held:
            if not event.isAutoRepeat() or key == Qt.Key.Key_U:
                plain[key]()
        else:
            super().keyPressEvent(event)

    def _give_by_key(self, place: int, *, is_again: bool) -> None:
        """Give the label at a place of the codebook; a key that is held gives none twice."""
        names = [*self.labels.labelled.names] if self.labels.labelled is not None else []
        if place < len(names) and not is_again:
            self.give(names[place])

    def _let_go(self) -> None:
        self.queue.end_search()
        self.take_keys()

    def _give_suggested(self, place: int) -> None:
        numbers = self._suggested(self.current) or [(number, 0.0) for number in self._numbers()]
        if place < len(numbers):
            self.give(numbers[place][0])

    def _keep_note(self, note: str) -> None:
        texts, current = self.learner.texts, self.current
        if texts is not None and current is not None and self.labels.is_ready:
            self.labels.note(int(texts.rows[current.place]), note.strip())
        self.take_keys()

    def _search(self, wanted: str) -> None:
        texts = self.learner.texts
        self._searching.drop()
        if texts is None or not wanted:
            self._show_queue()
            return
        self._searching.ask(
            (texts, wanted), partial(search_texts, texts, wanted), heard=self._show_found, again=True
        )

    # ---- showing

    def _numbers(self) -> list[int]:
        return [*self.labels.labelled.names] if self.labels.labelled is not None else []

    def _suggested(self, choice: Choice | None) -> list[tuple[int, float]]:
        """Return labels with their probabilities for a text, the most probable first; none where nothing is
        suggested, or suggestions are hidden.
        """
        learned = self.learner.learned
        if choice is None or learned is None or learned.probabilities is None or not self._shows_suggestions:
            return []
        known = dict(zip(learned.given.labels, learned.probabilities[choice.place].tolist(), strict=True))
        found = [(number, float(known.get(number, 0.0))) for number in self._numbers()]
        return sorted(found, key=lambda pair: -pair[1])

    def _show_text(self) -> None:
        texts, labelled, current = self.learner.texts, self.labels.labelled, self.current
        if texts is None or labelled is None:
            return
        if current is None:
            self.card.show_done(self._done_words(texts, labelled))
        else:
            given = labelled.given.get(int(texts.rows[current.place]))
            line = self.tr("Line {line}").format(line=words.number(texts.line(current.place)))
            reason, why = self._why_words(current)
            if given is not None:
                name = words.shorten(labelled.names[given.label], 40)
                reason, why = self.tr("Labelled {label}").format(label=name), self.tr("again")
            note = labelled.notes.get(int(texts.rows[current.place]), "")
            self.card.show_text(line, texts.text(current.place), reason, why, note)
        self._show_suggestions()

    def _show_around(self) -> None:
        """Show what belongs to the text in view and takes longer than the text."""
        texts, labelled = self.learner.texts, self.labels.labelled
        if texts is not None and labelled is not None:
            self._show_nearest(texts, labelled)
            self._show_queue()

    def _done_words(self, texts: LabelTexts, labelled: Labelled) -> str:
        if not len(texts.rows):
            return self.tr("The column of texts is empty. Choose another one on Data.")
        if labelled.skipped:
            said = self.tr("Every text has a label or was skipped ({count}). B goes back to them.")
            return said.format(count=words.number(len(labelled.skipped)))
        return self.tr("Every text has a label. Fine-tune a model on them, or save the table.")

    def _why_words(self, choice: Choice) -> tuple[str, str]:
        """Return why a text is shown, in a sentence and in a word."""
        short = {
            SPREAD: self.tr("first ones"),
            UNCERTAIN: self.tr("uncertain"),
            DIFFERENT: self.tr("different"),
            RANDOM: self.tr("random"),
        }
        sentence = words.tr_engine(WHY[choice.why]) if choice.why in WHY else ""
        suggested = self._suggested(choice)
        if choice.why == UNCERTAIN and len(suggested) > 1 and self.labels.labelled is not None:
            first, second = (self.labels.labelled.names[number] for number, _share in suggested[:2])
            template = self.tr("Between {first} and {second}")
            sentence = template.format(first=words.shorten(first, 24), second=words.shorten(second, 24))
        return sentence, short.get(choice.why, "")

    def _show_suggestions(self) -> None:
        labelled, current = self.labels.labelled, self.current
        if labelled is None or current is None:
            return
        suggested, counts, keys = self._suggested(current), labelled.count(), self._numbers()
        learned = self.learner.learned
        can_suggest = learned is not None and learned.probabilities is not None
        said = self.tr("The model suggests") if suggested else ""
        if can_suggest and not suggested:
            said = self.tr("Suggestions are hidden")
        folded = self.codebook.isHidden() and bool(keys)
        pairs: list[tuple[int, float | None]] = [*suggested]
        if not suggested and folded:
            pairs = [(number, None) for number in keys]
        if folded:
            said = self.tr("Codebook, most likely first") if suggested else self.tr("Codebook")
        names, rules = labelled.names, labelled.rules
        rows = [
            LabelRow(key_of(keys.index(one)), names[one], rules[one], counts[one], share)
            for one, share in pairs
        ]
        toggle = self.tr("Hide") if suggested else self.tr("Show")
        self.card.show_suggestions(said, rows, has_counts=folded, toggle=toggle if can_suggest else "")

    def _show_nearest(self, texts: LabelTexts, labelled: Labelled) -> None:
        known, current, found = self.learner.known, self.current, list[NearText]()
        if known is not None and current is not None and self._shows_suggestions:
            places = texts.places([*labelled.given])
            for place, cosine in known.nearest(current.place, places[places >= 0].tolist()):
                given = labelled.given[int(texts.rows[place])]
                found.append(NearText(labelled.names[given.label], texts.text(place), cosine))
        self.card.show_nearest(found)

    def _show_queue(self) -> None:
        texts, labelled = self.learner.texts, self.labels.labelled
        if texts is None or labelled is None or self.queue.is_searching:
            return
        ahead = self._ahead()[:MOST_NEXT]
        rows = [self._queued(texts, choice.place, self._why_words(choice)[1]) for choice in ahead]
        closed = texts.places([*labelled.given, *labelled.skipped])
        left = len(texts.rows) - int((closed >= 0).sum())
        self.queue.show_texts(rows, max(0, left - (self.current is not None)))

    def _show_found(self, places: tuple[int, ...]) -> None:
        texts, labelled = self.learner.texts, self.labels.labelled
        if texts is None or labelled is None:
            return
        rows = []
        for place in places:
            given = labelled.given.get(int(texts.rows[place]))
            rows.append(self._queued(texts, place, "" if given is None else labelled.names[given.label]))
        self.queue.show_texts(rows, None)

    def _queued(self, texts: LabelTexts, place: int, why: str) -> QueuedText:
        line = self.tr("line {line}").format(line=words.number(texts.line(place)))
        return QueuedText(place, why, " ".join(texts.text(place)[:2000].split()), line)

    def _show_model(self) -> None:
        learner, inspector = self.learner, self.session.inspector
        self.model_card.show_progress(
            *learner.progress, is_preparing=learner.is_preparing, is_paused=learner.is_paused
        )
        if inspector.refusal is not None:
            self.model_card.show_missing(words.say_error(inspector.refusal))
        elif inspector.folder is None:
            self.model_card.show_missing(self.tr("No model learns along. Texts come at random."))

    def _show_measures(self) -> None:
        labelled, texts, found = self.labels.labelled, self.learner.texts, self.learner.measures
        if labelled is None or texts is None:
            return
        used = sum(1 for count in labelled.count().values() if count)
        self.accuracy.show_measures(found, self.labels.num_given, used, len(texts.rows))
        learned = self.learner.learned
        numbers = learned.given.labels if learned is not None else ()
        names = [labelled.names.get(number, "") for number in numbers]
        self.shares.show_measures(found, names, len(texts.rows))

    # ---- what becomes of the labels

    def save(self) -> None:
        """Ask where the table with its labels is to be written."""
        table = self.session.data.table
        if table is None or not self.labels.is_ready:
            return
        suggested = table.path.with_name(f"{table.path.stem}-labelled.csv")
        ask_save(
            self,
            self.tr("Save the table with its labels"),
            self._save_to,
            name="label_save_dialog",
            suggested=suggested,
            filters=(self.tr("Tables (*.csv *.tsv)"),),
            suffix="csv",
        )

    def _save_to(self, path: str) -> None:
        table = self.session.data.table
        if table is not None and self.labels.is_ready:
            work = self.labels.saving(own_column(table), Path(path))
            self._saving.ask(path, work, heard=self._tell_saved, refused=self.refuse, again=True)

    def _tell_saved(self, path: Path) -> None:
        said = self.tr("Saved as {name}, with {count} labels.")
        self.banner.show_text(
            "fine", said.format(name=path.name, count=words.number(self.labels.num_given)), closable=True
        )

    def finetune(self) -> None:
        """Go to Fine-tune with the labels as a column: of a copy of the table, which lies among the runs. The
        random sample is a file beside it, and the test.
        """
        table, roles = self.session.data.table, self.session.data.roles
        if table is None or roles is None or not self.labels.is_ready:
            return
        folder = self.session.runs.root / COPIES
        stem = table.path.stem.removesuffix("-labelled")
        roles = roles.with_columns(label=own_column(table))
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self.refuse(
                UserError(
                    marked("engine", "{path} could not be written: {reason}."), path=folder, reason=str(error)
                )
            )
            return
        sample = self._sample_held_out()
        work = self.labels.saving(roles.label, folder / f"{stem}-labelled.csv", sample)
        heard = partial(self._tune, roles, bool(sample))
        self._saving.ask(folder, work, heard=heard, refused=self.refuse, again=True)

    def _sample_held_out(self) -> tuple[int, ...]:
        """Return the rows of the random sample where it can be a test; () where it is small, or where the
        other labels would be one and the same.
        """
        texts, labelled = self.learner.texts, self.labels.labelled
        if texts is None or labelled is None:
            return ()
        sample = texts.sample([*labelled.given], [*labelled.skipped])
        others = {entry.label for row, entry in labelled.given.items() if row not in sample}
        return sample if len(sample) >= LEAST_HELD_OUT and len(others) > 1 else ()

    def _tune(self, roles: Roles, has_test: bool, path: Path) -> None:
        session, learned_with = self.session, self.session.inspector.folder
        if session.model.chosen is None and learned_with is not None:
            session.model.choose(str(learned_with))
        session.doctor.remember(path, (sample_path(path),) if has_test else ())
        session.data.open(path, roles=roles)
        self.session.show_page("finetune", RunPageState())
