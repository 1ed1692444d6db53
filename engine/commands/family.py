"""The commands of the family: train eight generations of language models on one text, and ask them."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.commands.screen import print_json, show
from engine.errors import UserError, marked
from engine.events import Event, result_of
from engine.settings.config import with_values
from engine.settings.family import MEMBERS, FamilyConfig
from engine.settings.setting import settings_of

CARD, REPORT = "card.md", "family.json"

if TYPE_CHECKING:
    from engine.family.ask import Family


def ask_command(
    folder: Path,
    kind: str,
    text: str,
    answer: str = "",
    *,
    texts: Sequence[str] = (),
    files: Sequence[Path] = (),
) -> str:
    """Return the line that asks the same without the window; of several files the first.

    Args: kind: fill, write, nearest, senses, analogy, files, follows or results.
    """
    words = ["python", "-m", "engine", "family-ask", "--family", str(folder)]
    words += {
        "write": ["--go-on", "12", text],
        "nearest": ["--nearest", text],
        "analogy": ["--analogy", *text.split()],
        "senses": ["--senses", text, *(one for one in texts if one.strip())],
        "fill": [text, *(["--answer", answer] if answer else [])],
        "follows": ["--follows", text, answer],
        "files": ["--words", *map(str, files)],
        "results": ["--scores"],
    }.get(kind, [])
    return shlex.join(words)


def add_family_commands(commands: Any) -> None:
    """Add the commands to the parser's."""
    family = commands.add_parser(
        "family", help="train a family of language models on one text, from n-grams to BERT"
    )
    family.add_argument("--text", nargs="+", required=True, help=_help("text"))
    family.add_argument("--members", default=",".join(MEMBERS), help=_help("members"))
    family.add_argument("--minutes", help="for all members together; each has an equal share")
    family.add_argument("--out", required=True, type=Path, help="a folder; one begun is gone on with")
    family.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="one setting; repeatable: "
        "words, width, layers, length, steps, seed, num_threads and those of pretrain",
    )  # fmt: skip
    family.add_argument(
        "--pack", type=Path, metavar="DIR", help="a new folder: the same in half the room, at its end"
    )
    family.set_defaults(run=_family)
    _add_ask(commands)
    _add_card(commands)
    pack = commands.add_parser("family-pack", help="write a family that takes little room, to be asked alone")
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
        help="analogies (a b c d, a line each; or a folder of such files), or word, word, likeness",
    )  # fmt: skip
    card.add_argument("--sentences", type=Path, metavar="FILE", help="sentence, sentence, likeness: a table")
    card.add_argument("--task", type=Path, metavar="FILE", help="a table with texts and labels")
    card.add_argument("--text", help="of --task: the column of the text")
    card.add_argument("--label", help="of --task: the column of the label")
    card.add_argument(
        "--learned-from", nargs="+", metavar="FILE",
        help="the text that it learned from: the part kept apart is asked again, of a packed family too",
    )  # fmt: skip
    card.add_argument("--note", default="", help="a sentence for the card, such as the machine")
    card.set_defaults(run=_card)


def _card(options: argparse.Namespace) -> int:
    from engine.family.cards import examine_family
    from engine.family.exam import Questions

    table, roles = _labelled(options) if options.task is not None else (None, None)
    asked = Questions(tuple(options.words), options.sentences, table, roles)
    code = show(examine_family(options.family, asked, options.learned_from or (), options.note))
    if code == 0:
        print((options.family / CARD).read_text(encoding="utf-8"), end="")
    return code


def _labelled(options: argparse.Namespace) -> tuple[Any, Any]:
    """Return the table of a task and its roles. Raises: UserError: it has no labels."""
    from engine.text.examples import Roles, guess_roles
    from engine.text.table import read_table

    table = read_table(options.task)
    guessed = guess_roles(table)
    roles = Roles(options.text or guessed.text, "", options.label or guessed.label)
    if not roles.label:
        raise UserError(marked("engine", "Name the column of the labels by --label."))
    return table, roles


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
        "texts", metavar="TEXT", nargs="*", help="a text with one [MASK]; what else is asked for below"
    )
    ask.add_argument("--answer", default="", help="the right word for the [MASK], whose rank is told")
    ask.add_argument("--count", type=int, default=5, help="guesses or words of each member")
    ask.add_argument("--json", action="store_true", help="print the answers as JSON")
    which = ask.add_mutually_exclusive_group()
    which.add_argument(
        "--go-on", type=int, metavar="WORDS", help="write on after TEXT, as many words at most"
    )
    which.add_argument("--nearest", metavar="WORD", help="the words nearest to one")
    which.add_argument("--senses", metavar="WORD", help="a word in several TEXTs: does its vector change?")
    which.add_argument(
        "--analogy",
        nargs=3,
        metavar=("A", "B", "C"),
        help="what is to C as B is to A, such as man king woman",
    )
    which.add_argument("--analogies", type=Path, metavar="FILE", help="a b c d, a line each")
    which.add_argument("--similarity", type=Path, metavar="FILE", help="word, word, likeness, a line each")
    which.add_argument(
        "--words", type=Path, nargs="+", metavar="FILE", help="files of either kind, or folders of analogies"
    )
    which.add_argument("--follows", action="store_true", help="does the second TEXT follow the first?")
    which.add_argument("--task", type=Path, metavar="FILE", help="a table with texts and labels")
    which.add_argument("--sentences", type=Path, metavar="FILE", help="sentence, sentence, likeness: a table")
    which.add_argument("--scores", action="store_true", help="what each reached on the text kept apart")
    ask.add_argument(
        "--temperature", type=float, default=0.0, help="of --go-on; 0: the likeliest word each time"
    )
    ask.add_argument("--fine-tune", action="store_true", help="of --task: move all weights too")
    ask.add_argument("--text", help="of --task: the column of the text")
    ask.add_argument("--label", help="of --task: the column of the label")
    ask.set_defaults(run=_ask)


