"""How long the window is silent while a table of a million rows is opened, examined, searched and mended.

    python -m benchmarks.bench_large_table
    python -m benchmarks.bench_large_table --rows 200000 --where late.txt

A 5 ms timer on the window's thread tells the gaps between its ticks; the same timer is read before, while
nothing is done, so that what other programs do to it is known. Told is the longest gap of each deed, how much
of a gap this program itself computed at most (what is above that, other programs did), and how long it took
until all was shown. With --where, a file gets what every thread was at, whenever the window was late.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import IO

import numpy as np

from benchmarks.measure import machine
from benchmarks.work import SAMPLES

ROWS, TICK_MS, IDLE_S = 1_000_000, 5, 10.0
LATE_S = 0.1
# what a window has imported by then, on a thread
BY_THEN = ("torch", "app.work.tables", "app.work.examination")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line for each deed."""
    parser = argparse.ArgumentParser(prog="bench_large_table", description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--where", type=argparse.FileType("w"))
    chosen = parser.parse_args(arguments)
    if not (os.environ.get("DISPLAY") or os.environ.get("QT_QPA_PLATFORM")):
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.csv"
        _write(path, chosen.rows)
        print(machine(), flush=True)
        print(f"{chosen.rows:,} rows, {path.stat().st_size / 1e6:.0f} MB", flush=True)
        _Deeds(Path(folder), chosen.where).do(path)
    return 0


def _write(path: Path, count: int) -> None:
    """Write texts of words as frequent as in the sentences that ship; each hundredth nearly repeats one."""
    from engine.text.table import read_table, write_csv

    table = read_table(SAMPLES / "sentence_polarity.csv")
    words = np.array([word for text in table.frame["text"].tolist() for word in text.split()], object)
    rng = np.random.default_rng(0)
    lengths = rng.integers(5, 36, count)

    def rows() -> Iterator[tuple[str, str]]:
        text = ""
        for place, length in enumerate(lengths.tolist()):
            again = place % 100 == 99
            text = f"{text}!" if again else " ".join(words[rng.integers(0, len(words), length)])
            yield text, ("pos", "neg")[place % 2]

    write_csv(path, ("text", "label"), rows(), guard=False)


class _Deeds:
    """The Data page, what is done at it, and the gaps meanwhile."""

    def __init__(self, folder: Path, where: IO[str] | None = None) -> None:
        from PySide6.QtCore import Qt, QTimer

        from app.application import make_application
        from app.pages.data.page import DataPage
        from app.session import Session
        from app.settings import AppSettings

        for module in BY_THEN:
            import_module(module)
        settings = AppSettings(folder / "settings.ini")
        self.app = make_application(["cloze"], settings)
        settings.runs_root = folder / "runs"
        self.session = Session(settings)
        self.page = DataPage(self.session)
        self.page.resize(1104, 772)
        self.page.show()
        self.gaps: list[tuple[float, float]] = []  # seconds, and those that this program computed meanwhile
        self._where = where
        self._last, self._busy = time.perf_counter(), time.process_time()
        self._timer = QTimer(interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def _tick(self) -> None:
        now, busy = time.perf_counter(), time.process_time()
        self.gaps.append((now - self._last, min(now - self._last, busy - self._busy)))
        self._last, self._busy = now, busy
        if self._where is not None:
            faulthandler.dump_traceback_later(LATE_S, file=self._where)

    def do(self, path: Path) -> None:
        """Do all there is to do with a table, one after another."""
        page, session = self.page, self.session
        self._until("idle", lambda: None, lambda began: time.perf_counter() - began > IDLE_S)
        self._until("opened", lambda: session.data.open(path), lambda _: session.data.table is not None)
        self._until("counted", lambda: None, lambda _: session.data.summary is not None)
        self._until("examined", lambda: None, lambda _: self._is_idle())
        card = page.table_card
        self._until("searched", lambda: card.search.setText("masterpiece"), lambda _: self._is_shown())
        self._until("put in order", lambda: card.order_by("text", "up"), lambda _: self._is_shown())
        self._until("all shown", card.show_all, lambda _: self._is_shown())
        self._until("all in order", lambda: card.order_by("text", "down"), lambda _: self._is_shown())
        self._until("filtered", lambda: card.show_label("pos"), lambda _: self._is_shown())
        self._until("scrolled", self._scroll, lambda _: True)
        copies = next((one for one in session.doctor.findings if one.kind == "near_duplicates"), None)
        if copies is not None:
            print(f"  {len(copies.rows):,} near copies", flush=True)
            mend, show = copies.mends[0], copies.to_show
            self._until("copies shown", lambda: card.show_only(show, "copies"), lambda _: self._is_shown())
            self._until("copies left out", lambda: session.data.mends.add(mend), lambda _: self._is_idle())
            self._until("taken back", session.data.mends.undo, lambda _: self._is_idle())
        faulthandler.cancel_dump_traceback_later()
        session.close()

    def _scroll(self) -> None:
        bar = self.page.table_card.view.verticalScrollBar()
        for place in range(0, bar.maximum(), max(1, bar.maximum() // 50)):
            bar.setValue(place)
            self.app.processEvents()

    def _is_idle(self) -> bool:
        return self.session.workers.is_idle

    def _is_shown(self) -> bool:
        return self._is_idle() and not self.page.table_card.is_looking

    def _until(self, name: str, deed: Callable[[], object], is_done: Callable[[float], bool]) -> None:
        from PySide6.QtCore import QEventLoop

        if self._where is not None:
            print(f"\n======== {name}", file=self._where, flush=True)
        self.gaps.clear()
        began = self._last = time.perf_counter()
        self._busy = time.process_time()
        deed()
        while True:
            self.app.processEvents(QEventLoop.ProcessEventsFlag.WaitForMoreEvents)
            if is_done(began):
                break
        self._tick()
        longest, own = (1000 * max(each) for each in zip(*self.gaps, strict=True))
        late = sum(gap > LATE_S for gap, _ in self.gaps)
        seconds = time.perf_counter() - began
        told = f"longest gap {longest:4.0f} ms, {late} above 100 ms; at most {own:4.0f} ms its own"
        print(f"{name:16} {seconds:7.1f} s, {told}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
