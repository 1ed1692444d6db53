"""Whether what two alike texts differ in changes what they say: "fear of worms" and "fear of water" do not
say the same, "fear of worms" and "a fear of wroms" do.

In a short text one word may be the question, in a form filled in many times it is. So texts that differ in a
number, in a word of their own each, or in one of few words, are different; those that differ in spelling, in
small words, or in one word among many, are near copies. Thresholds were chosen by reading what they add among
questions (TREC), messages of bank customers, and spam.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

from engine.doctor.shingles import is_chinese

LONG = 40  # words, from which on likeness alone decides
AMONG = 7  # words of weight that two texts share for each in which both differ
BESIDE = 4  # or for each that one of them lacks
AROUND = 3  # or around two short words that differ by a letter
MOST = 3  # such words in which both of two short texts differ, mistyped ones too
LEAST = 2  # letters of a word that may be mistyped
SHORT = 4  # letters, up to which one other letter may be another word
LENGTHY = 9  # from which on one other letter is a slip
OFTEN = 3  # texts in which a word stands that is known

Count = Callable[[str], int]  # in about how many texts a word stands

_SMALL_WORDS = (
    "a an the of to in on at by for with as and or but that this these those it its there here then than "
    "so is are was were am be been being do does did has have had will would can could shall should may "
    "might s re ve ll d m please just really very also too now well actually basically simply quite some "
    "any into onto about der das den dem des ein eine einen einem einer und oder zu im ist sind "
    "auch sehr doch le la les l un une du de et en dans par sur au aux est sont que qui très "
    "el los las unos unas y con por para del al es muy se lo il gli uno una e è di da nel della het "
    "een op te o os um uma dos na em"
)
_TURNS_OF = (
    "not no nor never t none nothing without who whom whose what which when where why how i you he she we "
    "they nicht kein keine nie pas non jamais nunca sin"
)
_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred "
    "thousand million billion trillion dozen half quarter first second third fourth fifth sixth seventh "
    "eighth ninth tenth once twice double eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf "
    "hundert tausend deux trois quatre cinq sept huit neuf dix cent mille dos tres cuatro cinco seis "
    "siete ocho nueve diez cien mil"
)
_SMALL = frozenset(_SMALL_WORDS.split())
_TURNS = frozenset(_TURNS_OF.split())  # what a question or a statement hangs on, small as it is
_PERSONS = frozenset(("i", "you", "he", "she", "we", "they"))
_FUNCTION = frozenset(word for word in _SMALL | _TURNS if len(word) >= LEAST)
_NUMBERS = frozenset(_NUMBER_WORDS.split())
_FIGURES = re.compile(r"\d+|[〇零一二三四五六七八九十百千万亿]+")


def is_number(word: str) -> bool:
    """Whether a word counts or names by figures: 7, 1999, 4th, b2, seven."""
    return word in _NUMBERS or any(map(str.isdigit, word))


def differ_in_figures(a: str, b: str) -> bool:
    """Whether each of two texts without spaces has a number that the other lacks."""
    first, second = Counter(_FIGURES.findall(a)), Counter(_FIGURES.findall(b))
    return bool(first - second) and bool(second - first)


def is_one_edit(a: str, b: str) -> bool:
    """Whether two texts differ by one letter more, less or other, or by two that are exchanged."""
    if len(a) > len(b):
        a, b = b, a
    if len(b) - len(a) > 1:
        return False
    start = _first_difference(a, b)
    if len(a) < len(b):
        return a[start:] == b[start + 1 :] and b[start].isalpha()
    if a[start + 1 :] == b[start + 1 :]:
        return start < len(a) and a[start].isalpha() and b[start].isalpha()
    return is_exchanged(a, b)


def is_exchanged(a: str, b: str) -> bool:
    """Whether two texts differ by two letters side by side that are exchanged."""
    start = _first_difference(a, b)
    swapped = a[start + 1 : start + 2] + a[start : start + 1] + a[start + 2 :]
    return a != b and swapped == b[start:] and a[start : start + 2].isalpha()


def _first_difference(a: str, b: str) -> int:
    for at, letter in enumerate(a):
        if letter != b[at : at + 1]:
            return at
    return len(a)


class WordCounts:
    """A folded text as words, each as often as it stands there."""

    def __init__(self, text: str) -> None:
        self.counts = Counter(text.split())
        self.total = self.counts.total()
        self.is_chinese = is_chinese(text)
        self._of_weight = self.counts.keys() - _SMALL

    def is_near(self, other: WordCounts) -> bool:
        """Whether one of two texts has few words of weight that the other lacks, else they differ."""
        return min(len(self._of_weight - other._of_weight), len(other._of_weight - self._of_weight)) <= MOST


class TextDifference:
    """What two texts differ in, word by word.

    only: the words of weight that the first alone has, and the second, without other spellings of one.
    is_guessed: whether a word was taken for another spelling without being known.
    """

    def __init__(self, first: WordCounts, second: WordCounts, count: Count) -> None:
        both = first.counts & second.counts
        only = list((first.counts - both).elements()), list((second.counts - both).elements())
        self._shared = sum(times for word, times in both.items() if word not in _SMALL)
        self.frame = hash(frozenset(both.items())) or 1
        self.is_guessed = False
        if "".join(only[0]) == "".join(only[1]):  # "any thing"
            only, self._shared = ([], []), self._shared + 1
        for word in list(only[0]):
            self._cancel(word, *only, count)
        self.only = tuple([word for word in own if word not in _SMALL] for own in only)

    def _cancel(self, word: str, first: list[str], second: list[str], count: Count) -> None:
        """Take a word away where the other text has it in another spelling."""
        for other in second:
            if word[0] != other[0] and word[-1] != other[-1]:
                continue  # more than one edit, but for two letters
            if is_known := _is_spelling(word, other, count, self._shared):
                first.remove(word)
                second.remove(other)
                self._shared += 1
                self.is_guessed |= is_known == _GUESSED
                return

    @property
    def is_number(self) -> bool:
        """Whether each has a number that the other lacks, or in a short text one of them has."""
        has = [any(map(is_number, own)) for own in self.only]
        return all(has) or (any(has) and self._shared < AMONG)

    @property
    def is_slight(self) -> bool:
        """Whether they say the same but for spelling and small words."""
        return not any(self.only) and self._shared > 0

    @property
    def is_small(self) -> bool:
        """Whether they differ in few words among many."""
        fewest, most = sorted(map(len, self.only))
        return self._shared >= (AMONG * most if fewest else min(AMONG, BESIDE * most))


_KNOWN, _GUESSED = 1, 2


def _is_spelling(a: str, b: str, count: Count, shared: int) -> int:
    """Return whether one of two words is the other, mistyped, or its plural: _KNOWN, _GUESSED or 0.

    Args: shared: words of weight around them. Two short words, or two that both stand elsewhere, are one only
    among several.
    """
    if not is_one_edit(a, b) or _are_numbers(a, b):
        return 0
    if small := {a, b} & _FUNCTION:
        return _KNOWN if len(small) == 1 or (small & _SMALL and small & _PERSONS) else 0
    if min(len(a), len(b)) < LEAST:
        return 0
    is_long = max(len(a), len(b)) > SHORT
    if is_long and (is_exchanged(a, b) or a + "s" == b or b + "s" == a or len(a) >= LENGTHY):
        return _KNOWN
    rare, common = sorted((count(a), count(b)))
    if rare <= 1 and is_long and (common >= OFTEN or shared):
        return _KNOWN if common >= OFTEN else _GUESSED
    least = AROUND + 1 if rare > 1 else AROUND - 1 if common >= OFTEN else AROUND
    return _GUESSED if shared >= (1 if is_exchanged(a, b) else least) else 0


def _are_numbers(a: str, b: str) -> bool:
    """Whether both words are numbers, or either is written in figures."""
    return (is_number(a) and is_number(b)) or any(map(str.isdigit, a + b))
