"""The net under a change of structure: what every page says and shows in its states, and what training gives.

    python -m tests.looks.net record FOLDER [--only looking,refused]
    python -m tests.looks.net compare BEFORE AFTER

`record` opens the window in light and dark at 1280x800, page by page: empty, with data, with a model, with
runs, while it trains, after a run, and where something is refused. For each state it writes a PNG and what
stands there: every widget with its name, text, tooltip and place, every figure with its numbers and caption.
Beside them it writes the losses of two small trainings to the last bit, every string that is to be
translated, and what `--help` says of every command. `compare` lists what differs in what was recorded after.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
os.environ["COLUMNS"] = "100"  # how wide `--help` is

import engine  # noqa: F401, I001  # before torch, which reads how its threads wait
import torch
from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton, QAbstractSpinBox, QApplication, QComboBox, QLabel, QLineEdit, QMenu, QPlainTextEdit,
    QTabBar, QWidget,
)  # fmt: skip

from app.work import training as training_module
from app.look import theme
from app.application import make_application
from app.main_window import MainWindow
from app.page_stack import PAGES
from app.pages.evaluate.state import EvaluateState
from app.pages.pretrain import findings as pretrain_findings
from app.plots.figure import Figure
from app.session import Session
from app.settings import AppSettings
from engine.commands import command_line
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.events import Step
from engine.settings.pretrain import PretrainConfig
from engine.train.finetune import fine_tune
from engine.train.pretrain import pretrain
from tests.engine.tiny_runs import tiny_config
from tests.looks.language_scenes import InventedReading, invented_forecast, write_text
from tests.looks.looking_scenes import SENTENCE, TOO_LONG, classifier, language_model
from tests.looks.pictures import SIZES
from tests.looks.scenes import FIVE, InventedRun, write_table, write_vocabulary

ROOT = Path(__file__).parents[2]
HOLD_AT = 120  # the step at which the invented runs are looked at
MOST_SHOWN = 12  # differences that `compare` prints for a state

State = tuple[str, MainWindow]


# ---- the states


def wait(until: Callable[[], bool], tries: int = 6_000) -> None:
    """Let the window work until something is so, for a minute at most."""
    while not until():
        assert tries, "nothing happens any more"
        tries -= 1
        QTest.qWait(10)


class Stage:
    """A window with settings of its own, and what it is shown."""

    def __init__(self, root: Path, name: str) -> None:
        self.root = root / name
        self.root.mkdir(parents=True)
        settings = AppSettings(self.root / "settings.ini")
        settings.runs_root = self.root / "runs"
        self.window = MainWindow(Session(settings), warm_up=False)
        self.window.resize(SIZES[""])
        self.window.show()
        self.rest()

    @property
    def session(self) -> Session:
        return self.window.session

    def page(self, key: str) -> Any:
        self.window.show_page(key)
        return self.window.page(key)

    def rest(self, until: Callable[[], bool] | None = None) -> None:
        """Wait until nothing is asked any more, and what was asked for has come."""
        for _ in range(3):  # an answer may ask the next question
            assert self.session.wait_idle()
            QTest.qWait(80)
        if until is not None:
            wait(until)

    def close(self) -> None:
        self.session.training.stop()
        wait(lambda: not self.session.training.is_running)
        self.window.close()
        assert self.session.wait_idle()
        self.window.deleteLater()
        QApplication.processEvents()


def states(root: Path, only: list[str]) -> Iterator[State]:
    """Bring the window into one state after the other; each is whole when it is given."""
    parts = (empty, with_data, looking, judged, fine_tuning, pretraining, refused)
    for part in [each for each in parts if each.__name__ in only or not only]:
        stage = Stage(root, part.__name__)
        try:
            for name in part(stage):
                yield f"{part.__name__}-{name}", stage.window
        finally:
            stage.close()


def empty(stage: Stage) -> Iterator[str]:
    for key in PAGES:
        stage.page(key)
        stage.rest()
        yield key


def with_data(stage: Stage) -> Iterator[str]:
    stage.session.data.open(write_table(stage.root / "news.csv", FIVE, rows_a_label=7))
    stage.session.model.choose("new:tiny", str(write_vocabulary(stage.root / "vocab.txt")))
    for key in ("welcome", "data", "tokenizer", "finetune", "predict"):
        stage.page(key)
        stage.rest()
        yield key


def looking(stage: Stage) -> Iterator[str]:
    inspector = stage.session.inspector
    inspector.choose(language_model(stage.root / "language"))
    inspector.set_text(SENTENCE)
    for key in ("tokenizer", "probe", "attention", "embeddings", "models"):
        page = stage.page(key)
        stage.rest()
        yield key
        for bar in [each for each in page.findChildren(QTabBar) if each.isVisible()]:
            for place in range(1, bar.count()):
                bar.setCurrentIndex(place)
                stage.rest()
                yield f"{key}-{place + 1}"
    views = [one for one in stage.page("attention").findChildren(QAbstractButton) if one.isVisible()]
    for view in [one for one in views if one.objectName().startswith("attention_view_")]:
        view.click()
        stage.rest()
        yield view.objectName()
    inspector.choose(classifier(stage.root / "classifier"))
    for key in ("probe", "attention"):
        stage.page(key)
        stage.rest()
        yield f"{key}-classifier"
    stage.session.training.last_model = stage.root / "classifier"
    stage.session.training.result_changed.emit()
    stage.page("predict")
    stage.rest()
    yield "predict"


def judged(stage: Stage) -> Iterator[str]:
    """Two runs: listed, opened, their table looked through; the family that ships."""
    runs = [stage.session.runs.root / f"run-{seed}" for seed in (1, 2)]
    for seed, run in enumerate(runs, start=1):
        more = {"seed": seed, "validation_share": 0.3, "test_share": 0.2, "num_epochs": 2}
        list(fine_tune(tiny_config(stage.root, **more), run))
    stage.session.data.open(stage.root / "reviews.csv")
    stage.rest()
    for key in ("data", "runs", "welcome", "models", "family", "anatomy"):
        stage.page(key)
        stage.rest()
        yield key
    stage.session.show_page("evaluate", EvaluateState(runs[0] / "model"))
    stage.rest()
    yield "evaluate"


def fine_tuning(stage: Stage) -> Iterator[str]:
    run = InventedRun(FIVE, hold_at=HOLD_AT)
    stage.session.data.open(write_table(stage.root / "news.csv", FIVE, rows_a_label=7))
    stage.session.model.choose("new:tiny", str(write_vocabulary(stage.root / "vocab.txt")))
    page = stage.page("finetune")
    stage.rest()
    yield from _a_run(stage, page, run, "fine_tune", run.fine_tune)


def pretraining(stage: Stage) -> Iterator[str]:
    run = InventedReading(hold_at=HOLD_AT)
    page = stage.page("pretrain")
    page.take([str(write_text(stage.root / "story.txt"))])
    speed = page.findChild(QLabel, "outlook_speed")
    stage.rest(lambda: speed.text() != "–")  # it is measured last
    yield "text"
    yield from _a_run(stage, page, run, "pretrain", run.pretrain)


def _a_run(stage: Stage, page: Any, run: Any, name: str, task: Callable[..., Any]) -> Iterator[str]:
    """Start an invented run, hold it, pause it, let it end."""
    session, real = stage.session, getattr(training_module, name)
    setattr(training_module, name, task)
    try:
        wait(page.start_button.isEnabled)
        page.start_button.click()
        held = lambda: session.training.state.step is not None and session.training.state.step.step == HOLD_AT  # noqa: E731
        wait(held)
        QTest.qWait(1_500)  # curves and the status bar are drawn on timers
        yield "running"
        session.training.pause()
        QTest.qWait(500)
        yield "paused"
        session.training.go_on()
        run.let_go()
        wait(lambda: not session.training.is_running)
        QTest.qWait(1_500)
        stage.rest()
        yield "ended"
    finally:
        setattr(training_module, name, real)


def refused(stage: Stage) -> Iterator[str]:
    page = stage.root / "page.csv"
    page.write_text("<!DOCTYPE html><html><body>no table</body></html>", encoding="utf-8")
    one = stage.root / "one.csv"
    one.write_text("text,label\n" + "a film,good\n" * 30, encoding="utf-8")
    broken = language_model(stage.root / "broken")
    (broken / "config.json").write_text("{", encoding="utf-8")
    for name, path in (("no-table", page), ("one-label", one)):
        stage.page("data")
        stage.session.data.open(path)
        stage.rest()
        yield f"data-{name}"
    stage.session.model.choose(str(broken))
    stage.page("finetune")
    stage.rest()
    yield "finetune"
    stage.session.inspector.choose(broken)
    for key in ("probe", "attention"):
        stage.page(key)
        stage.rest()
        yield key
    stage.session.inspector.choose(language_model(stage.root / "language"))
    stage.session.inspector.set_text(TOO_LONG)
    for key in ("tokenizer", "probe", "attention"):
        stage.page(key)
        stage.rest()
        yield f"{key}-too-long"


# ---- what stands there


def described(window: MainWindow, root: Path) -> dict[str, Any]:
    """Return every widget and figure of a window as plain values; places are in the window's pixels."""
    in_menus = {id(each) for menu in window.findChildren(QMenu) for each in menu.findChildren(QWidget)}
    found: dict[str, Any] = {}
    for widget in window.findChildren(QWidget):
        kind = type(widget).__module__
        if id(widget) not in in_menus and not kind.startswith("pyqtgraph"):
            path = _path_of(widget, window)
            number = sum(known == path or known.startswith(f"{path} #") for known in found)
            found[f"{path} #{number + 1}" if number else path] = _one(widget, window)
    text = json.dumps(found, ensure_ascii=False, indent=1)
    return json.loads(_without_places(text, root))


