"""The same work without a window: `python -m engine COMMAND ...`, and the lines that "Copy as command" gives.

Results that a program reads go to stdout, everything else to stderr; 2 is the exit code for what a person can
mend.
"""

from __future__ import annotations

import argparse
import errno
import io
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from engine.commands.agreement import add_agreement_command
from engine.commands.ask import add_question, ask
from engine.commands.convert import add_convert_command
from engine.commands.doctor import add_doctor_command
from engine.commands.download import add_download_command
from engine.commands.export import add_export_command
from engine.commands.family import add_family_commands
from engine.commands.language import (
    add_language_commands,
    add_settings,
    flags_given,
    follow,
    help_of,
    is_follower,
    settings_given,
    settings_help,
    train,
)
from engine.commands.remote import (
    add_remote_commands,
    add_where,
    check_where,
    joined,
    resume_remote,
    train_on,
)
from engine.commands.runs import add_run_commands
from engine.commands.screen import STOPPED, print_json, run_series
from engine.commands.spoken_help import speak_help
from engine.durable import write_text
from engine.errors import UserError, marked
from engine.events import Evaluated, Event, Noted
from engine.language import COMMANDS, ENGLISH, known_language, languages, named_outside, said, speak, spoken
from engine.questions.compare import ComparisonQuestion
from engine.questions.cost import CostQuestion
from engine.questions.evaluate import EvaluationQuestion
from engine.questions.flags import flag_of, flag_words
from engine.questions.how_read import HOW_READ, ReadSettings, add_how_read
from engine.questions.known import LOOKING_INSIDE
from engine.questions.label import LabellingQuestion
from engine.questions.predict import PredictionQuestion
from engine.questions.prevalence import PrevalenceQuestion
from engine.questions.report import ReportQuestion
from engine.questions.scores import scores_document
from engine.questions.tokenize import TokenizeQuestion
from engine.settings.config import values_of, with_values
from engine.settings.finetune import FineTuneConfig
from engine.shipped import model_named
from engine.text.roles import ROLE_NAMES

FINETUNE_FLAGS = (
    "task",
    "data",
    "validation_data",
    "test_data",
    *ROLE_NAMES,
    "recipe",
    "model",
    "vocab",
    "way",
)
PATHS = ("data", "validation_data", "test_data", "recipe", "vocab", "model")
LANGUAGE_FLAG = "--lang"
NAMING_MODELS = ("model", "bert")  # flags
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # where stdout leads to


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code."""
    _have_outputs()
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal that lacks a character is no fault
    try:
        given = sys.argv[1:] if arguments is None else arguments
        _check_readable(given)
        speak(_language_of(given))
        parser = parser_of_commands()
        speak_help(parser)
        options = parser.parse_args(joined(given))
        _find_shipped(options)
        code = int(options.run(options))
        sys.stdout.flush()
        return code
    except UserError as error:
        print(str(error), file=sys.stderr)
        return 2
    except BrokenPipeError:  # who read it has seen enough
        _write_no_more()
        return 1
    except OSError as error:
        if error.filename is not None or error.errno not in _NO_ROOM:
            raise  # of a file: that is told where it is written
        template = marked("engine", "The output could not be written: {reason}.")
        print(said(template, reason=error.strerror), file=sys.stderr)
        _write_no_more()
        return 2
    except KeyboardInterrupt:
        print(spoken(STOPPED), file=sys.stderr)
        return 130


def _language_of(arguments: Sequence[str]) -> str:
    """Return the language that is asked for, before a command or outside. Raises: UserError: no such one."""
    named = ""
    for one, following in zip(arguments, [*arguments[1:], ""], strict=False):
        if one.startswith(LANGUAGE_FLAG):
            named = one.partition("=")[2] or following
        elif not one.startswith("-") and one != named:
            break  # the command, and what is said to it
    if named and not known_language(named):
        template = marked("engine", "There is no language {name}. Languages: {names}.")
        raise UserError(template, name=named, names=list(languages()))
    return known_language(named) or named_outside() or ENGLISH


def _find_shipped(options: argparse.Namespace) -> None:
    """Let models that ship be called by name, such as "starter", by whichever command asks for a model."""
    for name in NAMING_MODELS:
        named = getattr(options, name, None)
        if isinstance(named, list):
            setattr(options, name, [type(one)(model_named(one)) for one in named])
        elif named:
            setattr(options, name, type(named)(model_named(named)))


def _have_outputs() -> None:
    """Let what is said go nowhere where this process was started with its outputs closed."""
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115 # it stays open
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115


def _check_readable(arguments: Sequence[str]) -> None:
    """Refuse what was typed where it cannot be known which characters that is. Raises: UserError."""
    encoding = sys.getfilesystemencoding()
    if encoding != "utf-8" and any(re.search("[\udc80-\udcff]", one) for one in arguments):
        raise UserError(
            marked(
                "engine",
                "This terminal’s locale ({encoding}) cannot hold all characters that were typed. Set "
                "LC_ALL=C.UTF-8, or PYTHONUTF8=1.",
            ),
            encoding=encoding,
        )


def _write_no_more() -> None:
    """Drop what stdout could not take, which Python would try once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# --- lines for a shell --------------------------------------------------------------------------------


