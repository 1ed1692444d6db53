"""How much of some texts a vocabulary does not know, over what a model is really given of them.

One sentence tells it wherever it is told: in the window's banner and on a terminal. Bytes and single letters
are no unknown pieces; where most characters are read in parts, that is said instead.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import Sentence, marked
from engine.events import Beat, Steps, result_of
from engine.shipped import CHINESE_STARTER, STARTER, model_shipped
from engine.text.languages import CHINESE, language_of
from engine.text.read_tokenizer import read_tokenizer
from engine.text.table import Table
from engine.text.tokenizer import Tokenizer
from engine.text.wordpiece import WordPiece

# A tenth, and never a lone emoji or name in a sentence: what a model guesses from the words beside it. Two
# unknown pieces of a short text are told where they are half of it.
MUCH, LEAST, MOST_OF_IT = 0.1, 3, 0.5
MOST_TEXTS = 300  # of a table, from all over it
_AT_ONCE = 10  # texts between two yields, some 10 ms
LONGEST = 20_000  # characters of a text that are looked at
_OF_LANGUAGE, _SHOWN = 40, 200  # texts by which the language is told, and characters of each
ENGLISH, _LATIN = marked("engine", "English"), marked("engine", "Latin letters")
READERS = {CHINESE: CHINESE_STARTER, ENGLISH: STARTER, _LATIN: STARTER}  # the models that ship, by language
_UNTOLD = (marked("engine", "no letters"), marked("engine", "other letters"))
_MODEL, _VOCABULARY = marked("engine", "this model"), marked("engine", "this vocabulary")
_UNKNOWN = marked("engine", "{unknown:,} of {total:,} pieces are unknown to {reader}.")
_ONE_UNKNOWN = marked("engine", "The text is unknown to {reader}.")
_UNKNOWN_IN = marked("engine", "{unknown:,} of {total:,} pieces of {count:,} texts are unknown to {reader}.")
_UNKNOWN_IN_SAMPLE = marked(
    "engine",
    "In a sample of {count:,} of {texts:,} texts, {unknown:,} of {total:,} pieces are unknown to {reader}.",
)
_IN_PARTS = marked("engine", "{unknown:,} of {total:,} characters are read in parts by {reader}.")
_IN_PARTS_IN = marked(
    "engine", "{unknown:,} of {total:,} characters of {count:,} texts are read in parts by {reader}."
)
_IN_PARTS_IN_SAMPLE = marked(
    "engine",
    "In a sample of {count:,} of {texts:,} texts, {unknown:,} of {total:,} characters are read in parts by "
    "{reader}.",
)
_NONE_READS = marked("engine", "No model that ships with Cloze reads {language}.")
_READS = marked("engine", "One that ships reads {language}: --model {name}")


@dataclass(frozen=True, slots=True)
class UnknownPieces:
    """What a vocabulary does not know of some texts.

    num_pieces: that a model is given of them, special tokens left out. num_unknown: of these. num_characters:
    that it is given, white space left out. num_parted: of these, those that are several pieces each, such as
    single bytes. num_texts: that were counted, out of `of_texts`; a pair is one.
    """

    num_pieces: int
    num_unknown: int
    num_characters: int
    num_parted: int
    num_texts: int
    of_texts: int

    @property
    def are_many(self) -> bool:
        """Whether so many pieces are unknown that a model cannot be said to read the texts."""
        share = self.num_unknown / max(1, self.num_pieces)
        return share >= MOST_OF_IT or (share >= MUCH and self.num_unknown >= LEAST)

    @property
    def are_parted(self) -> bool:
        """Whether most characters are read in parts."""
        return self.num_parted >= LEAST and self.num_parted > MOST_OF_IT * self.num_characters

    def said(self, *, by_model: bool = True) -> Sentence | None:
        """Return what to say of it; None where the texts are read. Args: by_model: by a vocabulary alone."""
        reader = Sentence(_MODEL if by_model else _VOCABULARY)
        values = {"count": self.num_texts, "texts": self.of_texts, "reader": reader}
        place = 0 if self.of_texts == 1 else 1 if self.num_texts == self.of_texts else 2
        if self.are_many:
            values |= {"unknown": self.num_unknown, "total": self.num_pieces}
            whole = _ONE_UNKNOWN if self.num_unknown == self.num_pieces == 1 else _UNKNOWN
            return Sentence((whole, _UNKNOWN_IN, _UNKNOWN_IN_SAMPLE)[place], values)
        if self.are_parted:
            values |= {"unknown": self.num_parted, "total": self.num_characters}
            return Sentence((_IN_PARTS, _IN_PARTS_IN, _IN_PARTS_IN_SAMPLE)[place], values)
        return None


@dataclass(frozen=True, slots=True)
class UnreadTexts:
    """Texts that a vocabulary does not read, and what does. language: of most of them. reader: what ships and
    reads it better; None: nothing does.
    """

    counted: UnknownPieces
    sentence: Sentence
    language: str
    reader: Path | None

    @property
    def none_reads(self) -> Sentence | None:
        """That nothing ships that reads the language, where that is so and it has a name."""
        if self.reader is not None or self.language in (*READERS, *_UNTOLD):
            return None
        return Sentence(_NONE_READS, {"language": Sentence(self.language)})

    @property
    def way(self) -> Sentence | None:
        """What to do about it on a command line; None where nothing is known."""
        if self.reader is None:
            return self.none_reads
        name = next(name for name in READERS.values() if model_shipped(name) == self.reader)
        language = ENGLISH if self.language == _LATIN else self.language
        return Sentence(_READS, {"language": Sentence(language), "name": name})


def count_unknown(tokenizer: Tokenizer, texts: Sequence[str], *more: Any, **how: Any) -> UnknownPieces:
    """Return what a vocabulary does not know of some texts, as `counting_unknown`."""
    return result_of(counting_unknown(tokenizer, texts, *more, **how))


def counting_unknown(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    pairs: Sequence[str] | None = None,
    *,
    max_length: int | None = None,
    truncation: str = "longest_first",
    of_texts: int = 0,
) -> Steps[UnknownPieces]:
    """Return what a vocabulary does not know of some texts, once they are cut as for a model, step by step.

    Args: pairs: the second text of each, "" for none. of_texts: that there are; 0: these.
    """
    pieces = unknown = characters = parted = 0
    for place, text in enumerate(texts):
        pair = pairs[place] if pairs is not None else ""
        both = [tokenizer.with_masks(one[:LONGEST]) for one in (text, pair)]
        found = tokenizer.encode(
            both[0], both[1] if pair.strip() else None, max_length=max_length, truncation=truncation
        )
        ends, split = (
            [0, 0],
            set[tuple[int, int]](),
        )  # how far each side is read; characters in several pieces
        for number, segment, (start, stop), special in zip(
            found.input_ids, found.token_type_ids, found.offsets, found.special_tokens_mask, strict=True
        ):
            if not special:
                pieces += 1
                unknown += number == tokenizer.unk_id
                split.update((segment, at) for at in range(start, min(stop, ends[segment])))
                new = both[segment][max(start, ends[segment]) : stop]
                characters += len(new) - sum(map(str.isspace, new))
                ends[segment] = max(stop, ends[segment])
        parted += len(split)
        if place % _AT_ONCE == _AT_ONCE - 1:
            yield Beat()
    return UnknownPieces(pieces, unknown, characters, parted, len(texts), of_texts or len(texts))


def unknown_in(
    tokenizer: Tokenizer, input_ids: npt.NDArray[np.integer[Any]], num_texts: int
) -> UnknownPieces:
    """Return what is unknown of texts that are encoded already. Args: input_ids: (N,) of all of them."""
    special = list(tokenizer.special_ids - {tokenizer.unk_id})
    pieces = len(input_ids) - int(np.isin(input_ids, special).sum())
    unknown = int((input_ids == tokenizer.unk_id).sum())
    return UnknownPieces(pieces, unknown, 0, 0, num_texts, num_texts)


def unread(tokenizer: Tokenizer, texts: Sequence[str], *more: Any, **how: Any) -> UnreadTexts | None:
    """Return that a vocabulary does not read some texts, as `finding_unread`."""
    return result_of(finding_unread(tokenizer, texts, *more, **how))


def finding_unread(
    tokenizer: Tokenizer,
    texts: Sequence[str],
    pairs: Sequence[str] | None = None,
    *,
    max_length: int | None = None,
    truncation: str = "longest_first",
    of_texts: int = 0,
    by_model: bool = True,
    readers: Mapping[str, Path] | None = None,
) -> Steps[UnreadTexts | None]:
    """Return that a vocabulary does not read some texts, and what does; None where it reads them.

    Args: as of `counting_unknown`. by_model: False: by a vocabulary alone. readers: by language, folders or
    files of words; None: the models that ship.
    """
    counted = yield from counting_unknown(
        tokenizer, texts, pairs, max_length=max_length, truncation=truncation, of_texts=of_texts
    )
    sentence = counted.said(by_model=by_model)
    if sentence is None:
        return None
    language = language_of("\n".join(text[:_SHOWN] for text in islice(texts, _OF_LANGUAGE)))
    reader = readers_shipped().get(language) if readers is None else readers.get(language)
    if reader is not None:
        other = yield from counting_unknown(
            vocabulary_in(reader), texts, pairs, max_length=max_length, truncation=truncation
        )
        reader = None if other.said() is not None else reader
    return UnreadTexts(counted, sentence, language, reader)


def readers_shipped() -> dict[str, Path]:
    """Return the models that ship, by the language that each reads."""
    found = {language: model_shipped(name) for language, name in READERS.items()}
    return {language: folder for language, folder in found.items() if folder is not None}


@lru_cache(maxsize=4)
def vocabulary_in(place: Path) -> Tokenizer:
    """Return the vocabulary of a model's folder, or of a vocab.txt; of what ships, and so does not change."""
    return WordPiece.from_vocab(place) if place.is_file() else read_tokenizer(place)


def sample_of(
    table: Table, column: str, pair: str = "", *, without: Collection[int] = ()
) -> tuple[list[str], list[str] | None, int]:
    """Return texts from all over a table, the second texts where it has some, and how many rows there are.

    Args: without: rows that are left out, beside those of the table.
    """
    rows = np.unique(np.linspace(0, max(0, table.num_rows - 1), MOST_TEXTS).astype(np.int64))
    rows = rows[: table.num_rows]
    left_out = {*table.left_out, *without}
    kept = [row for row in rows.tolist() if row not in left_out]
    texts, pairs = (
        [str(cell) for cell in table.frame[name].iloc[kept]] if name else [] for name in (column, pair)
    )
    return texts, pairs if pair else None, table.num_rows - len(left_out)
