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
REST_MS = 2_000  # after all is ready, before its memory is read


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
    from PySide6.QtCore import QEvent, QObject, QTimer
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication, QToolButton

    clock = QTimer(window, interval=20)
    gaps = [0.0]
    before = [time.perf_counter()]

    def painted() -> None:
        found["painted_s"], found["painted_mb"] = since(), memory_mb()
        window.findChild(QToolButton, "rail_models").click()
        window.findChild(QToolButton, "rail_welcome").click()
        assert window.current_page == "welcome"
        QApplication.processEvents()
        found["usable_s"] = since()
        clock.start()

    class Eye(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() == QEvent.Type.Paint and watched is window.page("welcome"):
                window.page("welcome").removeEventFilter(self)
                QTimer.singleShot(0, window, painted)
            return False

    def look() -> None:
        now = time.perf_counter()
        gaps.append(now - before[0])
        before[0] = now
        if since() > PATIENCE_S:
            raise SystemExit("It does not become ready.")
        if window.is_ready:
            clock.stop()
            found["ready_s"], found["longest_gap_s"] = since(), max(gaps[2:], default=0.0)
            QTimer.singleShot(REST_MS, window, rested)

    def rested() -> None:
        found["ready_mb"] = memory_mb()
        if with_pages:
            _open_pages()
        window.close()
        QApplication.quit()

    def _open_pages() -> None:
        for key in ("data", "tokenizer", "pretrain", "finetune", "predict", "models"):  # these open no model
            began = time.perf_counter()
            window.findChild(QToolButton, f"rail_{key}").click()
            QApplication.processEvents()
            found[f"first_{key}_s"] = time.perf_counter() - began
            QTest.qWait(300)

    eye = Eye(window)
    window.page("welcome").installEventFilter(eye)
    clock.timeout.connect(look)


if __name__ == "__main__":
    figures = import_torch() if sys.argv[1] == "torch" else open_window("pages" in sys.argv)
    print(json.dumps(figures), flush=True)
