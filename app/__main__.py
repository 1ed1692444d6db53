"""The command `cloze`: opens the workbench, or says in one sentence why it cannot.

Neither Qt nor torch is imported before it is known that they are needed.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from app.system_check import or_what_is_missing, why_no_window
from engine.commands.spoken_help import speak_help
from engine.errors import listed, marked
from engine.language import ENGLISH, SpokenText, named_outside, said, speak
from engine.own_process import command_words, run_as_module


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code; 2 for what a person can mend."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if run_as_module(given):
        return 0
    if given[:1] == ["engine"]:
        from engine.commands.command_line import main as run_command

        return run_command(given[1:])
    speak(named_outside() or ENGLISH)
    parser = parser_of_window()
    speak_help(parser)
    chosen, rest = parser.parse_known_args(given)
    if chosen.file == "demo":
        from app.demo.command import run

        return run(rest)
    if rest:
        parser.error(said(marked("engine", "unknown: {words}"), words=" ".join(rest)))
    reason = why_no_window()
    if reason:
        print(reason, file=sys.stderr)
        return 2
    return or_what_is_missing(lambda: _open_window(chosen.file, chosen.page, parser))


def parser_of_window() -> argparse.ArgumentParser:
    """Return what reads the command."""
    instead = marked("engine", "The same work without a window: {command}")
    parser = argparse.ArgumentParser(
        prog="cloze",
        description="A desktop workbench for BERT. Without an argument it opens its window.",
        epilog=SpokenText(said(instead, command=f"{' '.join(command_words())} --help")),
    )
    parser.add_argument(
        "file",
        nargs="?",
        metavar="FILE | demo | engine",
        help="a table (CSV, JSON lines, Excel, SQLite and more), lecture (.cloze) or model folder to open; "
        "demo: train a small model on sample data, with a window or without one; "
        "engine COMMAND: work without a window",
    )
    parser.add_argument(
        "--page",
        metavar="NAME",
        default="",
        help="open this page: start, data, label, fine-tune, evaluate, predict, tokenizer, masked-words, "
        "attention, embeddings, step-by-step, lectures, family, models, runs or pretrain",
    )
    parser.add_argument("--version", action="version", version=f"Cloze {_version()}")
    return parser


def _version() -> str:
    try:
        return version("cloze-workbench")
    except PackageNotFoundError:  # run from a source tree that is not installed
        return "(not installed)"


def _open_window(file: str | None, page: str, parser: argparse.ArgumentParser) -> int:
    import engine  # noqa: F401  # before torch, which reads how its threads wait

    if sys.platform == "win32":
        import torch  # noqa: F401  # before Qt: the two do not load in the other order there
    from app.qt_import import import_qt

    import_qt()
    from app.application import make_application
    from app.look.error_dialog import install_excepthook
    from app.rail import NAMES
    from app.settings import AppSettings
    from app.windows import Windows

    if page and page not in NAMES:
        template = marked("engine", "there is no page {name}. Pages: {names}")
        parser.error(said(template, name=page, names=listed(NAMES)))
    settings = AppSettings()
    application = make_application(sys.argv[:1], settings)
    window = Windows(application, settings).window
    if file:
        window.open_file(file)
    else:
        window.reopen()
    if page:
        window.show_page(NAMES[page])
    window.show()
    install_excepthook()  # not before: what fails until here belongs on the terminal
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl+C ends it; a run that trains can be resumed
    return int(application.exec())


if __name__ == "__main__":
    sys.exit(main())
