"""The command `cloze demo`: the real window fine-tunes a small model on the sample sentences.

It drives the same window and session that a person would: the table is opened, its roles are guessed, the
settings are put into the form, Start is pressed, and a few sentences are asked about. The weights are random
at first. With a display the window stays open; without one it runs offscreen and leaves screenshots.

The folder (./cloze-demo, or --out DIR) holds model/ (the newest result), runs/ (every run, in a folder of its
own), screenshots/, sentences.csv with the answers beside it, and results.json. A later demo uses the same
folder again: it replaces all but runs/. A folder with other things in it is refused and left as it is.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.system_check import install_sentence, missing_from_error, why_no_window

if TYPE_CHECKING:
    from app.main_window import MainWindow
    from app.session import Session

MARK = "made-by-cloze-demo.txt"
SIZE = "tiny"
SETTINGS = {
    "max_length": 64,
    "batch_size": 32,
    "num_epochs": 2,
    "learning_rate": 1e-3,
    "evaluate_every_steps": 134,  # twice an epoch
}
MOST_SECONDS = (
    200  # on a slow machine the demo stops and keeps what it has, and still ends within four minutes
)
SENTENCES = (
    "A warm, funny and beautifully acted film.",
    "The plot is dull, the jokes are stale and the ending is a mess.",
    "One of the most moving stories of the year.",
    "It is too long, too loud and never once surprising.",
    "An honest and touching portrait of a family.",
    "There is not a single idea in this lazy sequel.",
)
WINDOWLESS = ("offscreen", "minimal", "vnc")


class Closed(Exception):
    """The person has closed the window: there is nothing left to show."""


def run(argv: Sequence[str] = ()) -> int:
    """Run the demo and return its exit code; 2 for what a person can mend."""
    chosen = _parser().parse_args(list(argv))
    out = Path(chosen.out).absolute()
    refusal = prepare(out)
    if refusal:
        print(refusal, file=sys.stderr)
        return 2
    platform = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0]
    windowless = platform in WINDOWLESS or bool(why_no_window())
    if windowless and platform not in WINDOWLESS:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    if windowless:  # its remarks on what it cannot do would stand between our lines
        os.environ.setdefault("QT_LOGGING_RULES", "qt.qpa.*=false")
    try:
        return _run(out, windowless, chosen)
    except ImportError as error:
        missing = missing_from_error(error)
        if not missing:
            raise
        print(install_sentence(missing), file=sys.stderr)
        return 2


def prepare(out: Path) -> str:
    """Make the demo's folder, or return in one sentence why it cannot be used."""
    try:
        if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / MARK).is_file())):
            return f"cloze demo: {out} has other things in it. Name another folder with --out DIR."
        out.mkdir(parents=True, exist_ok=True)
        (out / MARK).write_text("Made by `cloze demo`. This folder can be deleted.\n", encoding="utf-8")
    except OSError as error:
        return f"cloze demo: {out} cannot be written ({error.strerror}). Name another folder with --out DIR."
    return ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="cloze demo", description="Train a small model on sample sentences."
    )
    parser.add_argument(
        "--out", default="cloze-demo", metavar="DIR", help="where all files go (./cloze-demo)"
    )
    parser.add_argument(
        "--epochs", type=int, default=SETTINGS["num_epochs"], help="how often every row is seen"
    )
    help_text = f"stop and keep after this time ({MOST_SECONDS}); 0: never"
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help=help_text)
    parser.add_argument("--data", default="", metavar="FILE", help="another table than the sample sentences")
    parser.add_argument(
        "--vocab", default="", metavar="FILE", help="another vocabulary than the one that ships"
    )
    return parser


