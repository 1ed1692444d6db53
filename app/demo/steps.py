"""The tour of `cloze demo`: it may stop training in good time, and asks about a file of sentences too."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QTimer, Slot

from app.tour.steps import REVIEW, Scenes
from app.tour.steps_inside import Acting, Host

SENTENCES = (
    REVIEW,
    "The plot is dull, the jokes are stale and the ending is a mess.",
    "One of the most moving stories of the year.",
    "It is too long, too loud and never once surprising.",
    "An honest and touching portrait of a family.",
    "There is not a single idea in this lazy sequel.",
)


class DemoScenes(Scenes):
    """Adds the limit, and a file to predict."""

    def __init__(self, window: Host, out: Path, most_seconds: float) -> None:
        """Args: most_seconds: after them training stops and keeps what it has; 0: never."""
        super().__init__(window)
        self.sentences = out / "sentences.csv"
        self.answers = out / "sentences-predicted.csv"
        self.most_seconds = most_seconds
        milliseconds = int(1000 * most_seconds)  # a C int: demo.LONGEST_S is within it
        self._limit = QTimer(self, singleShot=True, interval=milliseconds)
        self._limit.timeout.connect(self._stop)
        self.session.training_started.connect(self._start_limit)

    @property
    def will_train(self) -> bool:
        return True

    def prepare(self) -> Acting:
        """Everything is open and set already."""
        yield lambda: True

    @Slot()
    def _start_limit(self) -> None:
        if self.most_seconds:
            self._limit.start()

    @Slot()
    def _stop(self) -> None:
        if self.session.is_training:
            self.was_stopped = True
            self.page("finetune").stop_button.click()

    def ask_about_review(self) -> Acting:
        """Ask about one sentence, then have the file of sentences predicted."""
        yield from super().ask_about_review()
        page = self.page("predict")
        if self.answers.exists():
            return
        if not self.sentences.exists():
            lines = "".join(f'"{text}"\n' for text in SENTENCES)
            self.sentences.write_text("text\n" + lines, encoding="utf-8")
        page.open_file(self.sentences)
        yield page.run_button.isEnabled
        page.run_button.click()
        yield lambda: page.run_button.isVisible() and not page.is_asking