def _path_of(widget: QWidget, window: MainWindow) -> str:
    """Return the object names from the window down to a widget; a class where there is no name."""
    parts: list[str] = []
    here: QWidget | None = widget
    while here is not None and here is not window:
        name = here.objectName()
        if name and not name.startswith("qt_"):
            parts.append(name)
        elif here is widget:
            parts.append(type(here).__name__)
        here = here.parentWidget()
    return "/".join(reversed(parts))


def _one(widget: QWidget, window: MainWindow) -> dict[str, Any]:
    corner = widget.mapTo(window, QPoint(0, 0))
    facts: dict[str, Any] = {
        "class": type(widget).__name__,
        "visible": widget.isVisible(),
        "enabled": widget.isEnabled(),
        "place": [corner.x(), corner.y(), widget.width(), widget.height()] if widget.isVisible() else None,
        "text": _text_of(widget),
        "tooltip": widget.toolTip(),
        "name": widget.accessibleName(),
        "description": widget.accessibleDescription(),
    }
    if isinstance(widget, Figure):
        facts |= {"numbers": _rounded(widget.numbers()), "caption": [list(line) for line in widget.caption]}
    return {key: value for key, value in facts.items() if value not in ("", None, [])}


def _rounded(numbers: list[list[Any]]) -> list[list[Any]]:
    """Return a figure's numbers without their last digits: smoothing adds in parts of any size."""
    return [[float(f"{cell:.9g}") if isinstance(cell, float) else cell for cell in row] for row in numbers]


