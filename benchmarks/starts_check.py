"""Does every start of the window end well? Starts it many times beside each other and counts the faults.

    python -m benchmarks.starts_check [--starts 1000] [--at-once 3] [--pages data,family] [--log DIR]

Each start is a process of its own that has torch loaded before, as an import that comes late hides faults of
timing: a window, a table opened at once, pages visited before their modules are there, then all is waited for
and closed. A start that ends by a signal, with another exit code or not in time is told with what Python's
faulthandler wrote. Not on Windows, which cannot fork.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
import traceback
from importlib import import_module
from pathlib import Path

TIMEOUT_S = 300
ALL = (
    "data,tokenizer,pretrain,finetune,predict,evaluate,probe,attention,embeddings,anatomy,models,runs,family"
)


def main() -> int:
    """Return 1 if any start went wrong."""
    parser = argparse.ArgumentParser(description="Start the window many times and count the faults.")
    parser.add_argument("--starts", type=int, default=1000)
    parser.add_argument("--at-once", type=int, default=3)
    parser.add_argument("--pages", default=ALL, help="of which each start visits some, drawn anew")
    parser.add_argument("--visits", type=int, default=4, help="pages that a start visits")
    parser.add_argument("--log", type=Path, default=None, help="where the stacks of faults are kept")
    values = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    import_module("engine")  # before torch, as the command does
    import_module("torch")

    log = values.log or Path(tempfile.mkdtemp(prefix="starts-"))
    log.mkdir(parents=True, exist_ok=True)
    running: dict[int, tuple[int, float]] = {}
    began, done, faults = time.monotonic(), 0, 0
    for number in range(values.starts):
        while len(running) >= values.at_once:
            done, faults = _reap(running, log, done, faults)
        pages = random.Random(number).sample(values.pages.split(","), values.visits)
        running[_fork(number, pages, log)] = (number, time.monotonic())
    while running:
        done, faults = _reap(running, log, done, faults)
    print(f"{done} starts, {faults} faults, {time.monotonic() - began:.0f} s; stacks in {log}")
    return 1 if faults else 0


def _fork(number: int, pages: list[str], log: Path) -> int:
    pid = os.fork()
    if pid:
        return pid
    written = os.open(_stack(log, number), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(written, 1)
    os.dup2(written, 2)
    try:
        _start(number, pages)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)


def _stack(log: Path, number: int) -> Path:
    return log / f"start-{number}.txt"


def _reap(running: dict[int, tuple[int, float]], log: Path, done: int, faults: int) -> tuple[int, int]:
    """Wait for a start to end, or for the slowest to be too slow; return how many are done and went wrong."""
    pid, status = os.waitpid(-1, os.WNOHANG)
    if pid == 0:
        for late, (_number, since) in running.items():
            if time.monotonic() - since > TIMEOUT_S:
                os.kill(late, signal.SIGABRT)
        time.sleep(0.02)
        return done, faults
    number, _since = running.pop(pid)
    if status == 0:
        _stack(log, number).unlink()
    else:
        faults += 1
        print(f"start {number}: status {os.waitstatus_to_exitcode(status)}", flush=True)
    done += 1
    if done % 50 == 0:
        print(f"{done} starts, {faults} faults", flush=True)
    return done, faults


def _start(number: int, pages: list[str]) -> None:
    import faulthandler

    faulthandler.enable(all_threads=True)
    from app.qt_import import import_qt

    import_qt()
    from app.application import make_application
    from app.main_window import MainWindow
    from app.session import Session
    from app.settings import AppSettings

    draw = random.Random(number)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "films.csv"
        rows = "".join(f"a film of {n} minutes,{n % 2}\n" for n in range(400))
        table.write_text("text,label\n" + rows, encoding="utf-8")
        application = make_application(["cloze"], AppSettings(str(Path(folder) / "settings.ini")))
        window = MainWindow(Session(AppSettings(str(Path(folder) / "settings.ini"))))
        window.show()
        window.session.data.open(str(table))
        for page in pages:
            window.show_page(page)
            end = time.monotonic() + draw.choice((0, 0.01, 0.05, 0.2))
            while time.monotonic() < end:
                application.processEvents()
            if draw.random() < 0.3:
                window.session.wait_idle()
        while not window.is_ready:
            application.processEvents()
        assert window.session.wait_idle()
        window.close()
        application.processEvents()


if __name__ == "__main__":
    sys.exit(main())
