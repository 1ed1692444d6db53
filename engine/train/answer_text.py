"""How near an answer is to the right one: exact match and F1, by SQuAD's rule and by CMRC's for Chinese.

SQuAD compares words without case, punctuation and articles; CMRC compares Chinese characters and other words
by the longest stretch they have in common. Either rule gives 0..1 and the best over several right answers.
Source: the scripts published with SQuAD 1.1, SQuAD 2.0 and CMRC 2018, described here and not copied.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_PUNCTUATION = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(a|an|the)\b")

# What CMRC leaves out: of its list, “……” is two characters, and so never left out.
_CMRC_MARKS = "-:_*^/\\~`+=，。：？！“”；’《》·、「」（）－～『』"
_WITHOUT_MARKS = str.maketrans("", "", _CMRC_MARKS)
_RUNS = re.compile("[\u4e00-\u9fa5]|[^\u4e00-\u9fa5]+")

# Words as the Penn Treebank divides them, as far as they stand in answers.
_PARTS = re.compile(
    r"""\.{2,}|''|"|[;@#$%&?!()\[\]{}<>«»“”‘’„\u2012-\u2015]|[,:](?!\d)"""
    r"""|(?:[^\s.,:'";@#$%&?!()\[\]{}<>«»“”‘’„\u2012-\u2015]|\.(?!\.)|[,:](?=\d)|'(?!'))+"""
)
_ENDINGS = re.compile(r"(?<=[^'])(n't|'s|'m|'d|'ll|'re|'ve|')$")
_LEADING = re.compile(r"'(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)")
_GROWN_TOGETHER = ("cannot", "gimme", "gonna", "gotta", "lemme")  # each of three letters and a word
_ABBREVIATION = re.compile(
    r"(?:\w|.*\..*|st|mr|mrs|ms|dr|jr|sr|prof|gen|col|rev|vs|no|vol|inc|ltd|co|corp|al|ca|cf|fig|var)\."
)


def squad_exact(right: str, answer: str) -> float:
    """Return 1 if two answers are the same by SQuAD's rule, else 0."""
    return float(squad_normal(right) == squad_normal(answer))


def squad_f1(right: str, answer: str, *, empty_agrees: bool = True) -> float:
    """Return the F1 of the words of two answers. Args: empty_agrees: two without words are the same (2.0)."""
    expected, found = squad_normal(right).split(), squad_normal(answer).split()
    if not expected or not found:
        return float(empty_agrees and expected == found)
    return _f1((Counter(expected) & Counter(found)).total(), len(expected), len(found))


def squad_normal(text: str) -> str:
    """Return a text lower-cased, without punctuation and articles, its words one space apart."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_PUNCTUATION)).split())


def cmrc_exact(right: str, answer: str) -> float:
    """Return 1 if two answers are the same by CMRC's rule, which leaves some marks out, else 0."""
    return float(_without_marks(right) == _without_marks(answer))


def cmrc_f1(right: str, answer: str) -> float:
    """Return the F1 of the longest stretch of characters and words that two answers have in common.

    Two without any agree, which CMRC, where every question has an answer, does not say.
    """
    expected, found = cmrc_words(right), cmrc_words(answer)
    if not expected or not found:
        return float(expected == found)
    return _f1(longest_common(expected, found), len(expected), len(found))


def cmrc_words(text: str) -> list[str]:
    """Return the Chinese characters of a text and the other words between them, without CMRC's marks."""
    words: list[str] = []
    for run in _RUNS.findall(_without_marks(text)):
        words += [run] if "\u4e00" <= run <= "\u9fa5" else latin_words(run)
    return words


def latin_words(text: str) -> list[str]:
    """Return words and marks as the Penn Treebank divides them: "he's 5%" is he, 's, 5, %.

    A period ends a word where a sentence ends: at the end of the text, or before a space unless it
    abbreviates. Where sentences end is guessed simply, for NLTK's trained guess is not at hand.
    """
    words: list[str] = []
    matches = list(_PARTS.finditer(text))
    for place, found in enumerate(matches):
        part = found[0]
        if part in ('"', "''"):
            before = text[found.start() - 1] if found.start() else ""
            opens = before in " ([{<«“‘„" if before else part == '"'
            words.append("``" if opens else "''")
        elif len(part) == 1 or part.startswith(".."):
            words.append(part)
        else:
            rest = "".join(match[0] for match in matches[place + 1 :])
            words += _of_word(part, is_last=not rest.strip("])}>\"'»”’"), before=text[found.end() :][:1])
    return words


def longest_common(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest stretch that stands in both."""
    longest, row = 0, [0] * (len(second) + 1)
    for one in first:
        row = [0, *(row[place] + 1 if one == other else 0 for place, other in enumerate(second))]
        longest = max(longest, max(row))
    return longest


def _of_word(word: str, is_last: bool, before: str) -> list[str]:
    """Divide one word: leading and ending apostrophes, contractions, the period that ends a sentence."""
    leading: list[str] = []
    if _LEADING.match(word):
        leading, word = ["'"], word[1:]
    ending: list[str] = []
    ends = is_last or (before.isspace() and not _ABBREVIATION.fullmatch(word))
    if len(word) > 1 and word.endswith(".") and word[-2] != "." and ends:
        word, ending = word[:-1], ["."]
    while cut := _ENDINGS.search(word):
        word, ending = word[: cut.start()], [cut[0], *ending]
    parts = [word[:3], word[3:]] if word in _GROWN_TOGETHER else [word]
    return [*leading, *parts, *ending]


def _without_marks(text: str) -> str:
    return text.lower().strip().translate(_WITHOUT_MARKS)


def _f1(common: int, expected: int, found: int) -> float:
    if not common:
        return 0.0
    precision, recall = common / found, common / expected
    return 2 * precision * recall / (precision + recall)
