"""What a model that is no member says of a blank, next to the members, and why it says less where it does."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engine.errors import Sentence, UserError, listed, marked
from engine.events import Steps
from engine.family.ask import Family, MemberGuess, rank_of
from engine.family.members import ABOUT
from engine.family.other import AboutOther, ModelSize, about_other
from engine.family.per_word import PerWord, WordLogs, member_logs, other_logs
from engine.train.run.kept import name_of

WHOLE_WORDS = marked("engine", "whole words")
MOST_DIGITS = 1000  # from which a perplexity is a whole number
READS = {  # how words are read, by whether capitals and accents are lost
    (True, True): marked("engine", "without capitals or accents"),
    (True, False): marked("engine", "without capitals"),
    (False, True): marked("engine", "without accents"),
    (False, False): marked("engine", "as written"),
}
ONE_PIECE = marked(
    "engine",
    "Added models guess words of one piece. Ranks are among the words of this family, whatever their "
    "capitals.",
)
PER_WORD = marked(
    "engine",
    "Perplexity per word: each word is masked with all its pieces, which come back from left to right. It "
    "compares only models that lose the same of a word, such as its capitals.",
)
MAY_HAVE_READ = marked(
    "engine", "Which texts an added model was trained on is not known here. It may have read this one."
)
NO_MEMORY = marked("engine", "There is not enough memory to open this model. Remove another one.")


@dataclass(frozen=True, slots=True)
class OtherGuesses:
    """What a model says of a blank that is no member. about: None until it is open. guesses: words of one
    piece. rank: of the right word among the family's; None: not asked, or not is_one_piece. logs: of the
    words of the text. refusal: why it guesses nothing; unlike: why there are no logs.
    """

    folder: Path
    about: AboutOther | None = None
    guesses: tuple[MemberGuess, ...] = ()
    rank: int | None = None
    is_one_piece: bool = True
    logs: WordLogs | None = None
    refusal: Sentence | None = None
    unlike: Sentence | None = None
    is_whole: bool = False  # it has answered


def ask_other(
    family: Family, folder: Path, text: str, right: str, count: int, whole: str
) -> Steps[OtherGuesses]:
    """Return what a model says of the one [MASK] of a text; whatever is wrong with it is said in its place.

    Args: right: the word, "" for none. count: of guesses. whole: the text without a blank, "" for none.
    """
    found = OtherGuesses(folder, is_whole=True)
    try:
        subject = family.open_model(folder)
        found = replace(found, about=about_other(subject))
        model = family.other(subject)
        said = model.blank(text)
        guesses = tuple(MemberGuess(*one) for one in said.guesses(count))
        found = replace(found, guesses=guesses)
        if right:
            word = family.word(right)
            has = model.vocabulary.has(word)
            rank = rank_of(said.among_words(), word) if has else None
            found = replace(found, rank=rank, is_one_piece=has)
    except UserError as error:
        return replace(found, refusal=error.sentence)
    except MemoryError:
        return replace(found, refusal=Sentence(NO_MEMORY))
    if not whole:
        return found
    try:
        return replace(found, logs=(yield from other_logs(subject, whole)))
    except UserError as error:
        return replace(found, unlike=error.sentence)


def members_logs(family: Family, text: str, bert: Path | None) -> Steps[dict[str, WordLogs]]:
    """Return how the members foresee the words of a text. Args: bert: that answers for the family's own."""
    found = dict[str, WordLogs]()
    for name in family.members:
        if name == "bert" and bert is not None:
            one: WordLogs | None = yield from other_logs(family.open_model(bert), text)
        else:
            one = yield from member_logs(family, name, text)
        if one is not None:
            found[name] = one
    return found


def sizes(family: Family, bert: Path | None) -> dict[str, ModelSize]:
    """Return how large the members are. Args: bert: that answers for the family's own."""
    cut = family.wordpiece
    found = {
        name: ModelSize(one.num_weights, cut.vocab_size, WHOLE_WORDS, cut.lowercase, cut.strips)
        for name, one in family.members.items()
    }
    if bert is not None and "bert" in found:
        found["bert"] = about_other(family.open_model(bert)).size
    return found


def document_of(found: OtherGuesses, per_word: PerWord | None) -> dict[str, Any]:
    """Return what a model says as JSON can hold it."""
    why = found.refusal or found.unlike
    return {
        "model": str(found.folder),
        "name": name_of(found.folder),
        **({} if found.about is None else asdict(found.about)),
        "guesses": [{"word": one.word, "probability": one.value} for one in found.guesses],
        "rank": found.rank,
        "is_one_piece": found.is_one_piece,
        "per_word": per_word_document(per_word),
        "why_not": None if why is None else str(why),
    }


def per_word_document(found: PerWord | None) -> dict[str, Any] | None:
    """Return a perplexity as JSON can hold it."""
    if found is None:
        return None
    capitals, accents = found.reads
    return {
        "value": found.value,
        "words": found.count,
        "loses_capitals": capitals,
        "loses_accents": accents,
    }


def size_words(size: ModelSize | None, per_word: PerWord | None) -> tuple[str, ...]:
    """Return how large a model is and how well it foresees words, for a terminal."""
    if size is None:
        return "-", "-", "-"
    reached = "-"
    if per_word is not None:
        value = f"{per_word.value:,.1f}" if per_word.value < MOST_DIGITS else f"{per_word.value:,.0f}"
        reached = f"{value} ({per_word.count} words, {READS[per_word.reads]})"
    return f"{size.num_weights:,}", f"{size.num_pieces:,} {size.kind}", reached


def called(folder: Path, about: AboutOther | None) -> str:
    """Return what a model is called, with its family of models and the year of that."""
    name = name_of(folder)
    return name if about is None else f"{name} ({about.family}, {about.year})"


def row_of(found: OtherGuesses, right: str, per_word: PerWord | None) -> tuple[str, ...]:
    """Return what a model says as the row of a table for a terminal."""
    about = found.about
    said = listed(f"{one.word} {one.value:.3f}" for one in found.guesses)
    if found.rank is not None:
        said += f"; “{right}” is number {found.rank}"
    elif right and not found.is_one_piece:
        said += f"; “{right}” is several pieces"
    if found.refusal is not None:
        said = str(found.refusal)
    elif found.unlike is not None:
        said += f"; {found.unlike}"
    size = None if about is None else about.size
    return (
        called(found.folder, about),
        ABOUT["bert"].seen,
        ABOUT["bert"].says,
        said,
        *size_words(size, per_word),
    )
