"""A file of questions on the Data page: each with its answer, and the passage it is about."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from app import words
from app.pages.tasks.questions.listing import QuestionList
from app.pages.tasks.views import TaskPreview

if TYPE_CHECKING:
    from app.work.task_files import TaskFile
    from engine.text.questions.question import PassageQuestion, PassageTable

translate = QCoreApplication.translate


class QuestionPreview(TaskPreview):
    """The questions of a file, as they stand in it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("question_preview")
        self.list = QuestionList("questions_of_file", self.tr("Questions of the file"), most_lines=5)
        self.add(self.list, 1)
        self._questions: PassageTable | None = None
        self.list.row_chosen.connect(self._show_passage)

    def show_file(self, file: TaskFile) -> None:
        questions: PassageTable = file.content.questions  # type: ignore[attr-defined]
        if questions is self._questions:
            return
        self._questions = questions
        self.set_title(file.path.name)
        one, many = self.tr("1 question"), self.tr("{count} questions")
        text = self.tr("{questions} about {passages} passages · {layout}")
        self.set_hint(
            text.format(
                questions=words.counted(len(questions.questions), one, many),
                passages=words.number(len(questions.passages)),
                layout=words.say(questions.layout),
            )
        )
        names = (self.tr("Question"), self.tr("Answer"), self.tr("Article"))
        self.list.set_rows(names, len(questions.questions), partial(_cell, questions), wide=(0, 1))

    def _show_passage(self, row: int) -> None:
        assert self._questions is not None
        question = self._questions.questions[row]
        right = [(answer.start, answer.stop) for answer in question.answers or ()]
        self.list.show_passage(self._questions.passage_of(question), right=right)


def _cell(questions: PassageTable, row: int, column: int) -> str:
    question = questions.questions[row]
    if column == 0:
        return question.text
    if column == 1:
        return _answer_words(question)
    return questions.passages[question.passage].title


def _answer_words(question: PassageQuestion) -> str:
    if question.answers is None:
        return translate("QuestionPreview", "not known")
    if not question.answers:
        return translate("QuestionPreview", "(the passage holds none)")
    if not question.is_used:
        text = translate("QuestionPreview", "{answer} (not found in its passage)")
        return text.format(answer=question.answers[0].text)
    return " / ".join(dict.fromkeys(answer.text for answer in question.answers))