def _text_of(widget: QWidget) -> Any:
    match widget:
        case QLabel() | QAbstractButton() | QLineEdit() | QAbstractSpinBox():
            return widget.text()
        case QComboBox():
            return [widget.currentText(), [widget.itemText(place) for place in range(widget.count())]]
        case QPlainTextEdit():
            return widget.toPlainText()
    return ""


def _without_places(text: str, root: Path) -> str:
    """Take out what differs from one recording to the next: folders, times of runs, fingerprints of files."""
    text = text.replace(str(root), "<folder>").replace(str(ROOT), "<cloze>")
    text = re.sub(r"\d{8}-\d{6}-", "<time>-", text)
    text = re.sub(r"\d{1,2} [A-Z][a-z]{2} \d\d:\d\d:\d\d", "<time>", text)
    text = re.sub(r"[\d,]+ texts a second", "<rate>", text)
    return re.sub(r"\d+(\.\d+)? (ms|s)\b", "<seconds>", text)


# ---- what training gives, and what is translated


def losses(root: Path) -> dict[str, list[str]]:
    """Return the losses of a fine-tuning and a pretraining of a few steps, as hexadecimal floats."""
    torch.set_num_threads(1)
    classes = with_values(
        FineTuneConfig(),
        {
            "data": str(write_table(root / "losses.csv", FIVE, rows_a_label=13)), "text": "text",
            "label": "label", "model": "new:tiny", "vocab": str(write_vocabulary(root / "losses.txt")),
            "num_epochs": 2, "max_length": 32, "batch_size": 8, "num_threads": 1,
        },
    )  # fmt: skip
    language = with_values(
        PretrainConfig(),
        {
            "text": str(write_text(root / "story.txt")), "vocab_size": 200, "model": "new:tiny", "steps": 12,
            "batch_tokens": 256, "max_length": 32, "num_threads": 1, "minutes": 0.0,
        },
    )  # fmt: skip
    return {
        "fine-tuning": _steps(fine_tune(classes, root / "classes")),
        "pretraining": _steps(pretrain(language, root / "words")),
    }


