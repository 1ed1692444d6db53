"""Plays `cloze demo`: opens what it needs, goes or lets a person go through the tour, tells what happened."""

from __future__ import annotations

import argparse
import csv
import json
import math
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEventLoop, QTimer

from app.demo.album import Album
from app.demo.steps import DemoScenes
from app.main_window import MainWindow
from app.pages.choose.new_model import sample_vocabulary
from app.pages.tasks.classification.remarks import accuracy_words
from app.session import Session
from app.shipped import home_model, sample_data_path
from app.stories.known import story
from app.tour.steps import QUICK, Tour
from app.words import decimal, event_words, number, probability, say_error, share, translate
from engine.errors import bracketed, captioned, listed, sentences
from engine.events import Evaluated, Noted
from engine.settings.finetune import FineTuneConfig

RANDOM = {**QUICK, "batch_size": 32, "learning_rate": 1e-3, "embedding_rate": 1.0}
SHOWN_AT = 0.1, 0.3, 0.5, 0.7, 0.9  # of the training: frames of it; of the middle one a picture, too
PATIENCE_S = 600  # for a step that does not train
FINISHING_S = 3600  # for a training beyond the time that it is planned for


class WindowGone(Exception):
    """The person has closed the window."""


class CannotGoOn(Exception):
    """The demo cannot go on; the message says why."""


