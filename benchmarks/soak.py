"""Does the open window grow? Uses it for an hour and tells memory, objects, threads and handles each minute.

    python -m benchmarks.soak [--minutes 60] [--log FILE]

A round opens another table and another model, visits every page, asks what pages ask by themselves, trains
a few steps of a tiny model and scores it; every fifth shows a lecture. Told at the end: how memory went on
after the first quarter, by a straight line through it.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
TABLES = (
    "sentence_polarity.csv", "similarity.csv", "emotions.csv", "question_passage.csv", "chinese_questions.csv"
)  # fmt: skip
MODELS = ("starter", "tuned", "tiny/model")
TEXTS = ("The bank by the [MASK] was steep.", "She opened the [MASK] and read.", "A dull film, well played.")
HEAD = ("s", "round", "RSS MB", "objects", "set aside", "QObjects", "threads", "handles", "windows")
CELLS = "{:>7} {:>6} {:>9} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8}"


def main() -> int:
    parser = argparse.ArgumentParser(description="Use the window for an hour and tell whether it grows.")
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--log", type=Path, default=None, help="write the lines to a file, too")
    values = parser.parse_args()
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory() as folder:
        return Soak(Path(folder), values.log).run(60 * values.minutes)


class Soak:
    """One window, used in rounds."""

    def __init__(self, folder: Path, log: Path | None) -> None:
        from app.application import make_application
        from app.main_window import MainWindow
        from app.session import Session
        from app.settings import AppSettings

        self.log = log
        self.small = folder / "small.csv"
        lines = (ROOT / "assets/samples" / TABLES[0]).read_text(encoding="utf-8").splitlines()[:161]
        self.small.write_text("\n".join(lines), encoding="utf-8")
        settings = AppSettings(str(folder / "settings.ini"))
        settings.runs_root = folder / "runs"
        self.application = make_application(["cloze"], settings)
        self.window = MainWindow(Session(settings))
        self.window.resize(1280, 800)
        self.window.show()
        self.session = self.window.session
        self.spin(lambda: self.window.is_ready)

    def run(self, seconds: float) -> int:
        """Return 0 once all is told."""
        began, told, seen = time.monotonic(), 0.0, []
        self.tell(CELLS.format(*HEAD))
        number = 0
        while time.monotonic() - began < seconds:
            self.round(number)
            number += 1
            now = time.monotonic() - began
            if now - told > 60 or number == 1:
                told = now
                figures = self.figures()
                seen.append((now, figures[0]))
                self.tell(CELLS.format(f"{now:.0f}", number, *figures))
        late = np.array([each for each in seen if each[0] > seconds / 4])
        if len(late) > 2:
            slope, _ = np.polyfit(late[:, 0] / 60, late[:, 1], 1)
            self.tell(f"after the first quarter: {slope:+.2f} MB a minute; {number} rounds in all")
        self.window.close()
        return 0

    def figures(self) -> tuple[Any, ...]:
        from PySide6.QtCore import QObject
        from PySide6.QtWidgets import QApplication

        pages = Path("/proc/self/statm").read_text().split()[1]
        return (
            round(int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20, 1),
            len(gc.get_objects()),
            gc.get_freeze_count(),
            len(self.window.findChildren(QObject)),
            threading.active_count(),
            len(os.listdir("/proc/self/fd")),
            len(QApplication.topLevelWidgets()),
        )

    def tell(self, line: str) -> None:
        print(line, flush=True)
        if self.log:
            with self.log.open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    # ---- what a person does

    def round(self, number: int) -> None:
        from app.page_stack import PAGES

        self.session.data.open(str(ROOT / "assets/samples" / TABLES[number % len(TABLES)]))
        self.wait()
        self.session.inspector.choose(ROOT / "assets/models" / MODELS[number % len(MODELS)])
        self.session.inspector.set_text(f"{TEXTS[number % len(TEXTS)]} {number}")
        self.wait()
        for key in PAGES:
            self.window.show_page(key)
            self.wait(patience_s=20)
        self.ask_family(number)
        self.train()
        if number % 5 == 0:
            self.show_lecture()

    def ask_family(self, number: int) -> None:
        from app.pages.family.kinds.known import KINDS

        page: Any = self.window.page("family")
        self.window.show_page("family")
        kinds = [kind.key for kind in KINDS]
        page.choose_kind(kinds[number % len(kinds)])
        self.wait(patience_s=20)

    def show_lecture(self) -> None:
        lectures = self.window.lectures
        lectures.open(ROOT / "assets/lectures/how-bert-reads.json", starts=True)
        self.wait()
        for _scene in range(4):
            lectures.player.step(1)
            self.wait()
        lectures.close()

    def train(self) -> None:
        from engine.settings.config import with_values
        from engine.settings.finetune import FineTuneConfig

        self.session.data.open(str(self.small))
        self.session.model.choose(str(ROOT / "assets/models" / MODELS[-1]))
        self.spin(lambda: self.session.data.summary is not None and self.session.model.chosen is not None)
        self.wait()
        values = {**self.session.values(), "num_epochs": 1, "max_length": 24}
        self.window.show_page("finetune")
        self.session.training.start(with_values(FineTuneConfig(), values))
        self.spin(lambda: not self.session.training.is_running)
        self.session.want_evaluation(self.session.training.run_dir / "model", "validation")
        self.wait()

    def wait(self, patience_s: float = 60) -> None:
        for _turn in range(3):  # an answer leads to the next question
            self.session.wait_idle(patience_s)
            self.application.processEvents()

    def spin(self, until: Any, patience_s: float = 240) -> None:
        end = time.monotonic() + patience_s
        while not until() and time.monotonic() < end:
            self.application.processEvents()
            time.sleep(0.005)


if __name__ == "__main__":
    sys.exit(main())
