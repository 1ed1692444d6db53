"""A word in many contexts: every place where it stands in some sentences, and its vector there at each layer.

A word of several pieces, or several words in a row, has the mean of its pieces' vectors.
"""

from __future__ import annotations

from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from engine.errors import Sentence, UserError, marked
from engine.events import Event, Progress
from engine.inspect.embeddings.vectors import TEXTS_AT_ONCE, states, tokens_at_once
from engine.inspect.loaded_model import LoadedModel, looking
from engine.model.kernels import ROW_MULTIPLE
from engine.text.batch import EncodedRows, by_length, collate
from engine.text.segmenter import going_on
from engine.text.tokenizer import Tokenizer
from engine.text.words import Word, parts_of

# E occurrences, O sentences that hold one, L layers, D hidden_size

Floats = npt.NDArray[np.float32]

MOST = 1000  # occurrences that are taken


@dataclass(frozen=True, slots=True)
class WordPlace:
    """Where a word stands: in which of the sentences, its characters there, and its tokens."""

    sentence: int
    start: int
    stop: int
    pieces: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Contexts:
    """A word wherever it was found.

    vectors: (L + 1, E, D) float32, the embeddings first. table: (E, D), the word's vector in the word table,
    where it has no position yet. background: (L + 1,), the mean cosine similarity of
    two tokens drawn from all these sentences: how alike any two vectors are. lacking: sentences that do not
    hold the word, or only beyond what the model reads.
    """

    word: str
    places: tuple[WordPlace, ...]
    vectors: Floats
    table: Floats
    background: Floats
    lacking: tuple[int, ...]
    notes: tuple[Sentence, ...]


def typed_lines(text: str) -> tuple[tuple[str, str], ...]:
    """Return (group, sentence) of each line that is not empty; "river | They sat ..." has a group."""
    lines = []
    for line in filter(str.strip, text.splitlines()):
        group, bar, sentence = line.partition("|")
        has_group = bool(bar and group.strip() and sentence.strip())
        lines.append((group.strip(), sentence.strip()) if has_group else ("", line.strip()))
    return tuple(lines)


def find_word(
    wordpiece: Tokenizer, word: str, sentence: str, max_length: int, number: int = 0
) -> tuple[list[int], list[WordPlace]]:
    """Return a sentence's ids and where the word stands in it, upper and lower case taken as one.

    The word must be whole: "bank" is not found in "banks". Several words must stand next to each other.
    Chinese characters are found as a word of the sentence, or as the beginning or end of a longer one: 苹果
    in 苹果树, but neither 果树 in 苹果 树木 nor 行 in 银行. Args: number: of the sentence, which the places
    will bear.
    """
    encoding = wordpiece.encode(sentence, max_length=max_length, truncation="head")
    words, inside = parts_of(encoding, sentence), going_on(sentence)
    wanted, places = _plain(word), list[WordPlace]()
    for first, found in enumerate(words):
        last = _last_of(words, first, wanted, sentence)
        if last is not None and _is_word(sentence, found.start, words[last].stop, inside):
            pieces = tuple(piece for one in words[first : last + 1] for piece in one.pieces)
            places.append(WordPlace(number, found.start, words[last].stop, pieces))
    return encoding.input_ids, places


def embed_word(
    subject: LoadedModel, word: str, sentences: Sequence[str], *, most: int = MOST
) -> Generator[Event, None, Contexts]:
    """Return a word's vectors wherever it stands: a task whose return value is `Contexts`.

    Args:   most: occurrences that are taken, the first ones; a note says when there are more.
    Raises: UserError: no word was given, or no sentence holds it.
    """
    word = " ".join(word.split())
    if not word:
        raise UserError(marked("engine", "There is no word to look for. Type one."))
    ids, found, lacking = yield from _find_all(subject, word, sentences, most)
    places = found[:most]
    if not places:
        raise UserError(
            marked(
                "engine", "None of the {count:,} sentences contains the word “{word}”. Type some that do."
            ),
            count=len(sentences),
            word=word,
        )
    pieces = [np.asarray(one, np.int32) for one in ids.values()]
    encoded = EncodedRows.from_pieces(pieces, list(map(len, pieces)), [-1] * len(ids), list(ids))
    depth = subject.config.num_hidden_layers
    vectors = np.zeros((depth + 1, len(places), subject.config.hidden_size), np.float32)
    sums = np.zeros((depth + 1, subject.config.hidden_size), np.float64)
    done, stage = 0, marked("engine", "Computing vectors")
    for indices in by_length(encoded.lengths, tokens_at_once(subject)):
        _read(subject, encoded, indices, places, vectors, sums)
        done += len(indices)
        yield Progress(stage=stage, done=done, total=len(encoded))
    num_tokens = int(encoded.lengths.sum())
    background = ((sums**2).sum(1) - num_tokens) / max(1, num_tokens * (num_tokens - 1))
    return Contexts(
        word=word,
        places=tuple(places),
        vectors=vectors,
        table=_in_table(subject, ids, places),
        background=background.astype(np.float32),
        lacking=tuple(lacking),
        notes=_notes(word, len(found), most),
    )


