"""How quickly Label answers at 10,000 texts: from a key to the next text, and from a label to what it taught.

    python -m benchmarks.bench_label [--texts 10000] [--labels 100] [--folder DIR]

The real page is opened on sentences of film reviews with the starter model, in a process of its own, twice:
first no vectors are kept, then they are. Then a person presses a key as soon as the next text is painted and
`--pause` ms have passed, and gives the right label, one in eight a wrong one. Told are: seconds until all
texts have vectors and until there is a suggestion; ms from the key until the next text is painted, and until
the page has caught up with it; seconds of a fit and of the measures, on their threads; the memory held.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Contender, Line, machine
from benchmarks.work import read_rows

ROOT = Path(__file__).parents[1]
WRONG = 8  # one in so many labels
PATIENCE_S = 900.0


def table_of(path: Path, count: int) -> list[int]:
    """Write so many sentences without their labels; return these, in that order."""
    rows = read_rows(ROOT / "assets" / "samples" / "sentence_polarity.csv")
    some = [rows[place] for place in np.random.default_rng(1).permutation(len(rows))[:count]]
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("text",), *((text,) for _label, text in some)])
    return [int(label == "pos") for label, _text in some]


class Person:
    """Someone who labels in the real page, by its keys."""

    def __init__(self, folder: Path, table: Path, truth: Sequence[int]) -> None:
        from app.application import make_application
        from app.main_window import MainWindow
        from app.session import Session
        from app.settings import AppSettings

        settings = AppSettings(str(folder / "settings.ini"))
        settings.runs_root = str(folder / "runs")
        self.application = make_application(["cloze"], settings)
        self.window = MainWindow(Session(settings))
        self.window.resize(1280, 800)
        self.window.show()
        self.session, self.truth = self.window.session, truth
        self.spin(lambda: self.window.is_ready)
        self.began = time.perf_counter()
        self.session.data.open(str(table))
        self.window.show_page("label")
        self.page: Any = self.window.pages.page_made("label")

    def spin(self, is_done: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
        """Let the window work until something is so. Raises: RuntimeError: it takes too long."""
        end = time.perf_counter() + patience_s
        while not is_done():
            if time.perf_counter() > end:
                raise RuntimeError(is_done)
            self.application.processEvents()
            time.sleep(0.0005)

    def rest(self, seconds: float) -> None:
        """Let the window work for a while."""
        end = time.perf_counter() + seconds
        self.spin(lambda: time.perf_counter() >= end)

    def get_ready(self) -> float:
        """Return the seconds from the open table until all texts have vectors."""
        page = self.page
        self.spin(lambda: page.labels.is_ready and page.walk.current is not None)
        if not page.labels.labelled.names:
            for name in ("negative", "positive"):
                page.labels.define(name)
        self.spin(lambda: page.learner.known is not None)
        return time.perf_counter() - self.began

    def is_suggested_to(self) -> bool:
        """Whether the text in view has a suggestion."""
        return bool(self.page.work.suggested(self.page.walk.current))

    def press(self, place: int) -> tuple[float, float, float]:
        """Give a label by its key. Returns: ms until the next text is painted, the processor time in that,
        and ms until all is shown.
        """
        from PySide6.QtCore import QEvent, Qt
        from PySide6.QtGui import QKeyEvent

        page = self.page
        start, own = time.perf_counter(), time.thread_time()
        key, none = Qt.Key(Qt.Key.Key_1 + place), Qt.KeyboardModifier.NoModifier
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            self.application.sendEvent(page.card.text_view, QKeyEvent(kind, key, none, str(1 + place)))
        page.card.repaint()
        painted, own = time.perf_counter(), time.thread_time() - own
        self.spin(lambda: not page._after.isActive())
        return 1e3 * (painted - start), 1e3 * own, 1e3 * (time.perf_counter() - start)

    def label(self, count: int, pause_s: float) -> list[tuple[float, float, float]]:
        """Give so many labels, a pause after each."""
        found = []
        for number in range(count):
            self.spin(lambda: self.page.walk.current is not None)
            right = self.truth[self.page.walk.current.place]
            found.append(self.press(right if number % WRONG else 1 - right))
            self.rest(pause_s)
        return found


def serve(line: Line, folder: Path, table: Path, truth: Sequence[int]) -> None:
    """Open the page; answer "ready", ("label", count, pause), "suggests", "work" and "memory"."""
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    import platformdirs

    platformdirs.user_cache_dir = lambda *_, **__: str(folder / "cache")
    timed = _timed()
    person = Person(folder, table, truth)
    line.send(person.application.platformName())
    while (question := line.recv()) is not None:
        match question:
            case "ready":
                line.send(person.get_ready())
            case ("label", count, pause_s):
                line.send(person.label(count, pause_s))
            case "suggests":
                begun = time.perf_counter()
                person.spin(person.is_suggested_to)
                line.send(time.perf_counter() - begun)
            case "work":
                person.spin(lambda: not person.page.learner.is_learning)
                line.send({name: list(times) for name, times in timed.items()})
            case "memory":
                line.send(_memory())
    person.window.close()


def _timed() -> dict[str, list[tuple[float, float]]]:
    """Have (seconds, processor seconds) of each fit and measurement noted, on their threads."""
    from app.pages.label import learner

    found: dict[str, list[tuple[float, float]]] = {"learn": [], "measure": []}
    learn, measure = learner.learn_kind, learner.measure

    def timed_learn(*given: Any) -> Any:
        wall, own = time.perf_counter(), time.thread_time()
        made = learn(*given)
        found["learn"].append((time.perf_counter() - wall, time.thread_time() - own))
        return made

    def timed_measure(*given: Any) -> Any:
        wall, own = time.perf_counter(), time.thread_time()
        made = yield from measure(*given)
        found["measure"].append((time.perf_counter() - wall, time.thread_time() - own))
        return made

    learner.learn_kind, learner.measure = timed_learn, timed_measure
    return found


def _memory() -> tuple[float, float]:
    """Return the bytes held now, and the most that were held."""
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    pages = Path("/proc/self/statm")
    now = int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if pages.exists() else most
    return float(now), float(most)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark and print its figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.bench_label", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--pause", type=float, default=300, help="ms between two keys")
    parser.add_argument("--folder", type=Path, help="where vectors and labels are kept; none: nowhere")
    parser.add_argument("--json", default="", metavar="FILE")
    chosen = parser.parse_args(argv)
    print(machine(), flush=True)
    found: dict[str, Any] = {"machine": machine()}
    with tempfile.TemporaryDirectory() as name:
        folder = chosen.folder or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        table = folder / "films.csv"
        truth = table_of(table, chosen.texts)
        for time_ in ("first", "again"):
            with Contender(time_, serve, folder, table, truth) as window:
                found[time_] = _one(window, chosen)
                print(f"{time_}, {window.greeting}:", flush=True)
                _print(found[time_])
    if chosen.json:
        Path(chosen.json).write_text(json.dumps(found, indent=1), encoding="utf-8")
    return 0


def _one(window: Contender, chosen: argparse.Namespace) -> dict[str, Any]:
    """Return what one window took."""
    found: dict[str, Any] = {"ready_s": window.ask("ready"), "before": window.ask("memory")}
    found["first_keys"] = window.ask(("label", 20, chosen.pause / 1e3))
    found["suggests"] = window.ask("suggests")
    found["keys"] = window.ask(("label", chosen.labels, chosen.pause / 1e3))
    found["work"] = window.ask("work")
    found["memory"] = window.ask("memory")
    return found


def _print(found: dict[str, Any]) -> None:
    keys = np.array(found["keys"])
    print(f"  vectors of all texts after {found['ready_s']:.1f} s, held {found['before'][0] / 1e6:.0f} MB")
    print(f"  a suggestion {found['suggests']:.2f} s after the twentieth label")
    told = "next text painted", "the same, its processor time", "all caught up"
    for name, times in zip(told, keys.T, strict=True):
        p50, p95 = np.percentile(times, (50, 95))
        print(f"  key to {name}: median {p50:.0f}, p95 {p95:.0f}, most {times.max():.0f} ms")
    for name, each in found["work"].items():
        wall, own = np.median(np.array(each), axis=0)
        print(f"  {name}: {len(each)} times, median {wall:.3f} s, {own:.3f} s of its processor")
    now, most = found["memory"]
    print(f"  memory: {now / 1e6:.0f} MB, at most {most / 1e6:.0f} MB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
