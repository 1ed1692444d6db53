"""The commands of the family: train eight generations of language models on one text, and ask them."""

from __future__ import annotations

import argparse
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from engine.commands.language import flags_given, help_of, settings_given
from engine.commands.screen import print_json, run_series, show
from engine.events import result_of
from engine.family.questions.go_on import SEED, TEMPERATURE
from engine.family.questions.known import OPTIONS, question_of
from engine.family.questions.task import labelled
from engine.settings.config import with_values
from engine.settings.family import MEMBERS, FamilyConfig
from engine.shipped import model_named

CARD = "card.md"


def add_family_commands(commands: Any) -> None:
    """Add the commands to the parser's."""
    family = commands.add_parser(
        "family", help="train a family of language models on one text, from n-grams to BERT"
    )
    family.add_argument("--text", nargs="+", required=True, help=help_of("text", FamilyConfig()))
    family.add_argument("--members", default=",".join(MEMBERS), help=help_of("members", FamilyConfig()))
    family.add_argument("--minutes", help="for all trainings together, in equal shares: equal minutes")
    family.add_argument("--tokens", help="words that each member reads, in place of minutes: equal words")
    for name in ("starts", "trainings"):
        family.add_argument(f"--{name}", help=help_of(name, FamilyConfig()))
    family.add_argument("--out", required=True, type=Path, help="a folder; a run begun there is continued")
    family.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="one setting; repeatable: "
        "words, width, layers, length, steps, seed, num_threads and those of pretrain",
    )  # fmt: skip
    family.add_argument(
        "--pack", type=Path, metavar="DIR", help="a new folder for a copy half as large, written at the end"
    )
    family.set_defaults(run=_family)
    _add_ask(commands)
    _add_card(commands)
    pack = commands.add_parser("family-pack", help="write a smaller copy of a family that can only be asked")
    pack.add_argument("--family", required=True, type=Path, help="the folder of a trained family")
    pack.add_argument("--out", required=True, type=Path, help="a new folder")
    pack.set_defaults(run=_pack)


def _add_card(commands: Any) -> None:
    card = commands.add_parser(
        "family-card", help="ask all members of a family all questions, and write the table into its card"
    )
    card.add_argument("--family", required=True, type=Path, help="the folder of a family, or a packed one")
    card.add_argument(
        "--words", nargs="+", type=Path, default=[], metavar="FILE",
        help="analogies (a b c d, one per line, or a folder of such files), or word, word, similarity",
    )  # fmt: skip
    card.add_argument(
        "--sentences", type=Path, metavar="FILE", help="sentence, sentence, similarity: a table"
    )
    card.add_argument("--task", type=Path, metavar="FILE", help="a table with texts and labels")
    card.add_argument("--text", help="for --task: the column of the text")
    card.add_argument("--label", help="for --task: the column of the label")
    card.add_argument(
        "--learned-from", nargs="+", metavar="FILE",
        help="the training text, so that the held-out part is asked again, even for a packed family",
    )  # fmt: skip
    card.add_argument(
        "--unread",
        type=Path,
        metavar="FILE",
        help="a text that no model was trained on, whose blanks are asked",
    )
    card.add_argument(
        "--bert", type=model_named, metavar="MODEL", help="for --unread: a BERT as it is trained in practice"
    )
    card.add_argument("--note", default="", help="a sentence for the card, such as which machine was used")
    card.set_defaults(run=_card)


def _card(options: argparse.Namespace) -> int:
    from engine.family.exam import ExamQuestions, examine_family

    table, roles = None, None
    if options.task is not None:
        table, roles = labelled(options.task, options.text, options.label)
    asked = ExamQuestions(
        tuple(options.words),
        options.sentences,
        table,
        roles,
        unread=options.unread,
        practice=options.bert,
    )
    code = show(examine_family(options.family, asked, options.learned_from or (), options.note))
    if code == 0:
        print((options.family / CARD).read_text(encoding="utf-8"), end="")
    return code


def _pack(options: argparse.Namespace) -> int:
    _write_packed(options.family, options.out)
    return 0


def _write_packed(folder: Path, out: Path) -> None:
    from engine.family.pack import pack

    print(f"{out}: {pack(folder, out) / 1e6:.1f} MB", file=sys.stderr)


def _add_ask(commands: Any) -> None:
    ask = commands.add_parser("family-ask", help="ask all members of a family the same question")
    ask.add_argument("--family", required=True, type=Path, help="the folder of a trained family")
    ask.add_argument(
        "texts", metavar="TEXT", nargs="*", help="a text with one [MASK]; for other questions see below"
    )
    ask.add_argument("--answer", default="", help="the right word for the [MASK], to show its rank")
    ask.add_argument("--count", type=int, default=5, help="guesses or words for each member")
    ask.add_argument(
        "--bert", type=Path, metavar="MODEL",
        help="for a [MASK] and --senses: the folder of a BERT that answers instead of the family’s",
    )  # fmt: skip
    ask.add_argument(
        "--beside", type=model_named, nargs="+", default=[], metavar="MODEL",
        help="for a [MASK], --senses and --blanks: folders of other models, which answer next to the "
        "members; name them last",
    )  # fmt: skip
    ask.add_argument("--json", action="store_true", help="print the answers as JSON")
    which = ask.add_mutually_exclusive_group()
    for kind in OPTIONS:
        if kind.option is not None:
            which.add_argument(f"--{kind.option.name.replace('_', '-')}", **kind.option.how)
    ask.add_argument(
        "--temperature", type=float, default=TEMPERATURE, help="for --go-on: 0 for the most likely word each "
        "time, 1 for words as often as the member expects them",
    )  # fmt: skip
    ask.add_argument("--seed", type=int, default=SEED, help="for --go-on: which words are drawn")
    ask.add_argument("--fine-tune", action="store_true", help="for --task: also train all weights")
    ask.add_argument("--text", help="for --task: the column of the text")
    ask.add_argument("--label", help="for --task: the column of the label")
    ask.set_defaults(run=_ask)


def _family(options: argparse.Namespace) -> int:
    from engine.family.card import table
    from engine.family.layout import SETTINGS
    from engine.family.train import REPORT, train_family

    options.config = None
    values = {**settings_given(options), "text": "\n".join(options.text), "members": options.members}
    values |= flags_given(options, ("minutes", "tokens", "starts", "trainings"))
    task = train_family(with_values(FamilyConfig(), values), options.out)
    code = run_series(task, options.out, SETTINGS, REPORT, table)
    if code == 0 and options.pack is not None:
        _write_packed(options.out, options.pack)
    return code


def _ask(options: argparse.Namespace) -> int:
    from engine.family.ask import Family
    from engine.inspect.loaded_model import LoadedModel

    family = Family.open(options.family, open_model=lru_cache(1)(LoadedModel.open))
    question = question_of(options)
    found = result_of(question.answer(family))
    if options.json:
        print_json(question.document(family, found))
    else:
        print("\n".join(question.lines(family, found)))
    return 0
