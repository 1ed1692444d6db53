"""Questions on the Predict page: one that is typed with its passage above, a whole file's below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app import words
from app.look.inputs import LineEdit, TextEdit
from app.look.labels import ElidedLabel, label, tip
from app.look.layout import column, row, stacked
from app.look.segmented_buttons import FoldingButtons
from app.look.widgets import EmptyState, named
from app.pages.tasks.answers import AskCard, FileAnswersCard, TaskAnswers
from app.pages.tasks.questions.listing import QuestionList, shaded
from app.pages.tasks.questions.passages import of_pieces, words_of
from app.pages.tasks.questions.requests import OpenAnswerer, read_file
from app.pages.tasks.scores import ROOM
from app.plots.bars import BarsPlot
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.passage import LINE, PassagePlot
from app.work.worker import Channel
from engine.events import Evaluated, Event, Predicted
from engine.train.run.records import count_of

if TYPE_CHECKING:
    from app.session import Session
    from engine.text.questions.question import PassageTable
    from engine.train.tasks.questions.predict import Reply

translate = QCoreApplication.translate

MOST_CANDIDATES = 8
LIST_WIDTH, LEAST_LIST = 280, 190  # px of the other answers
NARROW, BESIDE_PASSAGE = 560, 195  # px: a card's width, and what of its height is not the passage's
MOST_LINES = 9  # of the passage


class QuestionAskCard(AskCard):
    """A passage and a question; the answer stands in the passage, the others beside it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("answer_note", parent)
        self.setObjectName("ask_card")
        self.set_title(self.tr("One question"))
        self.question = named(
            LineEdit(placeholderText=self.tr("Ask something that the passage answers.")),
            "question",
            self.tr("Question"),
        )
        self.passage = named(
            TextEdit(placeholderText=self.tr("Type or paste the passage here."), tabChangesFocus=True),
            "passage",
            self.tr("Passage"),
        )
        self.passage.setMinimumHeight(56)
        self.answer = named(ElidedLabel("", "strong"), "answer_text")
        self.sure = label("", "muted", name="answer_sureness")
        self.view_choice = FoldingButtons(
            "passage_view",
            self.tr("Shade"),
            (
                ("answer", self.tr("Answer"), self.tr("How likely each word belongs to the answer")),
                ("start", self.tr("Begins"), self.tr("How likely the answer begins at each word")),
                ("end", self.tr("Ends"), self.tr("How likely the answer ends at each word")),
            ),
            room=ROOM,
        )
        self.picture = named(PassagePlot(self.tr("The passage with its answer")), "answered_passage")
        self.others = named(BarsPlot(self.tr("Candidate answers")), "other_answers")
        yield_to_layout(self.others, 70)
        self.others.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored)
        self.others.setFixedWidth(LIST_WIDTH)
        typed = column(self.question, (self.passage, 1))
        self.body.addLayout(row((typed, 1), self.others, gap=16), 1)
        self.body.addLayout(row((self.answer, 1), self.sure, gap=16))
        self.add(self.note)
        self.add(self.picture)
        self.add_corner(self.view_choice)
        self._save = save_icon(self.picture)
        self.add_corner(self._save)
        self._reply: Reply | None = None
        self.view_choice.chosen.connect(self._draw)
        self.question.textChanged.connect(self.typed)
        self.passage.textChanged.connect(self.typed)
        self.question.returnPressed.connect(self.entered)
        self.show_nothing()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.others.setFixedWidth(LIST_WIDTH if self.width() > NARROW else LEAST_LIST)
        lines = min(MOST_LINES, max(2, (self.height() - BESIDE_PASSAGE) // LINE))
        if lines != self.picture.most_lines:
            self.picture.most_lines = lines
            self.picture.place()

    def texts(self) -> tuple[str, str]:
        """Return the question and the passage as they are typed."""
        return self.question.text(), self.passage.toPlainText()

    def set_texts(self, text: str, second: str = "") -> None:
        self.question.setText(text)
        self.passage.setPlainText(second)

    def show_nothing(self) -> None:
        """Show no answer."""
        self._reply = None
        self.answer.setText("")
        self.show_note(self.tr("The answer appears here, and where it is in the passage."))
        for part in self._of_answer():
            part.hide()

    def show_reply(self, reply: Reply, model: str) -> None:
        """Show an answer, how sure it is, and the others."""
        self._reply = reply
        found = reply.answered
        sure = found.candidates[0].probability if reply.text and found.candidates else found.none_probability
        said = " ".join(reply.text.split()) or self.tr("The passage holds no answer.")
        self.answer.setText(said)
        self.answer.setToolTip(tip(words.shorten(said, 1000)))
        if reply.text:
            text = self.tr("{share} confident · character {place}")
            place = words.number(found.candidates[0].start + 1)
        else:
            text, place = self.tr("{share} confident"), ""
        self.sure.setText(text.format(share=words.share(sure), place=place))
        self.show_note("")
        bars = [(" ".join(one.text.split()), one.probability) for one in found.candidates[:MOST_CANDIDATES]]
        if found.none_probability:
            bars.append((self.tr("(no answer)"), found.none_probability))
        bars.sort(key=lambda bar: -bar[1])
        best = " ".join(reply.text.split()) or self.tr("(no answer)")
        caption = [(self.tr("model"), model), (self.tr("question"), self.question.text())]
        for figure in (self.others, self.picture):
            figure.set_caption(caption)
        self.others.set_bars(bars, as_share=True, highlight=best)
        for part in self._of_answer():
            part.show()
        self._draw()

    def _of_answer(self) -> tuple[QWidget, ...]:
        return self.picture, self.others, self.view_choice, self._save, self.answer, self.sure

    def _draw(self) -> None:
        if self._reply is None:
            return
        reply, kind = self._reply, self.view_choice.current
        best = reply.answered.candidates[0] if reply.text else None
        drawn = shaded(
            reply.passage,
            answer=(best.start, best.stop) if best else (-1, -1),
            candidates=[((one.start, one.stop), one.probability) for one in reply.answered.candidates],
        )
        found = words_of(reply.passage)
        chances = reply.chances
        starts, ends = (of_pieces(found, chances.spans, one) for one in (chances.start, chances.end))
        values = {"start": starts, "end": ends}.get(kind, [one.value for one in drawn])
        text = self.tr("in the answer {answer} · begins here {start} · ends here {end}")
        made = []
        for one, value, start, end in zip(drawn, values, starts, ends, strict=True):
            note = text.format(answer=one.note, start=words.share(start), end=words.share(end))
            made.append(replace(one, value=value, note=note))
        self.picture.set_words(made)
        self.picture.show_marked()


@dataclass(slots=True)
class _Answers:
    """What was answered to the questions of a file, and how sure that is; empty before."""

    texts: Sequence[str] = ()
    shares: Sequence[float] = ()


def _cell(questions: PassageTable, answers: _Answers, row: int, column: int) -> str:
    if column == 0:
        return questions.questions[row].text
    if not answers.texts:
        return ""
    if column == 1:
        return answers.texts[row] or translate("FileQuestionsCard", "(no answer)")
    return words.share(answers.shares[row])


class FileQuestionsCard(FileAnswersCard):
    """The questions of a file with their answers beside them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("file_answers")
        self.set_title(self.tr("Answers"))
        self.empty = EmptyState(
            self.tr("Choose a file of questions on the left. Each gets an answer from its passage.")
        )
        self.list = QuestionList("file_questions", self.tr("Questions of the file"), most_lines=3)
        self.stack = stacked(self.empty, self.list)
        self.add(self.stack, 1)
        self._questions: PassageTable | None = None
        self._answers = _Answers()

    def show_problem(self, text: str) -> None:
        """Say why a file cannot be shown."""
        self._questions = None
        self.set_hint("")
        self.empty.set_text(text)
        self.stack.setCurrentIndex(0)

    def show_questions(self, questions: PassageTable) -> None:
        """Show a file's questions, without answers yet."""
        self._questions, self._answers = questions, _Answers()
        self.set_title(questions.path.name)
        one, many = self.tr("1 question, no answer yet"), self.tr("{count} questions, no answers yet")
        self.set_hint(words.counted(len(questions.questions), one, many))
        self.scores.hide()
        names = (self.tr("Question"), self.tr("Answer"), self.tr("Confidence"))
        cell = partial(_cell, questions, self._answers)
        self.list.set_rows(names, len(questions.questions), cell, wide=(0, 1), is_first_chosen=False)
        self.stack.setCurrentIndex(1)

    def put(self, event: Predicted) -> None:
        """Put answers beside their questions."""
        if self._questions is None or len(event.predictions) != len(self._questions.questions):
            return
        self._answers.texts = event.predictions
        self._answers.shares = event.probabilities[:, 0].tolist()
        one, many = self.tr("1 question answered"), self.tr("{count} questions answered")
        self.set_hint(words.counted(len(event.predictions), one, many))
        for place in (1, 2):
            self.list.view.cells.touch(place)
        self.list.choose(0)

    def score_words(self, event: Evaluated) -> str:
        text = self.tr("The file knows {count} answers: exact match {exact}, F1 {f1}.")
        return text.format(
            count=words.number(count_of(event.details, "num_examples")),
            exact=words.share(event.metrics.get("exact_match")),
            f1=words.share(event.metrics.get("f1")),
        )

    def texts_of(self, row: int) -> tuple[str, str]:
        """Return a question and its passage."""
        assert self._questions is not None
        question = self._questions.questions[row]
        return question.text, self._questions.passage_of(question)

    def show_passage(self, row: int, reply: Reply | None) -> None:
        """Show the passage of a question, with what a model thinks of it once that is known."""
        assert self._questions is not None
        question = self._questions.questions[row]
        right = [(answer.start, answer.stop) for answer in question.answers or ()]
        found = reply.answered.candidates if reply is not None else ()
        best = found[0] if reply is not None and reply.text else None
        self.list.show_passage(
            self._questions.passage_of(question),
            answer=(best.start, best.stop) if best else (-1, -1),
            right=right,
            candidates=[((one.start, one.stop), one.probability) for one in found],
        )


class QuestionAnswers(TaskAnswers):
    """One question above, a file's below."""

    suffixes = (".json", ".jsonl", ".csv")
    ask_card: QuestionAskCard
    file_card: FileQuestionsCard

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(session, OpenAnswerer().ask, parent)
        self._row_asked = Channel(self, session.workers.models)
        self.file_card = FileQuestionsCard()
        self.add_cards(QuestionAskCard(), self.file_card, (1, 1))
        self.file_card.list.row_chosen.connect(self._show_row)

    def show_file(self, path: Path) -> None:
        self.reading.ask(
            path,
            partial(read_file, path),
            heard=self.file_card.show_questions,
            refused=lambda error: self.file_card.show_problem(words.say_error(error)),
        )

    def hear(self, event: Event) -> None:
        super().hear(event)
        if isinstance(event, Predicted):
            self.file_card.put(event)

    def _show_row(self, row: int) -> None:
        """Show the passage of a file's question, and ask the model where the answer stands in it."""
        self.file_card.show_passage(row, None)
        if self.folder is not None:
            self._row_asked.ask(
                (self.folder, row),
                partial(self.reply_to, self.folder, *self.file_card.texts_of(row)),
                heard=partial(self._hear_row, row),
                refused=lambda error: self.file_card.show_passage(row, None),
                again=True,
            )

    def _hear_row(self, row: int, reply: Reply) -> None:
        if self.file_card.list.view.currentIndex().row() == row:
            self.file_card.show_passage(row, reply)
