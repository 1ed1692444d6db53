"""The commands that make language models: pretrain, pipeline, vocab. See command_line.py."""

from __future__ import annotations

import argparse
import math
import os
import shlex
import signal
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from engine.commands.remote import add_where, check_where, train_on
from engine.commands.screen import run_series, show, tell_kept
from engine.errors import Sentence, UserError, marked
from engine.events import Event, Finished, Noted, Started
from engine.language import COMMANDS, SpokenText, spoken
from engine.own_process import command_words
from engine.questions.flags import flag_of, flag_words
from engine.settings.config import from_toml, values_of, with_values
from engine.settings.pipeline import PipelineConfig
from engine.settings.pretrain import PretrainConfig
from engine.settings.setting import settings_of
from engine.train.run.runs import read_status
from engine.train.run.wanted import obeying

SETTINGS_SAID = marked("command", "settings for --set and --config, with their defaults:")
_PATIENCE_S = 20  # that other ranks wait for the first one to leave
FLAGS = ("vocab", "vocab_size", "model", "minutes", "steps", "tokens")
PIPELINE_FLAGS = (
    *("model", "domain_minutes", "domain_steps", "task_minutes", "task_steps", "data", "validation_data"),
    *("text", "text_pair", "label", "max_length", "num_epochs", "batch_size", "seeds", "trim_vocab"),
)


def pretrain_command(config: PretrainConfig, run_dir: Path, where: Sequence[str] = ()) -> str:
    """Return the line that does this run without the window; settings at their defaults are left out.

    Args: where: words that say on which computer; see `where_words`.
    """
    values, defaults = values_of(config), values_of(PretrainConfig())
    words = [*command_words(), "pretrain", "--text", *values.pop("text").split("\n")]
    model = values.pop("model")
    size = model.removeprefix("new:")
    words += ["--size", size] if size != model else ["--model", model]
    for name in ("vocab", "minutes", "steps", "tokens"):
        value = values.pop(name)
        if value:
            words += [f"--{name}", f"{value:g}" if isinstance(value, float) else str(value)]
    for name, value in values.items():
        if value != defaults[name]:
            words += ["--set", f"{name}={value}"]
    return shlex.join([*words, "--run", str(run_dir), *where])


def pipeline_command(config: PipelineConfig, folder: Path) -> str:
    """Return the line that does this pipeline without the window; settings at their defaults are left out."""
    values, defaults = values_of(config), values_of(PipelineConfig())
    words = [*command_words(), "pipeline"]
    for name in ("domain_text", "task_text"):
        places = [place for place in values.pop(name).split("\n") if place]
        words += [flag_of(name), *places] if places else []
    for name, value in values.items():
        if value == defaults[name]:
            continue
        if name in PIPELINE_FLAGS:
            words += flag_words(flag_of(name), str(value))
        else:
            words += ["--set", f"{name}={value}"]
    return shlex.join([*words, "--run", str(folder)])


def add_language_commands(commands: Any) -> None:
    """Add the commands to the parser's."""
    _add_pretrain(commands)
    _add_pipeline(commands)
    vocab = commands.add_parser("vocab", help="train a WordPiece vocabulary on text")
    vocab.add_argument("--text", nargs="+", required=True, help=help_of("text", PretrainConfig()))
    vocab.add_argument("--size", type=int, default=8192, help=help_of("vocab_size", PretrainConfig()))
    vocab.add_argument("--cased", action="store_true", help="keep capital letters")
    vocab.add_argument("--out", required=True, type=Path, help="the vocab.txt to write")
    vocab.set_defaults(run=_vocab)


