"""Is a label lost when the window is killed? Kills it many times while labels are given, and counts.

    python -m benchmarks.label_kills [--kills 60] [--seed 0]

Each time the real page opens the same table in a process of its own, and keys are pressed: labels, skips,
steps back and undone ones, two to forty a second. What the journal answered as written is told through a
pipe, then the process is killed (SIGKILL) at a moment drawn at random, one in six before the page is there.
After that the journal must hold what was answered, in that order and nothing twice, and at most one entry
more: the one whose answer was under way. One time in three the beginning of a line is added before the next
start, as a kill in the middle of a write leaves it. Not on Windows, which cannot fork.

On 2 cores (AMD EPYC) with much other work beside, 60 kills, 399 entries: none lost, none doubled, every
journal could be read, and 20 torn lines were cut off.
"""

from __future__ import annotations

import argparse
import os
import random
import select
import signal
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path
from typing import Any

from engine.labelling.journal import LabelJournal

ROWS = 400
TORN = b'{"do": "give", "row": 3, "la'
START_S = 60.0  # at most, until the first key
KEYS = "1111222211112222SUBB"  # of these one is drawn at a time


def main() -> int:
    """Return 1 if a label was lost or doubled, or a journal could not be read."""
    parser = argparse.ArgumentParser(description="Kill the window while labels are given and count.")
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    values = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    import_module("engine")  # before torch, as the command does
    import_module("torch")
    with tempfile.TemporaryDirectory() as folder:
        return Killer(Path(folder), values.seed).run(values.kills)


class Killer:
    """One table, and all that was answered as written on it."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder, self.draw = folder, random.Random(seed)
        self.table = folder / "films.csv"
        rows = "".join(f"a {('dull', 'fine')[n % 2]} film of {n} minutes\n" for n in range(ROWS))
        self.table.write_text("text\n" + rows, encoding="utf-8")
        self.answered: list[bytes] = []  # lines of the journal
        self.lost = self.doubled = self.unread = self.late = self.torn = 0

    def run(self, kills: int) -> int:
        """Return 1 if anything was lost."""
        began = time.monotonic()
        for number in range(kills):
            before = len(self.answered)
            self._live_and_die(number)
            self._look(number)
            print(f"kill {number + 1}: {len(self.answered) - before} entries", flush=True)
            if number % 3 == 2 and (path := self._journal()) is not None:
                with path.open("ab") as file:
                    file.write(TORN)
                self.torn += 1
        print(
            f"{kills} kills, {len(self.answered)} entries: {self.lost} lost, {self.doubled} doubled, "
            f"{self.unread} journals that cannot be read; {self.late} written whose answer was not heard, "
            f"{self.torn} torn lines cut off; {time.monotonic() - began:.0f} s"
        )
        return int(bool(self.lost or self.doubled or self.unread))

    def _live_and_die(self, number: int) -> None:
        """Have keys pressed in a process, kill it, and take what it said until then."""
        hears, tells = os.pipe()
        pid = os.fork()
        if not pid:
            os.close(hears)
            _press(self.folder, self.table, self.draw.random(), tells)
            os._exit(0)
        os.close(tells)
        is_early = number % 6 == 5
        said = b""
        if is_early:
            time.sleep(self.draw.uniform(0.05, 1.5))
        elif select.select([hears], [], [], START_S)[0]:
            end = time.monotonic() + self.draw.uniform(0.0, 2.5)
            while (left := end - time.monotonic()) > 0:
                if select.select([hears], [], [], left)[0]:
                    said += os.read(hears, 1 << 16)
        else:
            raise RuntimeError("no key was pressed")
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        while part := os.read(hears, 1 << 16):
            said += part
        os.close(hears)
        self.answered += said.splitlines(keepends=True)

    def _journal(self) -> Path | None:
        return next(self.folder.rglob("*-labels.jsonl"), None)

    def _look(self, number: int) -> None:
        """Compare the journal with what was answered."""
        path = self._journal()
        data = path.read_bytes() if path is not None else b""
        lines = data[: data.rfind(b"\n") + 1].splitlines(keepends=True)[1:]
        if lines[len(self.answered) :]:
            self.late += 1
        self.doubled += max(0, len(lines) - len(self.answered) - 1)
        same = sum(one == other for one, other in zip(lines, self.answered, strict=False))
        self.lost += len(self.answered) - same
        self.answered = lines
        if path is None:
            return
        from engine.text.table import read_table

        table = read_table(self.table)
        try:
            LabelJournal.read(path, table.path.name, table.sha256, table.num_rows)
        except Exception as error:
            print(f"kill {number + 1}: {error}", flush=True)
            self.unread += 1


def _press(folder: Path, table: Path, seed: float, tells: int) -> None:
    """Press keys in the page until the end comes; tell what was answered as written."""
    from PySide6.QtCore import QEvent, Qt
    from PySide6.QtGui import QKeyEvent

    from app.qt_import import import_qt

    import_qt()
    window, application = _opened(folder, table, tells)
    page: Any = window.pages.page_made("label")
    draw = random.Random(seed)
    while True:
        key = draw.choice(KEYS)
        code, none = Qt.Key(ord(key)), Qt.KeyboardModifier.NoModifier
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            application.sendEvent(page.card.text_view, QKeyEvent(kind, code, none, key.lower()))
        end = time.monotonic() + draw.choice((0.025, 0.05, 0.1, 0.5))
        while time.monotonic() < end:
            application.processEvents()
            time.sleep(0.001)


def _opened(folder: Path, table: Path, tells: int) -> tuple[Any, Any]:
    """Return a window that shows the page, ready for keys, and its application."""
    import platformdirs

    platformdirs.user_cache_dir = lambda *_, **__: str(folder / "cache")
    from app.application import make_application
    from app.main_window import MainWindow
    from app.session import Session
    from app.settings import AppSettings

    add = LabelJournal.add

    def told(journal: LabelJournal, entry: Any) -> None:
        add(journal, entry)
        os.write(tells, journal.path.read_bytes().splitlines(keepends=True)[-1])

    LabelJournal.add = told  # type: ignore[method-assign]
    settings = AppSettings(str(folder / "settings.ini"))
    settings.runs_root = str(folder / "runs")
    application = make_application(["cloze"], settings)
    window = MainWindow(Session(settings))
    window.show()
    window.session.data.open(str(table))
    window.show_page("label")
    while not window.is_ready:
        application.processEvents()
    page: Any = window.pages.page_made("label")
    while not page.labels.is_ready or page.learner.texts is None:
        application.processEvents()
    for name in ("dull", "fine"):
        if page.labels.named(name) is None:
            page.labels.define(name)
    while page.walk.current is None:
        application.processEvents()
    return window, application


if __name__ == "__main__":
    sys.exit(main())
