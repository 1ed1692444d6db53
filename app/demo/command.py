"""The command `cloze demo`: the real window fine-tunes the starter model live, then shows what is in it.

It drives the same window and session that a person would: the sample sentences are opened, their roles are
guessed, Start is pressed, and a tour leads through the result, masked words and attention. With a display the
window stays open; without one it goes the same way offscreen and leaves screenshots and figures. Where no
starter model ships, a small model starts from random weights, and there are no words to guess.

The folder (./cloze-demo, or --out DIR) holds model/ (the newest result), runs/ (every run, in a folder of its
own), screenshots/, frames/, figures/, sentences.csv with its answers, and results.json. A later demo
uses the same folder again: it replaces all but runs/. A folder with other things in it is refused and left as
is.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from app.system_check import or_what_is_missing, why_no_window
from engine.commands.spoken_help import speak_help
from engine.errors import captioned, marked
from engine.language import ENGLISH, named_outside, said, speak

SECONDS = 165.0  # of training, the look at the rows kept apart among them: four minutes in all
MARK = "made-by-cloze-demo.txt"
LONGEST_S, MOST_EPOCHS = 7 * 24 * 3600, 10_000  # that may be asked for
WINDOWLESS = ("offscreen", "minimal", "vnc")


def run(argv: Sequence[str] = ()) -> int:
    """Run the demo and return its exit code; 2 for what a person can mend."""
    speak(named_outside() or ENGLISH)
    parser = parser_of_demo()
    speak_help(parser)
    chosen = parser.parse_args(list(argv))
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
    return or_what_is_missing(lambda: _quietly(out, chosen) if windowless else _run(out, windowless, chosen))


def prepare(out: Path) -> str:
    """Make the demo's folder, or return in one sentence why it cannot be used."""
    try:
        if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / MARK).is_file())):
            template = marked(
                "engine", "{folder} has other things in it. Name another folder with --out DIR."
            )
            return captioned("cloze demo", said(template, folder=out))
        out.mkdir(parents=True, exist_ok=True)
        (out / MARK).write_text("Made by `cloze demo`. This folder can be deleted.\n", encoding="utf-8")
        for name in ("screenshots", "frames", "figures"):
            shutil.rmtree(out / name, ignore_errors=True)
        for old in (*out.glob("sentences*.csv"), *out.glob("results.json")):
            old.unlink()
    except OSError as error:
        template = marked(
            "engine", "{folder} cannot be written ({reason}). Name another folder with --out DIR."
        )
        return captioned("cloze demo", said(template, folder=out, reason=error.strerror))
    return ""


def parser_of_demo() -> argparse.ArgumentParser:
    """Return what reads the command."""
    parser = argparse.ArgumentParser(
        prog="cloze demo",
        description="Fine-tune the starter model on sample sentences, and show what is inside it.",
    )
    parser.add_argument(
        "--out", default="cloze-demo", metavar="DIR", help="where all files go (./cloze-demo)"
    )
    parser.add_argument(
        "--epochs",
        type=_epochs,
        default=0,
        metavar="N",
        help="how often each row is seen at most (twice)",
    )
    help_text = f"train on as much as fits into this time ({SECONDS:g}); 0: on everything"
    parser.add_argument("--seconds", type=_seconds, default=SECONDS, help=help_text)
    parser.add_argument("--data", default="", metavar="FILE", help="another table than the sample sentences")
    parser.add_argument(
        "--vocab", default="", metavar="FILE", help="a vocabulary: start from random weights with it"
    )
    return parser


def _epochs(text: str) -> int:
    """Return a count of epochs, 1 or more. Raises: ArgumentTypeError."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST_EPOCHS:
        template = marked("engine", "{text} is not a whole number from 1 to {most}.")
        raise argparse.ArgumentTypeError(said(template, text=text, most=MOST_EPOCHS))
    return int(text)


def _seconds(text: str) -> float:
    """Return a limit in seconds. Raises: ArgumentTypeError."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST_S:  # nan is neither
        template = marked("engine", "{text} is not a number of seconds from 0 to {most}.")
        raise argparse.ArgumentTypeError(said(template, text=text, most=LONGEST_S))
    return seconds


def _quietly(out: Path, chosen: argparse.Namespace) -> int:
    """Run without a display, and without Qt's remarks on what it cannot do there."""
    from PySide6.QtCore import qInstallMessageHandler

    def hear(_kind: object, _context: object, text: str) -> None:
        if not text.startswith("This plugin does not support"):
            print(text, file=sys.stderr)

    before = qInstallMessageHandler(hear)
    try:
        return _run(out, True, chosen)
    finally:
        qInstallMessageHandler(before)


def _run(out: Path, windowless: bool, chosen: argparse.Namespace) -> int:
    import engine  # noqa: F401, I001  # before torch, which reads how its threads wait
    import torch  # noqa: F401  # before Qt: on Windows the two do not load in the other order
    from PySide6.QtWidgets import QApplication

    from app.application import make_application
    from app.demo.play import WindowGone, Demo
    from app.main_window import MainWindow
    from app.session import Session
    from app.settings import AppSettings
    from app.words import translate

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
            print(translate("demo", "The window stays open: try it on your own texts, or close it to end."))
            application.exec()
    except WindowGone:
        code = 0
    finally:
        window.close()
        session.close()
        session.wait_idle(10)
        window.deleteLater()
    return code