def _add_pretrain(commands: Any) -> None:
    config = PretrainConfig()
    pretrain = commands.add_parser(
        "pretrain",
        help="train a language model from plain text",
        epilog=settings_help(config, (*FLAGS, "text", "pins")),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    pretrain.add_argument("--text", nargs="+", help=help_of("text", config))
    for name in FLAGS:
        pretrain.add_argument(f"--{name.replace('_', '-')}", help=help_of(name, config))
    pretrain.add_argument("--size", help="a new model’s size: tiny, mini, small, medium, base, large, 6x384")
    pretrain.add_argument("--pin", action="append", help="a sentence to watch, its word in [brackets]")
    pretrain.add_argument(  # torchrun takes --run for its own --run-path
        "--run", "--run-dir", dest="run_dir", required=True, help="a new folder for this run"
    )
    add_where(pretrain)
    add_settings(pretrain)
    pretrain.set_defaults(run=_pretrain)


def _add_pipeline(commands: Any) -> None:
    config = PipelineConfig()
    pipeline = commands.add_parser(
        "pipeline",
        help="pretrain further on domain text, then on task text, fine-tune after each, and show the gains",
        epilog=settings_help(config, (*PIPELINE_FLAGS, "domain_text", "task_text")),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    for name in ("domain_text", "task_text"):
        pipeline.add_argument(f"--{name.replace('_', '-')}", nargs="+", help=help_of(name, config))
    for name in PIPELINE_FLAGS:
        pipeline.add_argument(f"--{name.replace('_', '-')}", help=help_of(name, config))
    pipeline.add_argument(
        "--run", "--run-dir", dest="run_dir", required=True, help="a folder; a run begun there is continued"
    )
    add_settings(pipeline)
    pipeline.set_defaults(run=_pipeline)


def add_settings(command: argparse.ArgumentParser) -> None:
    """Let a command read settings by name, of a file or one by one."""
    command.add_argument("--config", type=Path, help="a TOML file with settings")
    command.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="one setting; repeatable"
    )


def config_from(options: argparse.Namespace) -> PretrainConfig:
    """Return the settings that a command line gives. Raises: ConfigError."""
    values = settings_given(options)
    if options.size and options.model:
        raise UserError(marked("engine", "Give --size for a new model, or --model to train one further."))
    if options.size:
        values["model"] = f"new:{options.size}"
    values |= flags_given(options, FLAGS)
    for name, lines in (("text", options.text), ("pins", options.pin)):
        if lines:
            values[name] = "\n".join(lines)
    return with_values(PretrainConfig(), values)


def pipeline_config_from(options: argparse.Namespace) -> PipelineConfig:
    """Return the settings that a command line gives. Raises: ConfigError."""
    values = settings_given(options)
    values |= flags_given(options, PIPELINE_FLAGS)
    for name in ("domain_text", "task_text"):
        if getattr(options, name):
            values[name] = "\n".join(getattr(options, name))
    return with_values(PipelineConfig(), values)


def settings_given(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of --config and, over them, of --set."""
    values: dict[str, Any] = {}
    if options.config:
        values.update(from_toml(options.config))
        values.pop("kind", None)
    for assignment in options.set:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise UserError(marked("engine", "--set expects name=value, not {given!r}."), given=assignment)
        values[name.strip()] = value.strip(" ")
    return values


def flags_given(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """Return the settings that have flags of their own, those that are given."""
    return {name: getattr(options, name) for name in names if getattr(options, name) is not None}


def _pretrain(options: argparse.Namespace) -> int:
    if check_where(options):
        return train_on(options, config_from(options))
    from engine.train.pretrain import pretrain

    run_dir = Path(options.run_dir).absolute()
    task = pretrain(config_from(options), run_dir)
    if is_follower():
        return follow(task)
    return train(task, run_dir)


def train(task: Iterator[Event], run_dir: Path, found: list[Event] | None = None) -> int:
    """Run a training and say, if it ends before its time, how to go on with it; collect what it found and
    noted. Returns: the exit code.
    """
    from engine.train.ranks import GRADIENTS_WAIT, num_ranks

    is_begun: list[bool] = []
    most_pause_s = math.inf if num_ranks() < 2 else GRADIENTS_WAIT.total_seconds() / 2
    try:
        code = show(_watched(obeying(task, run_dir, most_pause_s), is_begun), found)
    except UserError:
        if is_begun and (run_dir / "config.toml").is_file():
            tell_kept(run_dir)
        raise
    was_stopped = code != 0 or read_status(run_dir).get("state") == "stopped"
    if was_stopped and (run_dir / "config.toml").is_file():
        tell_kept(run_dir)
    return code


def _watched(task: Iterator[Event], is_begun: list[bool]) -> Generator[Event, None, None]:
    """Pass on what a training says; `is_begun` is no longer empty once it trains."""
    assert isinstance(task, Generator)
    with closing(task):
        for event in task:
            if isinstance(event, Started):
                is_begun.append(True)
            yield event


def _pipeline(options: argparse.Namespace) -> int:
    from engine.train.gains import table
    from engine.train.pipeline import REPORT, SETTINGS, pipeline

    folder = Path(options.run_dir)
    return run_series(pipeline(pipeline_config_from(options), folder), folder, SETTINGS, REPORT, table)


def is_follower() -> bool:
    """Whether torchrun started this process as another rank than the first."""
    return os.environ.get("RANK", "0") != "0"


def follow(task: Iterator[Event]) -> int:
    """Work as one rank of many: silently, for the first speaks for all, and until that one leaves.

    Being asked to stop is left to the first rank, which needs the others to come to the end of its step.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "alarm"):
        signal.signal(signal.SIGTERM, lambda *_: signal.alarm(_PATIENCE_S))
    from engine.train.ranks import PeerLost

    try:
        for _ in task:
            pass
    except PeerLost:
        return 1
    return 0


def _vocab(options: argparse.Namespace) -> int:
    from engine.text.corpus.corpus import Corpus, find_files
    from engine.text.corpus.new_vocabulary import train_vocabulary, write_vocab

    def work() -> Generator[Event, None, None]:
        corpus = Corpus(tuple(find_files(options.text)))
        began = time.monotonic()
        wordpiece = yield from train_vocabulary(corpus, size=options.size, lowercase=not options.cased)
        write_vocab(options.out, wordpiece)
        template = marked("engine", "{count:,} WordPieces made from {size:,} bytes of text.")
        values = {"count": len(wordpiece.tokens), "size": corpus.num_bytes}
        yield Noted(sentence=Sentence(template, values))
        yield Finished(path=options.out, seconds=time.monotonic() - began)

    return show(work())


def help_of(name: str, config: Any) -> str:
    """Return what `--help` says of a setting of a config."""
    groups = map(settings_of, vars(config).values())
    return next(group[name].help.replace("%", "%%") for group in groups if name in group)


def settings_help(config: Any, flags: Sequence[str]) -> str:
    """Return what `--help` says of all settings of a config that have no flag of their own."""
    lines = [spoken(SETTINGS_SAID, COMMANDS)]
    defaults = values_of(config)
    for group in vars(config).values():
        for name, about in settings_of(group).items():
            if name not in flags:
                value = spoken(about.auto) if defaults[name] in (None, "") else defaults[name]
                lines.append(f"  {name}={value}  {spoken(about.help)}")
    return SpokenText("\n".join(lines))