def _help(name: str) -> str:
    groups = vars(FamilyConfig()).values()
    return next(
        settings_of(group)[name].help.replace("%", "%%") for group in groups if name in settings_of(group)
    )


def _family(options: argparse.Namespace) -> int:
    from engine.commands.language import settings_given
    from engine.family.train import train_family

    options.config = None
    values = {**settings_given(options), "text": "\n".join(options.text), "members": options.members}
    if options.minutes is not None:
        values["minutes"] = options.minutes
    code = run_family(train_family(with_values(FamilyConfig(), values), options.out), options.out)
    if code == 0 and options.pack is not None:
        _write_packed(options.out, options.pack)
    return code


def run_family(task: Iterator[Event], folder: Path) -> int:
    """Train a family and, at its end, print its table on stdout. Returns: the exit code."""
    from engine.family.card import table
    from engine.family.train import is_family, read_report

    code = show(task)
    if code == 0:
        print("\n".join(table(read_report(folder))))
    elif is_family(folder):
        command = shlex.join(["python", "-m", "engine", "resume", str(folder.absolute())])
        print(f"Kept in {folder}. Go on with: {command}", file=sys.stderr)
    return code


def _ask(options: argparse.Namespace) -> int:
    from engine.family.ask import Family

    questions: dict[str, Callable[[Family, argparse.Namespace], tuple[Any, list[str]]]] = {
        "scores": _scores,
        "go_on": _go_on,
        "nearest": _nearest,
        "senses": _senses,
        "analogy": _nearest,
        "analogies": _word_questions,
        "similarity": _word_questions,
        "words": _word_files,
        "follows": _follows,
        "task": _task,
        "sentences": _sentences,
    }
    asked = next(
        (ask for name, ask in questions.items() if getattr(options, name) not in (None, False)), _fill
    )
    document, lines = asked(Family.open(options.family), options)
    if options.json:
        print_json(document)
    else:
        print("\n".join(lines))
    return 0


Answer = tuple[Any, list[str]]  # for a program, and for a person


def _one_text(options: argparse.Namespace) -> str:
    if len(options.texts) != 1:
        raise UserError(
            marked("engine", "Give one text, in quotation marks; {count} were given."),
            count=len(options.texts),
        )
    return str(options.texts[0])


def _fill(family: Family, options: argparse.Namespace) -> Answer:
    filled = family.fill(_one_text(options), max(1, options.count), options.answer)
    document: dict[str, Any] = {
        name: [{"word": guess.word, one.about.says: guess.value} for guess in one.guesses]
        for name, one in filled.items()
    }
    document["about"] = {
        name: {**_about(name), **({} if one.rank is None else {"rank": one.rank})}
        for name, one in filled.items()
    }
    rows = [("member", "may see", "says", "guesses")]
    for one in filled.values():
        guesses = ", ".join(f"{guess.word} {guess.value:.3f}" for guess in one.guesses)
        rank = "" if one.rank is None else f"; “{options.answer}” is number {one.rank}"
        rows.append((one.about.said, one.about.seen, one.about.says, guesses + rank))
    return document, _lines(rows)


def _about(name: str) -> dict[str, Any]:
    from engine.family.members import ABOUT

    about = ABOUT[name]
    names = ("said", "year", "paper", "says", "sees", "seen", "cannot")
    return {one: getattr(about, one) for one in names}


def _cannot(family: Family, found: Mapping[str, Any]) -> dict[str, Any]:
    """Return answers by member, null for those that cannot be asked this, and what they are."""
    return {
        **{name: found.get(name) for name in family.members},
        "about": {name: _about(name) for name in family.members},
    }


def _rows(family: Family, head: tuple[str, ...], found: Mapping[str, tuple[str, ...]]) -> list[str]:
    from engine.family.card import CANNOT
    from engine.family.members import ABOUT

    nothing = (CANNOT, *("" for _ in head[2:]))
    return _lines([head, *((ABOUT[name].said, *found.get(name, nothing)) for name in family.members)])


def _go_on(family: Family, options: argparse.Namespace) -> Answer:
    from engine.family.writing import go_on

    found = go_on(family, _one_text(options), max(1, options.go_on), options.temperature)
    return _cannot(family, found), _rows(
        family, ("member", "writes"), {name: (one,) for name, one in found.items()}
    )


