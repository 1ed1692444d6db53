"""How well the words of a text are foreseen, each from all that one may see of the others: the same words for
members and other models, however many pieces a vocabulary makes of a word.

A perplexity per word compares those alone that foresee the same strings: who loses capitals or accents has
less to foresee. So each is among its like, and over the words that all of these know.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.events import Steps
from engine.family.ask import Family
from engine.family.bert import BertMember
from engine.family.members import ABOUT, MASK, PROBABILITY, UNK
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.perplexity import pieces_within, spaced_words, word_logs
from engine.text.tokenizer import Tokenizer

Reads = tuple[bool, bool]  # whether capitals, whether accents are lost


@dataclass(frozen=True, slots=True)
class WordLogs:
    """The natural log of the probability of each word of a text, None of an unknown one; and what is lost of
    each word before it is read.
    """

    logs: tuple[float | None, ...]
    reads: Reads


@dataclass(frozen=True, slots=True)
class PerWord:
    """A pseudo-perplexity per word, over so many words of a text, those that all of its like know."""

    value: float
    count: int
    reads: Reads


def reads_of(cut: Tokenizer, text: str) -> Reads:
    """Return what a vocabulary loses of a text: nothing of one whose letters have no capitals and no accents,
    as Chinese.
    """
    has_case = text.lower() != text.upper()
    has_accents = any(unicodedata.category(one) == "Mn" for one in unicodedata.normalize("NFD", text))
    return cut.lowercase and has_case, cut.strips and (has_case or has_accents)


def other_logs(subject: LoadedModel, text: str) -> Steps[WordLogs]:
    """Return how a model foresees the words of a text. Raises: as `word_logs`."""
    logs = yield from word_logs(subject, text, spaced_words(text))
    return WordLogs(logs, reads_of(subject.wordpiece, text))


def member_logs(family: Family, name: str, text: str) -> Steps[WordLogs | None]:
    """Return the same of a member, from what it may see; None of one that gives no probabilities."""
    member, wordpiece, words = family.members[name], family.wordpiece, spaced_words(text)
    if ABOUT[name].says != PROBABILITY:
        return None
    if isinstance(member, BertMember):
        return (yield from other_logs(member.subject, text))
    encoding = wordpiece.encode(text)
    pieces = pieces_within(encoding.offsets, encoding.special_tokens_mask, words)
    ids = np.array(encoding.input_ids)
    logs = tuple(_log(family, name, ids, places) for places in pieces)
    return WordLogs(logs, reads_of(wordpiece, text))


def _log(family: Family, name: str, ids: np.ndarray, places: Sequence[int]) -> float | None:
    if not places or UNK in ids[list(places)]:
        return None
    log = 0.0
    for number, place in enumerate(places):
        read = ids.copy()
        read[list(places[number:])] = MASK
        p = family.scores(name, read[1:-1].tolist(), place - 1)[ids[place]]
        log += math.log(max(float(p), 1e-30))
    return log


def per_word(found: Mapping[str, WordLogs]) -> dict[str, PerWord]:
    """Return the pseudo-perplexity of each over the words that all of its like know; without those of a text
    of which these know no word.
    """
    perplexities = dict[str, PerWord]()
    for reads in {one.reads for one in found.values()}:
        like = {name: one.logs for name, one in found.items() if one.reads == reads}
        known = [place for place, logs in enumerate(zip(*like.values(), strict=True)) if None not in logs]
        for name, logs in like.items() if known else ():
            mean = math.fsum(logs[place] or 0.0 for place in known) / len(known)
            perplexities[name] = PerWord(math.exp(min(-mean, 700.0)), len(known), reads)
    return perplexities