class Demo:
    """One demo, in a window of its own."""

    def __init__(self, window: MainWindow, session: Session, out: Path, windowless: bool) -> None:
        self.window, self.session, self.out, self.windowless = window, session, out, windowless
        self._album = Album(window, out, lambda seconds: self._until(lambda: False, seconds, must=False))
        self._found: dict[str, Any] = {}  # what the steps showed
        self._noted: set[str] = set()
        self._errors: list[BaseException] = []
        self._patience = math.inf  # for a training
        self._is_alone = True  # until a person takes over, whose mistakes the window answers
        self._trained: dict[str, Any] = {}  # what the training began with
        self._began = time.monotonic()
        for signal in (session.workers.problem, session.data.refused, session.model.refused):
            signal.connect(self._keep_error)
        session.training.failed.connect(self._errors.append)
        session.training.started.connect(self._keep_start)
        session.training.heard.connect(self._tell)

    def play(self, chosen: argparse.Namespace) -> int:
        """Play it; return the exit code. Raises: WindowGone."""
        try:
            self._open(chosen)
            self.scenes = DemoScenes(self.window, self.out)
            self.tour = Tour(self.window, self.scenes)
            if self.windowless:
                self._walk()
            else:
                self._accompany()
        except CannotGoOn as reason:
            said = say_error(self._errors[0]) if self._errors else str(reason)
            print(captioned("cloze demo", said), file=sys.stderr)
            return 2
        if self._errors:
            print(captioned("cloze demo", say_error(self._errors[0])), file=sys.stderr)
            return 2
        if self.session.training.last_model is None:
            _say(translate("demo", "The tour ended before anything was trained."))
        else:
            self._report(self._results())
        return 0

    def _open(self, chosen: argparse.Namespace) -> None:
        """Open the table and the model, and set the form."""
        session = self.session
        session.data.open(Path(chosen.data) if chosen.data else sample_data_path())
        self._until(lambda: session.data.summary is not None)
        summary, roles, table = session.data.summary, session.data.roles, session.data.table
        assert summary is not None and roles is not None and table is not None
        _say(
            translate("demo", "Opened {name}: {rows} rows, {format}"),
            name=table.path.name,
            rows=number(table.num_rows),
            format=table.format,
        )
        _say(
            translate("demo", "Guessed: “{text}” is the text, “{label}” the label ({labels})"),
            text=roles.text,
            label=roles.label,
            labels=listed(summary.labels[:5]),
        )
        starter = None if chosen.vocab else home_model()
        if starter is not None:
            session.model.choose(str(starter))
        else:
            session.model.choose("new:tiny", chosen.vocab or str(sample_vocabulary()))
        self._until(lambda: session.model.chosen is not None and session.data.summary is not None)
        assert session.model.chosen is not None
        values = {"num_epochs": story().table.epochs, **(QUICK if starter is not None else RANDOM)}
        values["minutes"] = chosen.seconds / 60
        self._patience = chosen.seconds + FINISHING_S if chosen.seconds else math.inf
        if chosen.epochs:
            values["num_epochs"] = chosen.epochs
        page = self._page("finetune")
        page.setup.set_values(values)
        if page.reason():
            raise CannotGoOn(page.reason())
        if starter is None and not chosen.vocab:
            _say(
                translate(
                    "demo",
                    "No starter model ships with this build, so a small model starts from random weights.",
                )
            )
        _say(
            translate("demo", "Model: {name}, {count} M weights. {prediction}"),
            name=session.model.chosen.words,
            count=decimal(session.model.chosen.num_parameters / 1e6, 1),
            prediction=page.setup.prediction.text().splitlines()[0],
        )

    # ---- with nobody at the window

    def _walk(self) -> None:
        """Go through all steps, waiting for each, and leave pictures of it; once more for the dark ones."""
        self._album.show_in("light")
        self.window.show_page("welcome")
        self._until(lambda: self.session.workers.is_idle)
        self._album.frame("start")
        self.tour.start()
        for mode in ("light", "dark"):
            self._album.show_in(mode)
            for place, step in enumerate(self.tour.steps):
                self.tour.go(place)
                if step.key == "learn":
                    self._watch()
                self._until(lambda: self.tour.is_ready)
                self.tour.look()
                if mode == "light":
                    self._note(step.key)
                    self._album.figures(step.key)
                    self._album.frame(step.key, self.tour)
                self._album.step(place + 1, step, self.tour)
        self.tour.leave()

    def _watch(self) -> None:
        session = self.session
        for part in SHOWN_AT:
            self._wait_unpainted(partial(self._is_at, part))
            if session.training.is_running:
                self._album.frame("running", self.tour)
                if part == SHOWN_AT[len(SHOWN_AT) // 2]:
                    self._album.picture("fine-tune-running", self.tour)
        self._wait_unpainted(lambda: not session.training.is_running)
        if session.training.state.outcome == "failed" or session.training.last_model is None:
            raise CannotGoOn("The training has failed.")

    def _is_at(self, part: float) -> bool:
        """Whether that share of the training is done, or the training is over."""
        training = self.session.training
        return training.state.share > part or not training.is_running

    def _wait_unpainted(self, condition: Callable[[], bool]) -> None:
        """Wait while training, and paint nothing: nobody looks, and it would take time from the training."""
        self.window.setUpdatesEnabled(False)
        try:
            self._until(condition, self._patience)
        finally:
            self.window.setUpdatesEnabled(True)

    # ---- with somebody at the window

    def _accompany(self) -> None:
        """Let a person go through the tour; wait until it has ended, and the training with it."""
        self._is_alone = False
        self.session.training.failed.connect(self.tour.leave)
        self.tour.step_changed.connect(self._note_left)
        self.tour.start()
        self._until(
            lambda: self.tour.has_ended and not self.session.training.is_running, math.inf, must=False
        )
        self._note("learn")

    def _note_left(self, _place: int) -> None:
        for key in self.tour.shown_keys[:-1]:
            self._note(key)

    # ---- what happened

    def _keep_error(self, error: BaseException) -> None:
        if self._is_alone:
            self._errors.append(error)

    def _keep_start(self, _run_dir: object) -> None:
        """Keep what the first training begins with: a person may open other things meanwhile."""
        session = self.session
        if not self._trained and session.model.chosen is not None and session.data.summary is not None:
            self._trained = {
                "start": session.model.chosen.model,
                "num_rows": session.data.summary.num_examples,
            }

    def _tell(self, events: Sequence[Any]) -> None:
        for event in events:
            if isinstance(event, Evaluated | Noted):
                print(f"  {event_words(event)}", flush=True)

    def _note(self, key: str) -> None:
        """Keep what a step showed, and print it."""
        scenes, training = self.scenes, self.session.training.state
        link = scenes.link() if key == "attention" else None
        if key in self._noted or (key == "learn" and self.session.training.is_running):
            return
        self._noted.add(key)
        if key == "learn" and training.step is not None:
            _say(
                translate("demo", "Trained for {step} of {count} steps."),
                step=number(training.step.step),
                count=number(training.num_steps),
            )
        elif key == "reasons" and scenes.told_reasons():
            self._found["counts_most"] = scenes.told_reasons()
            _say(
                translate("demo", "What the answer to “{text}” depends on: {words}"),
                text=self.session.inspector.text,
                words=listed(f"{word} {value:+.2f}" for word, value in scenes.told_reasons()[:3]),
            )
        elif key == "guesses" and scenes.told_guesses():
            self._found["guesses"] = scenes.told_guesses()
            _say(
                translate("demo", "Hid a word of “{text}”: {words}"),
                text=story().tour[0],
                words=listed(f"{word} {probability(value)}" for word, value in scenes.told_guesses()),
            )
        elif link is not None:
            self._found["attention"] = {**asdict(link), "layer": link.layer + 1, "head": link.head + 1}
            _say(
                translate(
                    "demo",
                    "“{text}” Layer {layer}, head {head} looks strongest of all between their main words: "
                    "“{word}” at “{other}”, {share}",
                ),
                text=sentences(story().pair),
                layer=link.layer + 1,
                head=link.head + 1,
                word=link.word,
                other=link.other,
                share=share(link.share, 0),
            )

    def _answers(self) -> list[dict[str, Any]]:
        """Return the answers in the file beside the sentences; none where it was not asked."""
        if not self.scenes.answers.is_file():
            return []
        with self.scenes.answers.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.DictReader(file))
        return [
            {
                "text": row["text"],
                "prediction": row["prediction"],
                "probability": float(row[f"probability: {row['prediction']}"]),
            }
            for row in rows
        ]

    def _results(self) -> dict[str, Any]:
        session, model = self.session, self.out / "model"
        assert session.training.last_model is not None
        beside = self.out / ".model-new"
        shutil.rmtree(beside, ignore_errors=True)
        shutil.copytree(session.training.last_model, beside)
        shutil.rmtree(model, ignore_errors=True)
        beside.rename(model)
        best, training = self._best(), session.training.state
        step, started = training.step, training.started
        results = {
            **self._trained,
            "num_train": started.num_train if started else 0,
            "num_learned": self._num_learned(),
            "num_validation": started.num_validation if started else 0,
            "num_steps": step.step if step else 0,
            "planned_steps": training.num_steps,
            "validation_accuracy": best.metrics.get("accuracy") if best else None,
            "validation_macro_f1": best.metrics.get("macro_f1") if best else None,
            "training_seconds": step.elapsed_s if step else 0.0,
            "seconds": time.monotonic() - self._began,
            "model": str(model),
            "run": str(session.training.run_dir),
            "answers": self._answers(),
            **self._found,
        }
        text = json.dumps(results, indent=1, ensure_ascii=False)
        (self.out / "results.json").write_text(text, encoding="utf-8")
        return results

    def _num_learned(self) -> int:
        """Return how many rows were learned from: all of them, unless the time ended in the first epoch."""
        config, training = self.session.training.config, self.session.training.state
        assert isinstance(config, FineTuneConfig) and training.started is not None
        batch = config.training.batch_size * config.training.gradient_accumulation_steps
        steps = training.step.step if training.step is not None else 0
        return min(training.started.num_train, steps * batch)

    def _best(self) -> Any:
        return self._page("finetune").charts.advice.best

    def _report(self, results: dict[str, Any]) -> None:
        best = self._best()
        print()
        for answer in results["answers"]:
            print(f"  {share(answer['probability']):>7} {answer['prediction']:<10} {answer['text']}")
        print()
        for line in in_columns(self._lines(results, accuracy_words(best) if best else "–")):
            print(line)

    def _lines(self, results: dict[str, Any], accuracy: str) -> list[tuple[str, str]]:
        """Return what came of it: caption and value."""
        learned, train = results["num_learned"], results["num_train"]
        read, of = number(learned), translate("demo", "{step} of {count}")
        rows = translate("demo", "{count}: {train} for training, {validation} for validation").format(
            count=number(results["num_rows"]),
            train=read if learned == train else of.format(step=read, count=number(train)),
            validation=number(results["num_validation"]),
        )
        steps = of.format(step=number(results["num_steps"]), count=number(results["planned_steps"]))
        in_all = translate("demo", "{time} in all").format(time=clock(results["seconds"]))
        lines = [
            (translate("demo", "Rows"), rows),
            (translate("demo", "Steps"), steps),
            (translate("demo", "Validation accuracy"), accuracy),
            (translate("demo", "Validation macro F1"), decimal(results["validation_macro_f1"])),
            (translate("demo", "Training took"), bracketed(clock(results["training_seconds"]), in_all)),
            (translate("demo", "Model"), results["model"]),
        ]
        if self.windowless:
            lines.append((translate("demo", "Screenshots"), str(self.out / "screenshots")))
            lines.append((translate("demo", "Figures"), str(self.out / "figures")))
        return lines

    def _page(self, key: str) -> Any:
        return self.window.page(key)

    def _until(
        self, condition: Callable[[], bool], timeout_s: float = PATIENCE_S, *, must: bool = True
    ) -> bool:
        """Serve the window until something is so. Raises: WindowGone; CannotGoOn on an error or time-out."""
        deadline = time.monotonic() + timeout_s
        loop, timer = QEventLoop(), QTimer(interval=20)
        timer.timeout.connect(loop.quit)
        timer.start()
        while not condition():
            if must and self._errors:
                raise CannotGoOn("An error was told.")
            if time.monotonic() > deadline:
                if must:
                    template = translate("demo", "Nothing came of it for {time}; please report this.")
                    raise CannotGoOn(template.format(time=clock(timeout_s)))
                return False
            loop.exec()
            if not self.window.isVisible():
                raise WindowGone
        return True


def clock(seconds: float) -> str:
    """Return a time to the second: "3 min 20 s"."""
    minutes, rest = divmod(round(seconds), 60)
    if not minutes:
        return translate("demo", "{seconds} s").format(seconds=rest)
    return translate("demo", "{minutes} min {seconds} s").format(minutes=minutes, seconds=rest)


def in_columns(lines: Sequence[tuple[str, str]]) -> list[str]:
    """Return captions and values under each other, as a terminal shows them: Chinese is two columns wide."""
    widest = max(_width(caption) for caption, _value in lines)
    return [f"{caption}{' ' * (widest - _width(caption) + 2)}{value}" for caption, value in lines]


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _say(template: str, **values: object) -> None:
    print(template.format(**values), flush=True)
