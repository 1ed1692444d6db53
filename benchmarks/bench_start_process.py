"""The process that bench_start.py watches: the command, or `import torch`; it tells its own times at the end.

Nothing of the program is imported here before the program does it.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

BEGAN = float(os.environ["CLOZE_BENCH_START"])
PATIENCE_S = 240
TICK_MS = 10  # of the timer whose silence says how long the window was held
REST_MS = 2_000  # after all is ready, before its memory is read; and of an idle control
AFTER_CLICK_MS = 1_500  # in which what a click has begun on a thread may hold the window, too


def since() -> float:
    """Return the seconds since the process was started."""
    return time.time() - BEGAN


def memory_mb() -> float:
    """Return what this process has in memory now; 0 where the system does not tell."""
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS"))
    except (OSError, StopIteration):
        return 0.0


def import_torch() -> dict[str, float]:
    import torch  # noqa: F401

    return {"imported_s": since(), "mb": memory_mb()}


def open_window(with_pages: bool) -> dict[str, float]:
    """Run the command, and close its window once all is there."""
    import app.__main__ as command

    found: dict[str, float] = {}
    _watch_first_paint(found, with_pages)
    code = command.main([])
    if code:
        raise SystemExit(code)
    return found


def _watch_first_paint(found: dict[str, float], with_pages: bool) -> None:
    """Have the window watched from the moment it is shown; Qt is imported as the command does it."""
    from app.qt_import import import_qt

    if sys.platform == "win32":
        import torch  # noqa: F401

        import engine  # noqa: F401
    import_qt()
    import app.main_window as main_window

    real = main_window.MainWindow.showEvent

    def shown(window: Any, event: Any) -> None:
        real(window, event)
        if "shown_s" not in found:
            found["shown_s"] = since()
            _watch_window(window, found, with_pages)

    main_window.MainWindow.showEvent = shown  # type: ignore[method-assign]


def _watch_window(window: Any, found: dict[str, float], with_pages: bool) -> None:
    from PySide6.QtCore import QEvent, QObject, Qt, QTimer
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QToolButton

    from app.page_stack import AT_ONCE, PAGES

    clock = QTimer(window, interval=TICK_MS, timerType=Qt.TimerType.PreciseTimer)
    gaps = [0.0]
    before = [time.perf_counter()]

    def painted() -> None:
        found["painted_s"], found["painted_mb"] = since(), memory_mb()
        window.findChild(QToolButton, "rail_models").click()
        window.findChild(QToolButton, "rail_welcome").click()
        assert window.current_page == "welcome"
        QApplication.processEvents()
        found["usable_s"] = since()
        before[0] = time.perf_counter()
        clock.start()

    class Eye(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint and watched is window.page("welcome"):
                window.page("welcome").removeEventFilter(self)
                QTimer.singleShot(0, window, painted)
            return False

    def tick() -> None:
        now = time.perf_counter()
        gaps.append(now - before[0])
        before[0] = now
        if since() > PATIENCE_S:
            raise SystemExit("It does not become ready.")
        if window.is_ready and "ready_s" not in found:
            found["ready_s"] = since()
            QTimer.singleShot(REST_MS, window, rested)

    def longest(name: str, wait_ms: int) -> None:
        """Note the longest silence of the window in the time that has passed since the last was noted."""
        QTest.qWait(wait_ms)
        found[f"{name}_gap_s"] = max(gaps)
        gaps[:] = [0.0]

    def rested() -> None:
        found["ready_mb"] = memory_mb()
        longest("start", 0)
        longest("idle", REST_MS)
        if with_pages:
            for key in PAGES:
                if key != AT_ONCE:
                    open_page(key)
            longest("idle_after", REST_MS)
        window.close()
        QApplication.quit()

    def open_page(key: str) -> None:
        began = time.perf_counter()
        window.findChild(QToolButton, f"rail_{key}").click()
        QApplication.processEvents()
        found[f"first_{key}_s"] = time.perf_counter() - began
        longest(f"first_{key}", AFTER_CLICK_MS)

    eye = Eye(window)
    window.page("welcome").installEventFilter(eye)
    clock.timeout.connect(tick)


if __name__ == "__main__":
    figures = import_torch() if sys.argv[1] == "torch" else open_window("pages" in sys.argv)
    print(json.dumps(figures), flush=True)