def _steps(task: Iterator[Any]) -> list[str]:
    return [event.loss.hex() for event in task if isinstance(event, Step)]


def translatable(root: Path) -> list[str]:
    """Return every string that is to be translated, with its context."""
    target = root / "strings.ts"
    sources = subprocess.run(
        ["git", "ls-files", "app/*.py", "engine/*.py"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    tool = Path(sys.executable).parent / "pyside6-lupdate"
    alias = ["-tr-function-alias", "QT_TRANSLATE_NOOP+=marked"]
    subprocess.run([tool, *alias, *sources, "-ts", target], cwd=ROOT, check=True, capture_output=True)
    contexts = ElementTree.parse(target).getroot().iter("context")
    return sorted(
        {
            f"{context.findtext('name')}: {message.findtext('source')}"
            for context in contexts
            for message in context.iter("message")
        }
    )


def helps() -> dict[str, list[str]]:
    """Return what `--help` says of every command, line by line."""
    commands = next(
        one
        for one in command_line.parser_of_commands()._actions
        if isinstance(one, argparse._SubParsersAction)
    )
    return {name: command.format_help().splitlines() for name, command in commands.choices.items()}


# ---- recording and comparing


def record(folder: Path, only: list[str]) -> None:
    """Write all states, or those of some parts only, to a folder, and beside them losses and strings."""
    folder.mkdir(parents=True, exist_ok=True)
    root = Path(tempfile.mkdtemp(prefix="cloze-net-"))
    application = make_application(["cloze"], AppSettings(root / "settings.ini"))
    pretrain_findings.forecast = invented_forecast  # the engine's would measure this machine
    try:
        for name, window in states(root, only):
            found: dict[str, Any] = {}
            for mode in ("light", "dark"):
                theme.apply_theme(application, mode)
                for plot in window.findChildren(Figure):
                    if hasattr(plot, "flush"):
                        plot.flush()
                application.processEvents()
                window.grab().save(str(folder / f"{name}-{mode}.png"))
                found[mode] = described(window, root)
            same = found["light"] == found["dark"]
            _write(folder / f"{name}.json", found["light"] if same else found)
            print(name, flush=True)
        _write(folder / "losses.json", losses(root))
        _write(folder / "strings.json", translatable(root))
        _write(folder / "helps.json", helps())
    finally:
        shutil.rmtree(root, ignore_errors=True)


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=1), encoding="utf-8")


def compare(before: Path, after: Path) -> int:
    """Print what differs between two recordings; return how many states, or lists, do."""
    names = sorted(path.name for path in after.glob("*.json"))
    num_different = 0
    for name in names:
        one, other = (_read(folder / name) for folder in (before, after))
        found = list(differences(one, other, ""))
        if found:
            num_different += 1
            print(f"{name}: {len(found)} differences")
            print("\n".join(f"  {line[:300]}" for line in found[:MOST_SHOWN]))
    print(f"{num_different} of {len(names)} differ")
    return num_different


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def differences(one: Any, other: Any, place: str) -> Iterator[str]:
    """Yield where two values differ, in words."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            if key not in one or key not in other:
                yield f"{place}/{key}: only {'after' if key in other else 'before'}"
            else:
                yield from differences(one[key], other[key], f"{place}/{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            yield from differences(left, right, f"{place}[{number}]")
    elif (
        isinstance(one, list)
        and isinstance(other, list)
        and all(isinstance(each, str) for each in one + other)
    ):
        yield from (f"{place}: only before: {each}" for each in one if each not in other)
        yield from (f"{place}: only after: {each}" for each in other if each not in one)
    elif one != other:
        yield f"{place}: {one!r} -> {other!r}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("folder", type=Path)
    recording.add_argument("--only", default="", help="names of parts, with commas; all when left out")
    comparing = verbs.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    chosen = parser.parse_args()
    if chosen.verb == "record":
        record(chosen.folder, [name for name in chosen.only.split(",") if name])
        return 0
    return 1 if compare(chosen.before, chosen.after) else 0


if __name__ == "__main__":
    sys.exit(main())
