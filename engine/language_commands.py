"""The commands of language models: pretrain, vocab, fill-mask, next-sentence. See command_line.py."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

from engine.config import from_toml, values_of, with_values
from engine.errors import UserError, marked
from engine.events import Event
from engine.pretrain_config import PretrainConfig
from engine.screen import print_json, show
from engine.setting import settings_of

FLAGS = ("vocab", "vocab_size", "model", "minutes", "steps", "tokens")


def pretrain_command(config: PretrainConfig, run_dir: Path) -> str:
    """Return the line that does this run without the window; settings at their defaults are left out."""
    values, defaults = values_of(config), values_of(PretrainConfig())
    words = ["python", "-m", "engine", "pretrain", "--text", *values.pop("text").split("\n")]
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
    return shlex.join([*words, "--run", str(run_dir)])


def add_language_commands(commands: Any) -> None:
    """Add the commands to the parser's."""
    _add_pretrain(commands)
    vocab = commands.add_parser("vocab", help="learn a WordPiece vocabulary from text")
    vocab.add_argument("--text", nargs="+", required=True, help=_help("text"))
    vocab.add_argument("--size", type=int, default=8192, help=_help("vocab_size"))
    vocab.add_argument("--cased", action="store_true", help="keep capital letters")
    vocab.add_argument("--out", required=True, type=Path, help="the vocab.txt to write")
    vocab.set_defaults(run=_vocab)
    fill = commands.add_parser("fill-mask", help="guess the words that stand in the place of [MASK]")
    fill.add_argument("--model", required=True, type=Path, help="a model folder")
    fill.add_argument("text", metavar="TEXT")
    fill.add_argument("text_pair", metavar="TEXT_PAIR", nargs="?")
    fill.add_argument("--top-k", type=int, default=5, help="guesses for each [MASK]")
    fill.add_argument("--json", action="store_true", help="print tokens, ids and probabilities as JSON")
    fill.set_defaults(run=_fill_mask)
    follows = commands.add_parser("next-sentence", help="tell whether a second text follows a first")
    follows.add_argument("--model", required=True, type=Path, help="a model folder")
    follows.add_argument("text", metavar="A")
    follows.add_argument("text_pair", metavar="B")
    follows.add_argument("--json", action="store_true", help="print is_next and its probability as JSON")
    follows.set_defaults(run=_next_sentence)


def _add_pretrain(commands: Any) -> None:
    pretrain = commands.add_parser(
        "pretrain",
        help="train a language model from plain text",
        epilog=_settings_help(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    pretrain.add_argument("--text", nargs="+", help=_help("text"))
    for name in ("vocab", "vocab_size", "model", "minutes", "steps", "tokens"):
        pretrain.add_argument(f"--{name.replace('_', '-')}", help=_help(name))
    pretrain.add_argument("--size", help="a new model's size: tiny, mini, small, medium, base, large, 6x384")
    pretrain.add_argument("--pin", action="append", help="a sentence to watch, its word in [brackets]")
    pretrain.add_argument(  # torchrun takes --run for its own --run-path
        "--run", "--run-dir", dest="run_dir", required=True, help="a new folder for this run"
    )
    pretrain.add_argument("--config", type=Path, help="a TOML file with settings")
    pretrain.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="one setting; repeatable"
    )
    pretrain.set_defaults(run=_pretrain)


def config_from(options: argparse.Namespace) -> PretrainConfig:
    """Return the settings that a command line gives. Raises: ConfigError."""
    values: dict[str, Any] = {}
    if options.config:
        values.update(from_toml(options.config))
        values.pop("task", None)
    for assignment in options.set:
        name, equals, value = assignment.partition("=")
        if not equals:
            raise UserError(marked("engine", "--set takes name=value, not {given!r}."), given=assignment)
        values[name.strip()] = value.strip(" ")
    if options.size and options.model:
        raise UserError(marked("engine", "Give --size for a new model, or --model to train one further."))
    if options.size:
        values["model"] = f"new:{options.size}"
    for name in FLAGS:
        if getattr(options, name) is not None:
            values[name] = getattr(options, name)
    for name, lines in (("text", options.text), ("pins", options.pin)):
        if lines:
            values[name] = "\n".join(lines)
    return with_values(PretrainConfig(), values)


def _pretrain(options: argparse.Namespace) -> int:
    from engine.train.pretrain import pretrain

    run_dir = Path(options.run_dir).absolute()
    task = pretrain(config_from(options), run_dir)
    if int(os.environ.get("RANK", "0")):  # started by torchrun: the first rank speaks for all
        for _ in task:
            pass
        return 0
    code = show(task)
    if code and (run_dir / "config.toml").is_file():
        command = shlex.join(["python", "-m", "engine", "resume", str(run_dir)])
        print(f"Kept in {run_dir}. Go on with: {command}", file=sys.stderr)
    return code


def _vocab(options: argparse.Namespace) -> int:
    from engine.text.corpus import Corpus, find_files
    from engine.text.new_vocabulary import train_vocabulary, write_vocab

    def work() -> Generator[Event, None, None]:
        corpus = Corpus(tuple(find_files(options.text)))
        wordpiece = yield from train_vocabulary(corpus, size=options.size, lowercase=not options.cased)
        write_vocab(options.out, wordpiece)

    return show(work())


def _fill_mask(options: argparse.Namespace) -> int:
    from engine.inspect.fill_mask import Filler

    masks = Filler.open(options.model).fill(options.text, options.text_pair, top_k=options.top_k)
    if options.json:
        names = ("token", "id", "probability")
        print_json(
            [
                [
                    dict(zip(names, guess, strict=True))
                    for guess in zip(mask.tokens, mask.ids, mask.probabilities, strict=True)
                ]
                for mask in masks
            ]
        )
        return 0
    for number, mask in enumerate(masks, start=1):
        print(f"[MASK] {number}")
        for token, share in zip(mask.tokens, mask.probabilities, strict=True):
            print(f"  {token:<20}{share:8.4f}")
    return 0


def _next_sentence(options: argparse.Namespace) -> int:
    from engine.inspect.fill_mask import Filler

    share = Filler.open(options.model).next_sentence(options.text, options.text_pair)
    if options.json:
        print_json({"is_next": share >= 0.5, "probability": share})
    else:
        print(f"{'B follows A' if share >= 0.5 else 'B does not follow A'}: {share:.1%} that it does")
    return 0


def _help(name: str) -> str:
    for group in vars(PretrainConfig()).values():
        if name in settings_of(group):
            return settings_of(group)[name].help.replace("%", "%%")
    raise KeyError(name)


def _settings_help() -> str:
    lines = ["settings for --set and --config, with their defaults:"]
    defaults = values_of(PretrainConfig())
    for group in vars(PretrainConfig()).values():
        for name, about in settings_of(group).items():
            if name not in (*FLAGS, "text", "pins"):
                value = about.auto if defaults[name] in (None, "") else defaults[name]
                lines.append(f"  {name}={value}  {about.help}")
    return "\n".join(lines)
