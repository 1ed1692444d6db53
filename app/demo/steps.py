"""The tour of `cloze demo`: all is open and set already, and a file of sentences is asked about too."""

from __future__ import annotations

from pathlib import Path

from app.tour.steps import REVIEW, Scenes
from app.tour.steps_inside import Acting, TourHost

SENTENCES = (
    REVIEW,
    "The plot is dull, the jokes are stale and the ending is a mess.",
    "One of the most moving stories of the year.",
    "It is too long, too loud and never once surprising.",
    "An honest and touching portrait of a family.",
    "There is not a single idea in this lazy sequel.",
)


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
            lines = "".join(f'"{text}"\n' for text in SENTENCES)
            self.sentences.write_text("text\n" + lines, encoding="utf-8")
        page.open_file(self.sentences)
        yield page.run_button.isEnabled
        page.run_button.click()
        yield lambda: page.run_button.isVisible() and not page.is_asking