def finetune_command(config: FineTuneConfig, run_dir: Path, where: Sequence[str] = ()) -> str:
    """Return the line that does this run without the window; settings at their defaults are left out.

    Args: where: words that say on which computer; see `where_words`.
    """
    values, defaults = values_of(config), values_of(FineTuneConfig())
    words = ["python", "-m", "engine", "finetune"]
    chosen = [name for name in FINETUNE_FLAGS if values[name] != defaults[name]]
    words += _flags(values, chosen) + ["--run", str(run_dir)]
    words += ReadSettings.of(values).words()
    for name, value in values.items():
        if name not in (*FINETUNE_FLAGS, *HOW_READ) and value != defaults[name]:
            words += ["--set", f"{name}={value}"]
    return shlex.join([*words, *where])


def _flags(values: dict[str, Any], names: Sequence[str]) -> list[str]:
    said = ((name, str(values[name])) for name in names)
    return [word for name, value in said if value for word in flag_words(flag_of(name), value)]


# --- commands -----------------------------------------------------------------------------------------


def _finetune(options: argparse.Namespace) -> int:
    run_dir = Path(options.run_dir).absolute()
    found: list[Event] = []
    if check_where(options):
        code = train_on(options, _config_given(options), found)
    else:
        from engine.train.finetune import fine_tune

        task = _with_columns(_config_given(options), lambda config: fine_tune(config, run_dir))
        if is_follower():
            return follow(task)
        code = train(task, run_dir, found)
    has_model = (run_dir / "model").is_dir()  # it may have been left where it was trained
    if code == 0 and has_model and (options.json or options.json_result):
        document = _trained_document(found, run_dir)
        if options.json_result:
            write_text(Path(options.json_result), json.dumps(document, indent=1, ensure_ascii=False))
        if options.json:
            print_json(document)
    return code


def _trained_document(found: Sequence[Event], run_dir: Path) -> dict[str, Any]:
    """Return a run for a program: how it was learned, how good that is, the scores of the weights that it
    kept, and every sentence told.

    The accuracy is cross-validated where the way was chosen, else that of test or validation.
    """
    from engine.model.info import read_info
    from engine.train.run.runs import MODEL, read_config

    notes = [str(event.sentence) for event in found if isinstance(event, Noted)]
    measured = [event for event in found if isinstance(event, Evaluated)]
    document: dict[str, Any] = {"model": str(run_dir / MODEL), "run": str(run_dir)}
    best = [event for event in measured if event.split == "validation" and event.is_best]
    for name, events in (("validation", best), ("test", [one for one in measured if one.split == "test"])):
        if events:
            document[name] = {**scores_document(events[-1], ()), "step": events[-1].step}
            del document[name]["notes"]
    measured_on = document.get("test") or document.get("validation") or {}
    found_by = {"way": values_of(read_config(run_dir))["way"], "accuracy": None, "interval": None}
    if "accuracy_interval" in measured_on:
        found_by |= {"accuracy": measured_on["accuracy"], "interval": measured_on["accuracy_interval"]}
    chosen = read_info(run_dir / MODEL).get("way")
    return {**found_by, **(chosen or {}), **document, "notes": notes}


def _compare_ways(options: argparse.Namespace) -> int:
    from engine.train import comparison

    folder = Path(options.run_dir).absolute()
    task = _with_columns(
        _config_given(options), lambda config: comparison.compare(config, folder, options.seeds)
    )
    return run_series(task, folder, comparison.SETTINGS, comparison.REPORT, comparison.table)


def _with_columns(
    config: FineTuneConfig, work: Callable[[FineTuneConfig], Iterator[Event]]
) -> Generator[Event, None, None]:
    """Do some work with settings in which columns that nobody has named are guessed."""
    from engine.train.tasks.known import guessing_columns

    data = yield from guessing_columns(config.data)
    yield from work(replace(config, data=data))


def _config_given(options: argparse.Namespace) -> FineTuneConfig:
    """Return the settings of a fine-tuning that a command line gives, paths absolute. Raises: ConfigError."""
    values = settings_given(options)
    values |= flags_given(options, (*FINETUNE_FLAGS, *HOW_READ))
    config = with_values(FineTuneConfig(), values)
    places = {name: value for name, value in values_of(config).items() if name in PATHS and value}
    if config.model.model.startswith("new:"):
        del places["model"]
    return with_values(config, {name: str(Path(place).absolute()) for name, place in places.items()})


