"""Where a sentence ends, in English and in Chinese; what is cut joins to the paragraph again.

Rules of our own, because no library served (tried on 20 MB each of Wikipedia and novels, one core): sentencex
1.0.32 is fast and well kept, but swallows what stands in or between straight quotes and finds 146,000 of the
205,000 sentences of the novels; blingfire 0.1.8 cuts before 」 and ” and is no longer kept; pysbd, syntok and
sentence-splitter are ten to a hundred times too slow. `RULES` counts up when documents come out otherwise.
"""

from __future__ import annotations

import re

RULES = 1  # a store of tokens remembers it

_STOPS = ".!?…؟।。！？；｡"
_FULL = "。！？；｡"  # no space is needed after these
_CLOSERS = "\"'”’»)\\]」』）】》〉"
_CJK = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef“‘"
_END = re.compile(
    # The first stop of a run; what follows it refuses nearly all false ones at once: 3.5, example.com.
    f"[{_STOPS}](?<![{_STOPS}]{{2}})(?:(?<=[{_FULL}])|(?=[\\s{_STOPS}{_CLOSERS}{_CJK}]))[{_STOPS}]*+[{_CLOSERS}]*+"
    f"(?:\\s++(?![-–—\\s]*[a-z]|[\\s,;:.])|(?<=[{_FULL}”’」』）】》〉])|(?=[{_CJK}]))"
)
_OPENERS = "\"'“‘«([{—–-*_"
_NAME_NEXT = """
    mr mrs ms messrs dr drs prof st ste rev revd hon gen col maj capt cpt cmdr lt sgt cpl adm pvt gov sen
    rep reps sens pres supt insp det msgr fr br mt ft mlle mme vs cf viz ca approx e.g i.e eg ie esp incl
    resp figs eqs eds trans
"""
_NUMBER_NEXT = """
    no nos vol vols pp pg fig eq sec ch chap art op cat ref refs bk pt lib mk jan feb mar apr jun jul aug
    sep sept oct nov dec
"""
_EITHER = "etc inc ltd co corp cos bros jr sr esq al ph.d ave blvd rd dept univ assn ed"
_FIRST_WORDS = """
    A After Against All Also Although Among An And Another Any Are As At Because Before Both But By
    Despite Did Do Does During Each Either Even Every Few Finally First For From Had Has Have He Hence Her
    Here His How However I If In Indeed Instead Is It Its Later Like Many Meanwhile More Moreover Most
    Much My Neither Never No Nor Not Now Of On Once One Only Or Other Others Our Out Over Perhaps Several
    Shall She Should Since So Some Such That The Their Then There Therefore These They This Those Though
    Three Through Thus To Today Two Under Unlike Until Up Upon Was We Were What When Where Whether Which
    While Who Why With Within Without Yes Yet You Your
"""
_BEFORE_NAME = frozenset(_NAME_NEXT.split())  # never the last word of a sentence
_BEFORE_NUMBER = frozenset(_NUMBER_NEXT.split())  # not the last word if a number follows
_MAY_END = frozenset(_EITHER.split())  # the next word tells; so it does after initials: J. R., U.S., p.m.
_STARTERS = frozenset(_FIRST_WORDS.split())  # have a capital for no other reason than to begin a sentence
_WORD = re.compile(r"[A-Za-z]+(?![.\w])")
_NUMBER = re.compile(r"\d|[IVXLC]+\b")
_LONGEST = 40  # characters; a longer word is no abbreviation
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")


def split_sentences(paragraph: str) -> list[str]:
    """Return the sentences of a paragraph, without the white space around them; none of them is empty."""
    sentences = []
    begin = counted = quotes = 0
    for match in _END.finditer(paragraph):
        at, end = match.span()
        if end < len(paragraph) and not _ends_here(paragraph, begin, at, end):
            continue
        if paragraph.startswith('"', end) and not paragraph[end + 1 : end + 2].strip():
            # A quote between two spaces, as in WikiText, closes what an odd number of them has opened.
            quotes, counted = quotes + paragraph.count('"', counted, end), end
            end += quotes % 2
        sentences.append(paragraph[begin:end].strip())
        begin = end
    if rest := paragraph[begin:].strip():
        sentences.append(rest)
    return sentences


def _ends_here(text: str, begin: int, at: int, end: int) -> bool:
    """Whether the stop at `at`, before the next word at `end`, ends the sentence that begins at `begin`."""
    if text[end].islower():
        return False
    if text[at] != "." or text[at + 1] == ".":
        return text[at - 1 : at] not in ("[", "(")  # [...] stands for words
    if not text[end - 1].isspace():
        return False  # 3.中国
    nearby = max(begin, at - _LONGEST)
    word = text[max(text.rfind(" ", nearby, at) + 1, nearby) : at].lstrip(_OPENERS)
    folded = word.lower()
    if folded in _BEFORE_NAME:
        return False
    if folded in _BEFORE_NUMBER:
        return not _NUMBER.match(text, end)
    if folded in _MAY_END or ((len(word) == 1 or "." in word) and _INITIALS.fullmatch(word)):
        following = _WORD.match(text, end)
        return following is not None and following[0] in _STARTERS
    return not (
        nearby == begin and word.isdigit() and text[begin:at].strip() == word
    )  # "1. First" is numbered
