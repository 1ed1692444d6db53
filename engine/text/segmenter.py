"""The words of a text in any language, with their places: Chinese ones whole, as a segmenter finds them.

Its package comes with `pip install 'cloze-workbench[chinese]'`. Without it a Chinese character is a word, and
so it is in a text with Japanese letters, whose words the segmenter does not know.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import import_module

from engine.errors import UserError, marked, not_among

SEGMENTERS = ("", "jieba")
PACKAGES = {"jieba": "rjieba"}  # jieba's words and dictionary, in Rust: wheels for every Python and system
IDEOGRAPHS = (  # those that tokenizers cuts off, as BERT does; it begins one range at 2B920, not 2B820
    *(range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0xF900, 0xFB00), range(0x20000, 0x2A6E0)),
    *(range(0x2A700, 0x2B820), range(0x2B920, 0x2CEB0), range(0x2F800, 0x2FA20)),
)
_IN_RANGES = "".join(f"{chr(some.start)}-{chr(some.stop - 1)}" for some in IDEOGRAPHS)
_KANA = "\u3040-\u30ff"
_IDEOGRAPH, _IS_JAPANESE = re.compile(f"[{_IN_RANGES}]"), re.compile(f"[{_KANA}]")
_WORD = re.compile(f"[{_KANA}{_IN_RANGES}]|[^\\W_{_KANA}{_IN_RANGES}]+(?:['’][^\\W_{_KANA}{_IN_RANGES}]+)*")
LONGEST = 100_000  # characters of a text that is segmented; of a longer one characters are words

Span = tuple[int, int]
Segment = Callable[[str], list[str]]  # a text into what it is made of, in order, nothing left out


def segmenter_named(name: str) -> Segment | None:
    """Return what finds the words of Chinese text; None for "".

    Raises: ConfigError if there is no such segmenter, UserError if its package is not installed.
    """
    if name not in SEGMENTERS:
        raise not_among("segmenter", name, SEGMENTERS[1:])
    if not name:
        return None
    try:
        cut: Segment = import_module(PACKAGES[name]).cut
    except ImportError as error:
        raise UserError(
            marked(
                "engine",
                "Chinese words are found by the package {package}, which is not installed. "
                "Install it with: pip install {package}",
            ),
            package=PACKAGES[name],
        ) from error
    return cut


@cache
def finds_chinese_words() -> bool:
    """Whether Chinese words are found whole here; loads their dictionary, a fifth of a second, where so."""
    try:
        return segmenter_named("jieba") is not None
    except UserError:
        return False


def is_chinese_word(text: str) -> bool:
    """Whether a word is of Chinese characters alone."""
    return bool(text) and _IDEOGRAPH.sub("", text) == ""


def has_chinese(text: str) -> bool:
    """Whether there are Chinese words in a text that a segmenter can find."""
    return not text.isascii() and bool(_IDEOGRAPH.search(text)) and not _IS_JAPANESE.search(text)


@lru_cache(maxsize=256)
def going_on(text: str) -> frozenset[int]:
    """Return the places of a text's characters that go on with a Chinese word, for they are within it.

    It is what `Cutter` hides together with whole-word masking. Nothing is within a word where no package
    finds words.
    """
    if not has_chinese(text) or len(text) > LONGEST or not finds_chinese_words():
        return frozenset()
    segment = segmenter_named("jieba")
    assert segment is not None
    found, start = set[int](), 0
    for word in segment(text.encode("utf-8", "replace").decode() if _has_halves(text) else text):
        for place in range(start + 1, start + len(word)):
            beside = text[place - 1 : place + 1]
            if _IDEOGRAPH.search(beside) and not beside[0].isspace():
                found.add(place)
        start += len(word)
    return frozenset(found)


def word_spans(text: str) -> list[Span]:
    """Return where the words of a text stand, without marks: letters, figures, Chinese words whole."""
    inside, spans = going_on(text), list[Span]()
    for found in _WORD.finditer(text):
        start, stop = found.span()
        if spans and start in inside and spans[-1][1] == start:
            spans[-1] = (spans[-1][0], stop)
        else:
            spans.append((start, stop))
    return spans


def _has_halves(text: str) -> bool:
    """Whether a text has half characters, as a table of JSON can hold, which no segmenter takes."""
    return any("\ud800" <= character <= "\udfff" for character in text)