def _resume(options: argparse.Namespace) -> int:
    run_dir = Path(options.run_dir).absolute()
    if (code := resume_remote(run_dir)) is not None:
        return code
    from engine.family import card
    from engine.family import train as family
    from engine.family.layout import SETTINGS, family_of
    from engine.train import comparison, gains, pipeline, resume

    for kind, table in ((pipeline, gains.table), (comparison, comparison.table)):
        if (run_dir / kind.SETTINGS).is_file():
            return run_series(kind.resume(run_dir), run_dir, kind.SETTINGS, kind.REPORT, table)
    whole = family_of(run_dir)  # a member goes on with the whole family
    if whole is not None:
        return run_series(family.resume(whole), whole, SETTINGS, family.REPORT, card.table)
    task = resume.resume(run_dir)
    return follow(task) if is_follower() else train(task, run_dir)


def _predict(options: argparse.Namespace) -> int:
    from engine.commands.stream import stream

    question = PredictionQuestion.given_by(options)
    if not question.stream:
        return ask(question)
    question.check()
    return stream(question.model.folder, question.device)


# --- arguments ----------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    """Refuses in one sentence, without its usage before it."""

    def error(self, message: str) -> NoReturn:
        template = spoken(marked("command", "{message}. See: {command}"), COMMANDS)
        told = template.format(message=f"{message[0].upper()}{message[1:]}", command=f"{self.prog} --help")
        self.exit(2, f"{told}\n")


def parser_of_commands() -> argparse.ArgumentParser:
    """Return the parser of all commands, in English."""
    parser = _Parser(
        prog="python -m engine",
        description="Cloze without a window: pretrain, fine-tune, evaluate and use a BERT.",
    )
    parser.add_argument(
        LANGUAGE_FLAG,
        metavar=f"{{{','.join(languages())}}}",
        help="say everything in this language; also by CLOZE_LANG",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_finetune(commands)
    add_language_commands(commands)
    for kind in LOOKING_INSIDE:
        add_question(commands, kind)
    add_run_commands(commands)
    add_question(commands, EvaluationQuestion)
    add_question(commands, PrevalenceQuestion)
    add_question(commands, CostQuestion)
    add_question(commands, LabellingQuestion)
    add_question(commands, ComparisonQuestion)
    add_question(commands, ReportQuestion)
    add_doctor_command(commands)
    add_agreement_command(commands)
    add_export_command(commands)
    add_family_commands(commands)
    for name in ("doctor", "agreement", "export"):
        add_how_read(commands.choices[name])
    resume = commands.add_parser("resume", help="continue a run or a pipeline from its folder")
    resume.add_argument("run_dir", metavar="RUN")
    resume.set_defaults(run=_resume)
    add_question(commands, PredictionQuestion)
    commands.choices[PredictionQuestion.name].set_defaults(run=_predict)
    add_question(commands, TokenizeQuestion)
    add_remote_commands(commands)
    add_convert_command(commands)
    add_download_command(commands)
    return parser


def _add_finetune(commands: Any) -> None:
    finetune = _add_training(
        commands, "finetune", _finetune, "train a model on a labelled file, for the task found in it"
    )
    finetune.add_argument(  # torchrun takes --run for its own --run-path
        "--run", "--run-dir", dest="run_dir", required=True, help="a new folder for this run"
    )
    add_where(finetune)
    finetune.add_argument("--json", action="store_true", help="print scores and notes as JSON on stdout")
    finetune.add_argument("--json-result", metavar="FILE", help="write the same to a file")
    words = "compare fine-tuning with frozen features, trained on the same rows"
    compare = _add_training(commands, "compare-ways", _compare_ways, words)
    compare.add_argument(
        "--run", "--run-dir", dest="run_dir", required=True, help="a folder; a run begun there is continued"
    )
    compare.add_argument("--seeds", type=int, default=3, help="runs of each method, each with another seed")


def _add_training(commands: Any, name: str, run: Any, words: str) -> argparse.ArgumentParser:
    """Return a command with all settings of a fine-tuning."""
    command: argparse.ArgumentParser = commands.add_parser(
        name,
        help=words,
        description="A task or columns that you do not name are detected and shown.",
        epilog=settings_help(FineTuneConfig(), (*FINETUNE_FLAGS, *HOW_READ)),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for flag in FINETUNE_FLAGS:
        command.add_argument(f"--{flag.replace('_', '-')}", help=help_of(flag, FineTuneConfig()))
    add_settings(command)
    add_how_read(command)
    command.set_defaults(run=run)
    return command
