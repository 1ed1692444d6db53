"""The commands that go through the layers: what each would guess, and a word's vectors wherever it stands."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.commands.inspect import add_command, add_json, add_off, add_text, open_subject
from engine.commands.screen import print_json, show
from engine.durable import check_writable, replaced_file
from engine.errors import UserError, marked
from engine.events import Event, Finished, Noted
from engine.questions.fields import switches

if TYPE_CHECKING:
    from engine.inspect.embeddings.contexts import Contexts
    from engine.inspect.loaded_model import LoadedModel
    from engine.inspect.masked.score import GapAnswer


def add_layer_commands(commands: Any) -> None:
    """Add the commands to the parser's; the flags that read a table are added by the caller."""
    layers = add_command(commands, "layers", _layers, "tell what each layer would put in the place of a word")
    add_text(layers)
    layers.add_argument(
        "--hide",
        action="append",
        default=[],
        type=int,
        metavar="N",
        help="hide the N-th word, counted from 1 over TEXT and TEXT_PAIR; repeatable; a [MASK] always is",
    )
    layers.add_argument("--top-k", type=int, default=5, help="guesses of each layer")
    add_off(layers)
    add_json(layers, "print each layer's guesses, and the hidden word's probability and rank, as JSON")
    word = add_command(
        commands, "word-in-context", _word, "write a word's vectors wherever it stands, as an .npz file"
    )
    word.add_argument("--word", required=True, help="the word, or words in a row, to look for")
    word.add_argument("sentences", metavar="SENTENCE", nargs="*", help="where to look for it")
    word.add_argument("--data", type=Path, help="a CSV, TSV or JSON lines file to look for it in")
    word.add_argument("--text", default="", help="with --data: the column with the text")
    word.add_argument("--out", required=True, type=Path, help="the .npz to write")


def _layers(options: argparse.Namespace) -> int:
    from engine.inspect.masked.lens import lens
    from engine.inspect.masked.masked import mask
    from engine.text.words import words_of

    subject = open_subject(options)
    texts = (options.text, options.text_pair)
    count = len(words_of(subject.about.encode(*texts), *texts))
    for number in options.hide:
        if not 0 < number <= count:
            template = marked("engine", "--hide {number}: this text has {count} words. Count them from 1.")
            raise UserError(template, number=number, count=count)
    masked = mask(subject.about, *texts, words=[number - 1 for number in options.hide])
    found = lens(subject, masked, top_k=options.top_k, on=switches(options.off, subject))
    if options.json:
        print_json([[_document(answer) for answer in answers] for answers in found.layers])
        return 0
    for number, gap in enumerate(masked.gaps):
        print(f"[MASK] {number + 1}  {gap.text}")
        for layer, answers in enumerate(found.layers):
            guesses = ", ".join(f"{one.word} {one.probability:.4f}" for one in answers[number].guesses)
            print(f"  layer {layer:<3}{guesses}{_stood_there(answers[number])}")
    return 0


def _document(answer: GapAnswer) -> dict[str, Any]:
    own, guesses = answer.original, [(one.word, one.probability) for one in answer.guesses]
    document: dict[str, Any] = {"guesses": [{"token": word, "probability": p} for word, p in guesses]}
    if own is not None:
        document["original"] = {"token": own.word, "probability": own.probability, "rank": own.rank}
    return document


def _stood_there(answer: GapAnswer) -> str:
    own = answer.original
    if own is None:
        return ""
    rank = "" if own.rank is None else f" rank {own.rank}"
    return f"  |  {own.word} {own.probability:.4f}{rank}"


def _word(options: argparse.Namespace) -> int:
    check_writable(options.out, options.data)
    if bool(options.data) == bool(options.sentences):
        template = marked("engine", "Give either sentences or a table with --data and --text, not both.")
        raise UserError(template)
    return show(_write_word(options, open_subject(options)))


def _write_word(options: argparse.Namespace, subject: LoadedModel) -> Iterator[Event]:
    from engine.inspect.embeddings.contexts import embed_word
    from engine.text.table import read_table

    texts = list(options.sentences)
    if options.data is not None:
        how = {name: getattr(options, name) or "" for name in ("encoding", "separator", "quoting", "header")}
        table = read_table(options.data, **how)
        texts = table.frame[table.column(options.text)].tolist()
    found = yield from embed_word(subject, options.word, texts)
    for note in found.notes:
        yield Noted(sentence=note)
    _write(options.out, subject, found, texts)
    yield Finished(path=options.out, seconds=0.0)


def _write(out: Path, subject: LoadedModel, found: Contexts, texts: list[str]) -> None:
    """Write vectors (layers + 1, places, width), where each stands, and how alike any two tokens are."""
    places = found.places
    arrays: dict[str, Any] = {
        "vectors": found.vectors,
        "sentences": np.array([texts[place.sentence] for place in places]),
        "rows": np.array([place.sentence for place in places]),
        "starts": np.array([place.start for place in places]),
        "stops": np.array([place.stop for place in places]),
        "background": found.background,
        "word": np.array(found.word),
        "model": np.array(subject.name),
        "fingerprint": np.array(subject.fingerprint),
    }
    with replaced_file(out) as beside, beside.open("wb") as file:
        np.savez(file, **arrays)