def _is_word(sentence: str, start: int, stop: int, inside: Collection[int]) -> bool:
    """Whether some of a sentence is a word, or of two characters and more a part of one longer Chinese word.

    Args: inside: the places that go on with a Chinese word.
    """
    has_begun, goes_on = start in inside, stop in inside
    if not (has_begun or goes_on):
        return True
    is_within_one = all(place in inside for place in range(start + 1, stop))
    return is_within_one and stop - start > 1 and not (has_begun and goes_on)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _last_of(words: Sequence[Word], first: int, wanted: str, sentence: str) -> int | None:
    """Return the last of the words from `first` on that are what is looked for; None: they are not."""
    for last in range(first, min(first + 64, len(words))):
        text = _plain(sentence[words[first].start : words[last].stop])
        if text == wanted:
            return last
        if not wanted.startswith(text):
            return None
    return None


def _find_all(
    subject: LoadedModel, word: str, sentences: Sequence[str], most: int
) -> Generator[Event, None, tuple[dict[int, list[int]], list[WordPlace], list[int]]]:
    """Return the ids of the sentences that hold the word, its places, and the sentences that do not."""
    ids: dict[int, list[int]] = {}
    places: list[WordPlace] = []
    lacking: list[int] = []
    wanted = _plain(word)
    for number, sentence in enumerate(sentences):
        if number % TEXTS_AT_ONCE == 0:
            yield Progress(stage=marked("engine", "Looking for the word"), done=number, total=len(sentences))
        if len(places) > most:
            break
        found: list[WordPlace] = []
        if wanted in _plain(sentence):
            read, found = find_word(subject.wordpiece, word, sentence, subject.max_length, number)
            if found:
                ids[number] = read
        places.extend(found)
        if not found:
            lacking.append(number)
    return ids, places, lacking


def _notes(word: str, found: int, most: int) -> tuple[Sentence, ...]:
    if found <= most:
        return ()
    note = marked("engine", "“{word}” occurs more often there. The first {count:,} places were taken.")
    return (Sentence(note, {"word": word, "count": most}),)


def _read(
    subject: LoadedModel,
    encoded: EncodedRows,
    indices: np.ndarray,
    places: Sequence[WordPlace],
    vectors: Floats,
    sums: np.ndarray,
) -> None:
    """Fill in the word's vectors in some sentences, and add up the unit vectors of all their tokens."""
    batch_place = {int(encoded.rows[index]): order for order, index in enumerate(indices)}
    wanted = [at for at, place in enumerate(places) if place.sentence in batch_place]
    with looking(subject) as device:
        batch = collate(encoded, indices, device, ROW_MULTIPLE)
        firsts = batch.bounds.firsts.tolist()
        rows = [
            [firsts[batch_place[places[at].sentence]] + piece for piece in places[at].pieces] for at in wanted
        ]
        for layer, hidden in states(subject.encoder, batch, subject.config.num_hidden_layers):
            vectors[layer, wanted] = _means(hidden, rows).cpu().numpy()
            tokens = torch.nn.functional.normalize(hidden[: batch.num_tokens], dim=-1)
            sums[layer] += tokens.sum(0).cpu().numpy()


def _in_table(subject: LoadedModel, ids: Mapping[int, Sequence[int]], places: Sequence[WordPlace]) -> Floats:
    """Return (len(places), D): the mean of the rows that the word's pieces have in the word table."""
    with looking(subject) as device:
        flat = torch.tensor([ids[place.sentence][piece] for place in places for piece in place.pieces])
        ends = np.cumsum([len(place.pieces) for place in places])
        rows = [range(end - len(place.pieces), end) for end, place in zip(ends.tolist(), places, strict=True)]
        found: Floats = _means(subject.encoder.embeddings.word(flat.to(device)), rows).float().cpu().numpy()
        return found


def _means(hidden: Tensor, rows: Sequence[Sequence[int]]) -> Tensor:
    """Return (len(rows), D): the mean of each group of rows of hidden (N, D)."""
    lengths = torch.tensor([len(group) for group in rows], device=hidden.device)
    flat = torch.tensor([row for group in rows for row in group], device=hidden.device)
    groups = torch.repeat_interleave(torch.arange(len(rows), device=hidden.device), lengths)
    sums = hidden.new_zeros(len(rows), hidden.shape[-1]).index_add_(0, groups, hidden.index_select(0, flat))
    return sums / lengths[:, None]
