"""The tour of `cloze demo`: all is open and set already, and a file of sentences is asked about too."""

from __future__ import annotations

from pathlib import Path

from app.stories.known import story
from app.tour.steps import Scenes
from app.tour.steps_inside import Acting, TourHost


class DemoScenes(Scenes):
    """Adds a file to predict."""

    def __init__(self, window: TourHost, out: Path) -> None:
        super().__init__(window)
        self.sentences = out / "sentences.csv"
        self.answers = out / "sentences-predicted.csv"

    @property
    def will_train(self) -> bool:
        return True

    def prepare(self) -> Acting:
        """Everything is open and set already."""
        yield lambda: True

    def ask_about_review(self) -> Acting:
        """Ask about one sentence, then have the file of sentences predicted."""
        yield from super().ask_about_review()
        page = self.page("predict")
        if self.answers.exists():
            return
        if not self.sentences.exists():
            lines = "".join(f'"{text}"\n' for text in story().table.asked)
            self.sentences.write_text("text\n" + lines, encoding="utf-8")
        page.open_file(self.sentences)
        yield page.run_button.isEnabled
        page.run_button.click()
        yield lambda: page.run_button.isVisible() and not page.is_asking
