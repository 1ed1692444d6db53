"""Rows in another script, language or form of Chinese characters than the rest, told without a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from engine.doctor.finding import Finding, FindingWords
from engine.doctor.part import TablePart
from engine.errors import Sentence, marked, some_of
from engine.events import Beat, Steps
from engine.text.languages import (
    CHINESE,
    NO_LETTERS,
    SAMPLE,
    SIMPLIFIED,
    TRADITIONAL,
    chinese_form,
    language_of,
    script_of,
    usual_languages,
)

SELDOM = 0.05  # of the rows; a script or language that more of them are in belongs to the table
_MOST_NAMED = 5
_AT_ONCE = 1024

# E rows


def on_languages(part: TablePart) -> Steps[list[Finding]]:
    """Return which rows of a part are in another script or language than the rest, step by step."""
    usual = usual_languages(_texts(part, slice(None, None, -(-len(part.examples) // SAMPLE) or 1)))
    yield Beat()
    scripts, languages, forms = list[str](), list[str](), list[str]()
    for start in range(0, len(part.examples), _AT_ONCE):
        texts = _texts(part, slice(start, start + _AT_ONCE))
        scripts += [script_of(text, usual) for text in texts]
        languages += [language_of(text, usual) for text in texts]
        forms += [
            chinese_form(text) if script == CHINESE else ""
            for text, script in zip(texts, scripts[start:], strict=True)
        ]
        yield Beat()
    others = _others(scripts)
    there = np.isin(scripts, others)
    odd = list(_one("other_script", part, scripts, others)) if others else []
    same = [NO_LETTERS if is_other else one for one, is_other in zip(languages, there, strict=True)]
    others = [one for one in _others(same) if one not in scripts]  # a script alone: in no language for sure
    odd += _one("other_language", part, same, others) if others else []
    return [*odd, *(_forms(part, forms) if scripts.count(CHINESE) * 2 > len(scripts) else ())]


def _forms(part: TablePart, forms: Sequence[str]) -> Iterator[Finding]:
    """Name the rows in the form of Chinese characters that fewer rows are in. Args: forms: (E,)."""
    rarer = min(TRADITIONAL, SIMPLIFIED, key=forms.count)
    rows = part.examples.rows[np.array(forms) == rarer]
    if len(rows):
        kind = f"{rarer}_rows"
        yield _SAID[kind].of(kind, part.name, rows)


def _texts(part: TablePart, rows: slice) -> list[str]:
    """Return some of a part's texts, each with the one that it is paired with."""
    some = part.examples[rows]
    pairs = some.pairs()
    return some.texts() if pairs is None else list(map("\n".join, zip(some.texts(), pairs, strict=True)))


def _others(found: Sequence[str]) -> list[str]:
    """Return the scripts or languages that few rows are in, the commonest first. Args: found: (E,)."""
    counts = Counter(found)
    del counts[NO_LETTERS]
    return [one for one, count in counts.most_common()[1:] if count <= SELDOM * counts.total()]


def _one(kind: str, part: TablePart, found: Sequence[str], others: Sequence[str]) -> Iterator[Finding]:
    """Name the rows that are in one of the others."""
    counts = Counter(found)
    del counts[NO_LETTERS]
    named = [Sentence(one) for one in some_of(others, _MOST_NAMED)]
    said = {"usual": Sentence(counts.most_common(1)[0][0]), "others": named}
    yield _SAID[kind].of(kind, part.name, part.examples.rows[np.isin(found, others)], said)


_SAID = {
    "other_script": FindingWords(
        marked("engine", "{count:,} rows of {name} are in another script than the rest ({usual}): {others}."),
        marked("engine", "One row of {name} is in another script than the rest ({usual}): {others}."),
        marked("engine", "A model for one script can hardly read another."),
        marked("engine", "Review them, and exclude those that do not belong."),
    ),
    "other_language": FindingWords(
        marked(
            "engine", "{count:,} rows of {name} are in another language than the rest ({usual}): {others}."
        ),
        marked("engine", "One row of {name} is in another language than the rest ({usual}): {others}."),
        marked("engine", "A model for one language knows few words of another."),
        marked("engine", "Review them, and exclude those that do not belong."),
    ),
    "traditional_rows": FindingWords(
        marked(
            "engine", "{count:,} rows of {name} are in traditional characters, the rest in simplified ones."
        ),
        marked("engine", "One row of {name} is in traditional characters, the rest in simplified ones."),
        marked("engine", "To a model, the two forms of a character have nothing in common."),
        marked("engine", "Convert the file to one form, or exclude these rows."),
    ),
    "simplified_rows": FindingWords(
        marked(
            "engine", "{count:,} rows of {name} are in simplified characters, the rest in traditional ones."
        ),
        marked("engine", "One row of {name} is in simplified characters, the rest in traditional ones."),
        marked("engine", "To a model, the two forms of a character have nothing in common."),
        marked("engine", "Convert the file to one form, or exclude these rows."),
    ),
}