def _nearest(family: Family, options: argparse.Namespace) -> Answer:
    from engine.family.words import analogy, nearest

    count = max(1, options.count)
    if options.analogy is not None:
        a, b, c = options.analogy
        found = analogy(family, a, b, c, count)
    else:
        found = nearest(family, options.nearest, count)
    document = {
        name: [{"word": one.word, "likeness": one.value} for one in guesses]
        for name, guesses in found.items()
    }
    said = {
        name: (", ".join(f"{one.word} {one.value:.2f}" for one in guesses),)
        for name, guesses in found.items()
    }
    return _cannot(family, document), _rows(family, ("member", "nearest words"), said)


def _senses(family: Family, options: argparse.Namespace) -> Answer:
    from engine.family.senses import senses

    found = senses(family, options.senses, options.texts)
    document = {
        name: {"likeness": list(one.likeness), "points": one.points.tolist()} for name, one in found.items()
    }
    said = {name: (" ".join(f"{one:.2f}" for one in its.likeness),) for name, its in found.items()}
    return _cannot(family, document), _rows(
        family, ("member", "likeness of its vectors, layer by layer"), said
    )


def _word_questions(family: Family, options: argparse.Namespace) -> Answer:
    from engine.family import words

    words.check_has_vectors(family)
    if options.analogies is not None:
        found = words.analogies(family, words.read_analogies(options.analogies))
        head = ("member", "analogies right", "asked", "left out")
    else:
        found = words.similarities(family, words.read_pairs(options.similarity))
        head = ("member", "rank correlation with people", "pairs", "left out")
    document = {
        name: {"score": None if one.score is None else asdict(one.score), "left_out": one.left_out}
        for name, one in found.items()
    }
    said = {
        name: (_interval(one.score), str(one.score.count if one.score else 0), str(one.left_out))
        for name, one in found.items()
    }
    return _cannot(family, document), _rows(family, head, said)


def _word_files(family: Family, options: argparse.Namespace) -> Answer:
    from engine.family.card import CANNOT
    from engine.family.exam import of_words, rows_document
    from engine.family.members import ABOUT

    rows = [of_words(family, path) for path in options.words]
    head = ("member", *(f"{row.source} {row.unit}" for row in rows))
    said = [
        (ABOUT[name].said, *(_interval(row.scores[name]) if name in row.scores else CANNOT for row in rows))
        for name in family.members
    ]
    return rows_document(rows), _lines([head, *said])


def _interval(score: Any) -> str:
    return "-" if score is None else f"{score.value:.3f} ({score.low:.3f} to {score.high:.3f})"


def _follows(family: Family, options: argparse.Namespace) -> Answer:
    from engine.family.bert import Bert

    if len(options.texts) != 2:
        raise UserError(marked("engine", "Give two texts: does the second follow the first?"))
    a, b = (family.words(text) for text in options.texts)
    found = {name: one.follows(a, b) for name, one in family.members.items() if isinstance(one, Bert)}
    said = {name: (f"{p:.3f}",) for name, p in found.items()}
    return _cannot(family, found), _rows(family, ("member", "probability that it follows"), said)


def _task(family: Family, options: argparse.Namespace) -> Answer:
    from engine.family.tasks import parts_of, same_task
    from engine.text.examples import examples_from

    table, roles = _labelled(options)
    learned, asked = parts_of(family, examples_from(table, roles))
    found = result_of(same_task(family, learned, asked, fine_tune=options.fine_tune))
    document = {name: asdict(one) for name, one in found.items()}
    said = {
        name: tuple(_interval(way) for way in (one.frozen, one.fine_tuned, one.naive_bayes))
        for name, one in found.items()
    }
    head = ("member", "right, vectors frozen", "right, fine-tuned", "right, Naive Bayes over pairs of words")
    return _cannot(family, document), _rows(family, head, said)


def _sentences(family: Family, options: argparse.Namespace) -> Answer:
    from engine.family.card import ONE_TRAINING, claims_lines
    from engine.family.claims import read_sentences, sentence_claims, sentence_cosines
    from engine.family.train import read_family, read_report
    from engine.family.verdicts import document_of, judged

    pairs = read_sentences(options.sentences)
    cosines = result_of(sentence_cosines(family, pairs))
    found = sentence_claims(cosines, np.array([one[2] for one in pairs]))
    informed, at_start = read_family(options.family).family.informed_start, ()
    if (options.family / REPORT).is_file():
        at_start = read_report(options.family).get("at_start", ())
    claims = judged(found, informed=informed, at_start=at_start)
    lines = [*claims_lines(claims), ONE_TRAINING] if claims else ["This family has no BERT to compare with."]
    return document_of(claims), lines


def _scores(family: Family, options: argparse.Namespace) -> Answer:
    from engine.family.card import table
    from engine.family.train import read_report

    report = read_report(options.family)
    return report, table(report)


def _lines(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows as lines, all at the left."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
