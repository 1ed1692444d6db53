"""The cards of the Label page, and what each of them shows of the text in view and of all labels."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app import words
from app.look.layout import column, row
from app.look.widgets import GAP
from app.pages.label.answers import Answer, LabelsAnswer, NumberAnswer, TagsAnswer
from app.pages.label.codebook import WIDTH, CodebookCard, key_of
from app.pages.label.keys import KeysLine
from app.pages.label.learn_kinds import LearnedNumbers
from app.pages.label.learner import Learner
from app.pages.label.measures import AccuracyCard, ModelCard, RightSide, SharesCard, SoFar
from app.pages.label.queue import QueueCard, QueuedText
from app.pages.label.requests import LabelTexts, search_texts
from app.pages.label.text import NearText, TextCard
from app.pages.label.typed import TypedNumber
from app.pages.label.walk import SPLIT, TextWalk
from app.plots.label_rows import LabelRow
from app.plots.tagged_words import TaggedStretch
from app.session import Session
from app.work.worker import Channel
from engine.labelling.entry import COLUMN, JournalEntry
from engine.labelling.kinds import ONE_LABEL
from engine.labelling.labelled import Labelled
from engine.labelling.measure import LEAST_SAMPLE
from engine.labelling.order import DIFFERENT, LIKE, RANDOM, SPREAD, UNCERTAIN, WHY, Choice
from engine.model.own_encoder import read_by
from engine.text.numbers import figure
from engine.text.tagged.spans import words_in

NARROW, LOW = 900, 640  # px of the page below which a column gives way, and the queue moves
FOLDED = QSize(752, 470)  # of what is left then, at most
MOST_NEXT = 4
MOST_SUGGESTED = 4  # labels, where the codebook is in view


class LabelWork(QWidget):
    """Codebook left, the text in the middle, what all of it brings at the right."""

    def __init__(self, session: Session, learner: Learner, walk: TextWalk, parent: QWidget) -> None:
        super().__init__(parent)
        self._session, self._labels, self._learner, self._walk = session, session.labels, learner, walk
        self._searching = Channel(self, session.workers.files)
        self.shows_suggestions = True
        self.typed = TypedNumber()
        self._only: tuple[int, ...] = ()  # labels that the text in view is asked for; (): all
        self._marked: tuple[int, ...] = ()
        self.suggested_numbers: list[int] = []  # labels in the card, from top to bottom
        self.codebook = CodebookCard(self._labels)
        self.codebook.setFixedWidth(WIDTH)
        self.card, self.queue, self.keys = TextCard(), QueueCard(), KeysLine()
        self.model_card, self.accuracy, self.shares = ModelCard(), AccuracyCard(), SharesCard()
        self.right = RightSide(self.model_card, self.accuracy, self.shares)
        self._middle = column((self.card, 1), self.keys, self.queue, gap=10)
        row(self.codebook, (self._middle, 1), self.right, gap=GAP, parent=self)

    def minimumSizeHint(self) -> QSize:
        """Return what is needed once all has given way that can: else no window could become so small."""
        return super().minimumSizeHint().boundedTo(FOLDED)

    def fold(self, width: int, height: int) -> None:
        """Let the codebook give way where a page is narrow, and the queue where it is low."""
        was_folded = self.codebook.isHidden()
        labelled = self._labels.labelled
        has_labels = labelled is not None and (bool(labelled.names) or not labelled.kind.has_codebook)
        needs_codebook = not has_labels or self.codebook.is_editing or self.codebook.is_wanted
        is_narrow = width < NARROW
        self.codebook.setVisible(not is_narrow or needs_codebook)
        self.right.setVisible(not is_narrow or not needs_codebook)
        self._place_queue(is_beside=height < LOW)
        if self.codebook.isHidden() != was_folded:
            self.show_suggestions()

    def _place_queue(self, *, is_beside: bool) -> None:
        """Put what comes next below the text, or at the right, where all scrolls."""
        cards = self.right.widget()
        if is_beside == (self.queue.parentWidget() is cards):
            return
        had_keys = self.queue.line.hasFocus()
        beside = cards.layout() if cards is not None else None
        assert isinstance(beside, QVBoxLayout)
        if is_beside:
            beside.insertWidget(beside.count() - 1, self.queue)
        else:
            self._middle.addWidget(self.queue)
        self.queue.set_narrow(is_beside)
        if had_keys:
            self.queue.line.setFocus()

    def begin_search(self) -> None:
        """Give the keyboard to the line to search, in view."""
        self.right.setVisible(True)
        self.queue.begin_search()
        if self.queue.parentWidget() is self.right.widget():
            self.right.ensureWidgetVisible(self.queue.line)

    def numbers(self) -> list[int]:
        """Return the labels by their numbers, in the order of the codebook."""
        return [*self._labels.labelled.names] if self._labels.labelled is not None else []

    def suggested(self, choice: Choice | None) -> list[tuple[int, float]]:
        """Return labels with their probabilities for a text, the most probable first; none where nothing is
        suggested, or suggestions are hidden.
        """
        learned = self._learner.learned
        if choice is None or learned is None or learned.probabilities is None or not self.shows_suggestions:
            return []
        known = dict(zip(learned.given.labels, learned.probabilities[choice.place].tolist(), strict=True))
        found = [(number, float(known.get(number, 0.0))) for number in self.numbers()]
        return sorted(found, key=lambda pair: -pair[1])

    def show_text(self) -> None:
        """Show the text in view, and what is chosen for it."""
        texts, labelled, current = self._learner.texts, self._labels.labelled, self._walk.current
        if texts is None or labelled is None:
            return
        if current is None:
            self.card.show_done(self._done_words(texts, labelled))
            self._only = ()
            self._mark(())
        else:
            row, twin = self._walk.row, self._walk.twin
            self._only = labelled.asked[row].among if row in labelled.asked else ()
            line = self.tr("Line {line}").format(line=words.number(texts.line(current.place)))
            reason, why = self._why_words(current)
            if row in labelled.given:
                reason, why = self._labelled_words(labelled.given[row]), self.tr("again")
            elif self._only:
                reason = self._split_words(self._only)
            elif twin is not None:
                reason = self._twin_words(twin)
            note = labelled.notes.get(row, "")
            if isinstance(self._walk.answer, TagsAnswer):
                self.card.show_tags(line, reason, why, note)
            else:
                self.card.show_text(line, texts.text(current.place), reason, why, note)
        self.codebook.show_only(self._only)
        self.show_suggestions()
        self.show_answer(is_first=True)

    def show_answer(self, *, is_first: bool = False) -> None:
        """Show what is chosen for the text in view. Args: is_first: whether the text was another before."""
        labelled, answer = self._labels.labelled, self._walk.answer
        if labelled is None or answer is None:
            return
        could_be = self.typed.could_be(len(labelled.names))
        chosen = [self.numbers()[place] for place in could_be] or [*answer.chosen]
        self._mark(chosen)
        self.card.show_chosen(self._typed_words(could_be) or self._chosen_words(answer))
        self.card.show_number(answer.entry.text if isinstance(answer, NumberAnswer) else None)
        if isinstance(answer, TagsAnswer):
            self._show_tags(answer, labelled, is_first=is_first)

    def _show_tags(self, answer: TagsAnswer, labelled: Labelled, *, is_first: bool) -> None:
        pieces, names = words_in(answer.text), labelled.names
        tags = [TaggedStretch(start, stop, names.get(one, "?")) for start, stop, one in answer.entry.spans]
        plot = self.card.tags
        plot.show_text(answer.text, pieces, tags, [*names.values()])
        if answer.open_span is not None:
            start, stop, _label = answer.open_span
            inside = [place for place, piece in enumerate(pieces) if start <= piece[0] < stop]
            plot.select(inside[0], inside[-1])
        elif is_first and pieces:
            plot.select(0, 0)

    def select_words(self, first: int, last: int) -> None:
        """Take what a person selected in the text in view. Args: first, last: words by their places."""
        answer = self._walk.answer
        if isinstance(answer, TagsAnswer):
            pieces = words_in(answer.text)
            answer.selected = pieces[first][0], pieces[last][1]
            self._mark(answer.chosen)

    def _mark(self, labels: Sequence[int]) -> None:
        """Mark labels in the codebook, wherever it stands."""
        self._marked = tuple(labels)
        self.codebook.show_chosen(labels)
        places = [place for place, number in enumerate(self.suggested_numbers) if number in labels]
        self.card.plot.mark_rows(places)

    def _chosen_words(self, answer: Answer) -> str:
        if isinstance(answer, LabelsAnswer):
            if not answer.chosen:
                return self.tr("None chosen. Enter says that no label fits.")
            return self.tr("Chosen: {labels}").format(labels=self._names(answer.chosen))
        if isinstance(answer, TagsAnswer) and answer.open_span is not None:
            return self.tr("This label was split. Say which one the marked words have.")
        return ""

    def _typed_words(self, places: Sequence[int]) -> str:
        """Return what the digits that were typed could still become."""
        if not places:
            return ""
        return self.card.typed_words(self.typed.digits, self._names([self.numbers()[places[0]]]))

    def _names(self, labels: Sequence[int]) -> str:
        names = self._labels.labelled.names if self._labels.labelled is not None else {}
        return words.listed(words.shorten(names[one], 40) for one in dict.fromkeys(labels))

    def _labelled_words(self, entry: JournalEntry) -> str:
        """Return what a text has, and who says so where a column does."""
        said = self.tr("Labelled {label}").format(label=self._given_words(entry))
        if entry.why == COLUMN:
            template = self.tr("{said}, by column “{column}”")
            said = template.format(said=said, column=words.shorten(entry.who, 30))
        return said

    def _twin_words(self, entry: JournalEntry) -> str:
        said = self.tr("Same text as before: {label}. Enter repeats it.")
        return said.format(label=self._given_words(entry))

    def _given_words(self, entry: JournalEntry) -> str:
        """Return what was given, in a few words."""
        if not self._labels.kind.has_codebook:
            return entry.text.replace("-", "−")
        return self._names(self._labels.kind.labels_in(entry)) or self.tr("none")

    def _split_words(self, among: Sequence[int]) -> str:
        return self.tr("Its label was split: {labels}").format(labels=self._names(among))

    def show_around(self) -> None:
        """Show what belongs to the text in view and takes longer than the text."""
        texts, labelled = self._learner.texts, self._labels.labelled
        if texts is not None and labelled is not None:
            self._show_nearest(texts, labelled)
            self.show_queue()

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
            SPLIT: self.tr("split"),
            LIKE: self.tr("similar"),
            RANDOM: self.tr("random"),
        }
        sentence = words.tr_engine(WHY[choice.why]) if choice.why in WHY else ""
        if choice.why == RANDOM and not self._labels.kind.is_measured:
            sentence = ""
        suggested = self.suggested(choice)
        is_one = self._labels.kind is ONE_LABEL
        if choice.why == UNCERTAIN and is_one and len(suggested) > 1 and self._labels.labelled is not None:
            first, second = (self._labels.labelled.names[number] for number, _share in suggested[:2])
            template = self.tr("Between {first} and {second}")
            sentence = template.format(first=words.shorten(first, 24), second=words.shorten(second, 24))
        return sentence, short.get(choice.why, "")

    def show_suggestions(self) -> None:
        """Show what the model suggests for the text in view, and the codebook where that has no room."""
        labelled, current, learned = self._labels.labelled, self._walk.current, self._learner.learned
        if labelled is None or current is None:
            return
        suggested, number = self.suggested(current), self._suggested_number(current)
        is_there = learned is not None and (learned.probabilities is not None or number is not None)
        said = self.tr("The model suggests") if suggested else ""
        if is_there and not suggested:
            said = self.tr("The model suggests {number}").format(number=number)
        if is_there and not self.shows_suggestions:
            said = self.tr("Suggestions are hidden")
        folded = self.codebook.isHidden() and bool(labelled.names)
        pairs: list[tuple[int, float | None]] = [*suggested]
        if folded:
            said = self.tr("Codebook, most likely first") if suggested else self.tr("Codebook")
            pairs = pairs or [(one, None) for one in labelled.names]
        pairs = [pair for pair in pairs if not self._only or pair[0] in self._only]
        pairs = pairs if folded else pairs[:MOST_SUGGESTED]
        self.suggested_numbers = [one for one, _share in pairs]
        toggle = self.tr("Hide") if self.shows_suggestions else self.tr("Show")
        rows = self._label_rows(labelled, pairs)
        self.card.show_suggestions(said, rows, has_counts=folded, toggle=toggle if is_there else "")
        self._mark(self._marked)

    @staticmethod
    def _label_rows(labelled: Labelled, pairs: Sequence[tuple[int, float | None]]) -> list[LabelRow]:
        """Return labels, each with how probable it is, as the card shows them."""
        counts, keys = labelled.count() if pairs else {}, [*labelled.names]
        rows = list[LabelRow]()
        for one, share in pairs:
            place = keys.index(one)
            hue = None if labelled.kind.is_of_rows else place
            rows.append(
                LabelRow(key_of(place), labelled.names[one], labelled.rules[one], counts[one], share, hue)
            )
        return rows

    def _suggested_number(self, choice: Choice) -> str | None:
        """Return the number that the model suggests for a text; None: it suggests none."""
        learned = self._learner.learned
        if not isinstance(learned, LearnedNumbers) or learned.numbers is None:
            return None
        spread = float(np.ptp(learned.numbers))
        return figure(float(learned.numbers[choice.place]), spread, 2).replace("-", "−")

    @property
    def is_suggesting(self) -> bool:
        """Whether a suggestion for the text in view is shown."""
        current = self._walk.current
        if current is None or not self.shows_suggestions:
            return False
        is_said = self._suggested_number(current) is not None or self._walk.twin is not None
        return bool(self.suggested(current)) or is_said

    def _show_nearest(self, texts: LabelTexts, labelled: Labelled) -> None:
        known, current, found = self._learner.known, self._walk.current, list[NearText]()
        if known is not None and current is not None and self.shows_suggestions:
            places = texts.places([*labelled.given])
            for place, cosine in known.nearest(current.place, places[places >= 0].tolist()):
                given = labelled.given[int(texts.rows[place])]
                found.append(NearText(self._given_words(given), texts.text(place), cosine))
        self.card.show_nearest(found)

    def show_queue(self) -> None:
        texts, labelled = self._learner.texts, self._labels.labelled
        if texts is None or labelled is None or self.queue.is_searching:
            return
        ahead = self._walk.coming[:MOST_NEXT]
        rows = [self._queued(texts, choice.place, self._why_words(choice)[1]) for choice in ahead]
        closed = texts.places([*labelled.given, *labelled.skipped])
        left = len(texts.rows) - int((closed >= 0).sum())
        self.queue.show_texts(rows, max(0, left - (self._walk.current is not None)))

    def search(self, wanted: str) -> None:
        """Show the texts that hold some words; "": what comes next."""
        texts = self._learner.texts
        self._searching.drop()
        if texts is None or not wanted:
            self.show_queue()
            return
        self._searching.ask(
            (texts, wanted), partial(search_texts, texts, wanted), heard=self._show_found, again=True
        )

    def _show_found(self, places: tuple[int, ...]) -> None:
        texts, labelled = self._learner.texts, self._labels.labelled
        if texts is None or labelled is None:
            return
        rows = []
        for place in places:
            given = labelled.given.get(int(texts.rows[place]))
            rows.append(self._queued(texts, place, "" if given is None else self._given_words(given)))
        self.queue.show_texts(rows, None)

    def _queued(self, texts: LabelTexts, place: int, why: str) -> QueuedText:
        line = self.tr("line {line}").format(line=words.number(texts.line(place)))
        return QueuedText(place, why, " ".join(texts.text(place)[:2000].split()), line)

    def show_model(self) -> None:
        learner, inspector = self._learner, self._session.inspector
        about = inspector.about
        self.model_card.show_progress(
            *learner.progress,
            is_preparing=learner.is_preparing,
            is_paused=learner.is_paused,
            read_by=words.sentences(map(words.say, read_by(about.encoder_name if about is not None else ""))),
        )
        if inspector.refusal is not None:
            self.model_card.show_missing(words.say_error(inspector.refusal))
        elif learner.is_taught:
            self.model_card.show_missing(
                self.tr(
                    "The model in hand was trained on a table of this name, perhaps on these labels, so they "
                    "cannot measure it. Texts come at random until you choose another model above."
                )
            )
        elif inspector.folder is None:
            self.model_card.show_missing(self.tr("No model learns along. Texts come at random."))
        elif self._labels.kind.on_learning and not learner.is_preparing:
            self.model_card.show_missing(words.tr_engine(self._labels.kind.on_learning))

    def show_measures(self) -> None:
        labelled, texts, found = self._labels.labelled, self._learner.texts, self._learner.measures
        if labelled is None or texts is None:
            return
        num_open = len(texts.rows) - len(labelled.taken_over)  # of which a sample can be drawn
        is_measured = labelled.kind.is_measured and num_open >= min(LEAST_SAMPLE, len(texts.rows))
        self.accuracy.setVisible(is_measured)
        if not is_measured:
            self.shares.hide()
            return
        used = sum(1 for count in labelled.count().values() if count)
        so_far = SoFar(self._labels.num_given, used, len(self._learner.sample(labelled)), len(texts.rows))
        self.accuracy.show_measures(found, so_far, is_preparing=self._learner.is_preparing)
        learned = self._learner.learned
        numbers = learned.given.labels if learned is not None else ()
        names = [labelled.names.get(number, "") for number in numbers]
        self.shares.show_measures(found, names, so_far)