def _run(out: Path, windowless: bool, chosen: argparse.Namespace) -> int:
    import engine  # noqa: F401, I001  # before torch, which reads how its threads wait
    import torch  # noqa: F401  # before Qt: on Windows the two do not load in the other order
    from PySide6.QtWidgets import QApplication

    from app.application import make_application
    from app.main_window import MainWindow
    from app.session import Session
    from app.settings import AppSettings

    settings = AppSettings(out / "settings.ini")
    settings.theme = "light" if windowless else AppSettings().theme
    settings.runs_root = out / "runs"
    instance = QApplication.instance()
    application = instance if isinstance(instance, QApplication) else make_application(sys.argv[:1], settings)
    session = Session(settings)
    window = MainWindow(session)
    window.resize(1280, 800)
    window.show()
    demo = Demo(window, session, out, windowless)
    try:
        code = demo.play(chosen)
        if not windowless:
            print("The window stays open: try it on texts of your own, or close it to end.")
            application.exec()
    except Closed:
        code = 0
    window.close()
    session.close()
    session.wait_idle()
    window.deleteLater()
    return code


class Demo:
    """The scenes, in the order in which a person would meet them."""

    def __init__(self, window: MainWindow, session: Session, out: Path, windowless: bool) -> None:
        self.window, self.session, self.out, self.windowless = window, session, out, windowless
        self._errors: list[BaseException] = []
        self._began = time.monotonic()
        for signal in (
            session.problem,
            session.table_problem,
            session.model_problem,
            session.training_failed,
        ):
            signal.connect(self._errors.append)

    def play(self, chosen: argparse.Namespace) -> int:
        """Play all scenes; return the exit code."""
        from app.words import say_error

        try:
            self._open(chosen.data)
            self._train(chosen)
            answers = self._ask()
            results = self._results(answers)
        except RuntimeError:
            if not self._errors:
                raise
            print(f"cloze demo: {say_error(self._errors[0])}", file=sys.stderr)
            return 2
        self._report(results)
        return 0

    def _open(self, data: str) -> None:
        from app.session import sample_data_path
        from app.words import number

        self.session.open_table(Path(data) if data else sample_data_path())
        self._until(lambda: self.session.study is not None)
        study, roles, table = self.session.study, self.session.roles, self.session.table
        assert study is not None and roles is not None and table is not None
        print(f"Opened {table.path.name}: {number(table.num_rows)} rows, {table.format}")
        print(
            f"Guessed: {roles.text!r} is the text, {roles.label!r} the label ({', '.join(study.labels[:5])})"
        )
        self._picture("data")

    def _train(self, chosen: argparse.Namespace) -> None:
        from app.pages.finetune_model import sample_vocabulary
        from app.words import decimal, duration, number

        session, page = self.session, self._page("finetune")
        self.window.show_page("finetune")
        session.set_model(f"new:{SIZE}", chosen.vocab or str(sample_vocabulary()))
        self._until(lambda: session.model is not None and session.study is not None)
        page.setup.set_values({**SETTINGS, "num_epochs": chosen.epochs})
        page.setup.predict()
        assert session.model is not None
        size = f"{decimal(session.model.num_parameters / 1e6, 1)} M random weights"
        print(f"Model: {session.model.words}, {size}. {page.setup.prediction.text().splitlines()[0]}")
        session.training_heard.connect(self._tell)
        page.start_button.click()
        self._until(lambda: session.training.evaluated is not None or not session.is_training, 600)
        if session.is_training:
            self._picture("fine-tune-running")
        limit = chosen.seconds - (time.monotonic() - self._began) if chosen.seconds else 0
        if chosen.seconds and not self._until(lambda: not session.is_training, max(0.0, limit), must=False):
            print(f"Stopping after {duration(chosen.seconds)}; what was learned is kept.")
            page.stop_button.click()
        self._until(lambda: not session.is_training, 3600)
        if session.training.outcome == "failed" or session.last_model is None:
            raise RuntimeError("training has failed")
        step = session.training.step
        print(f"Trained for {number(step.step if step else 0)} steps.")
        self._picture("fine-tune")

    def _tell(self, events: list[Any]) -> None:
        from app.words import event_words
        from engine.events import Evaluated

        for event in events:
            if isinstance(event, Evaluated):
                print(f"  {event_words(event)}", flush=True)

    def _ask(self) -> list[tuple[str, str, float]]:
        """Ask about the sentences, one by one and as a file; return (sentence, answer, probability)."""
        page, sentences = self._page("predict"), self.out / "sentences.csv"
        self.window.show_page("predict")
        for old in self.out.glob("sentences*.csv"):
            old.unlink()
        sentences.write_text("text\n" + "".join(f'"{text}"\n' for text in SENTENCES), encoding="utf-8")
        answers = []
        for text in SENTENCES[::-1]:  # the first is asked last and stays in the picture
            page.text_card.text_box.setPlainText(text)
            page.text_card.ask()
            self._until(lambda: not page.text_card.bars.is_empty and not self.session.is_inspecting)
            name, value = max(page.text_card.bars.bars, key=lambda bar: bar[1])
            answers.append((text, name, value))
        page.open_file(sentences)
        self._until(lambda: page.run_button.isEnabled())
        page.run_button.click()
        self._until(lambda: page.run_button.isVisible() and not self.session.is_inspecting)
        self._picture("predict")
        return answers[::-1]

    def _results(self, answers: list[tuple[str, str, float]]) -> dict[str, Any]:
        session, model = self.session, self.out / "model"
        assert session.last_model is not None and session.study is not None
        beside = self.out / ".model-new"
        shutil.rmtree(beside, ignore_errors=True)
        shutil.copytree(session.last_model, beside)
        shutil.rmtree(model, ignore_errors=True)
        beside.rename(model)
        best = self._page("finetune").charts.watching.watch.best
        step = session.training.step
        results = {
            "num_rows": session.study.num_examples,
            "num_steps": step.step if step else 0,
            "validation_accuracy": best.metrics.get("accuracy") if best else None,
            "validation_macro_f1": best.metrics.get("macro_f1") if best else None,
            "training_seconds": step.elapsed_s if step else 0.0,
            "seconds": time.monotonic() - self._began,
            "model": str(model),
            "run": str(session.run_dir),
            "answers": [
                {"text": text, "prediction": name, "probability": value} for text, name, value in answers
            ],
        }
        (self.out / "results.json").write_text(
            json.dumps(results, indent=1, ensure_ascii=False), encoding="utf-8"
        )
        return results

    def _report(self, results: dict[str, Any]) -> None:
        from app.words import decimal, duration, number, share

        print()
        for answer in results["answers"]:
            print(f"  {share(answer['probability']):>7} {answer['prediction']:<10} {answer['text']}")
        print()
        print(f"Rows                 {number(results['num_rows'])}")
        print(f"Steps                {number(results['num_steps'])}")
        print(f"Validation accuracy  {decimal(results['validation_accuracy'])}")
        print(f"Validation macro F1  {decimal(results['validation_macro_f1'])}")
        print(
            f"Training took        {duration(results['training_seconds'])}"
            f" ({duration(results['seconds'])} in all)"
        )
        print(f"Model                {results['model']}")
        if self.windowless:
            print(f"Screenshots          {self.out / 'screenshots'}")

    def _page(self, key: str) -> Any:
        return self.window.page(key)

    def _picture(self, name: str) -> None:
        """Leave the window as it is in both themes, where nobody is looking at it."""
        if not self.windowless:
            return
        from PySide6.QtWidgets import QApplication

        from app.theme import apply_theme

        application = QApplication.instance()
        assert isinstance(application, QApplication)
        folder = self.out / "screenshots"
        folder.mkdir(exist_ok=True)
        for mode in ("dark", "light"):
            apply_theme(application, mode)
            self._until(lambda: False, 0.25, must=False)  # curves are drawn ten times a second
            self.window.grab().save(str(folder / f"{name}-{mode}.png"))

    def _until(self, condition: Callable[[], bool], timeout_s: float = 120, *, must: bool = True) -> bool:
        """Serve the window until something is so. Raises: Closed; RuntimeError on an error or time-out."""
        from PySide6.QtCore import QEventLoop, QTimer

        deadline = time.monotonic() + timeout_s
        loop, timer = QEventLoop(), QTimer(interval=20)
        timer.timeout.connect(loop.quit)
        timer.start()
        while not condition():
            if must and self._errors:
                raise RuntimeError("an error was told")
            if time.monotonic() > deadline:
                if must:
                    raise RuntimeError("the demo has waited too long")
                return False
            loop.exec()
            if not self.window.isVisible():
                raise Closed
        return True
