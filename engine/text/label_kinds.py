"""Label columns that belong to another task: several labels a text, or a tag for each word.

Only plain structure counts. "Sci/Tech" and one "good, bad" among other labels are labels like any; "a|b" is
several where its parts come back in other combinations or alone.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from engine.errors import DataError, Sentence, marked

MARKS = ("|", ";", ",", "，", "；", "、", "｜")
SWITCHES = "01"  # as a mark: no mark, but a place for each label
_LEAST = 3  # different combinations
_MOST = 20_000  # different labels; of more, the column is free text
_TAG = re.compile(r"[BIESMLU]-(\S+)")
_SWITCHES = re.compile(r"[01]([ ,;|][01]){2,}")  # a place for each label
_NUMBERS = re.compile(r"\d+( \d+)+")
_NUMPY = re.compile(r"\[[\d\s]+\]|\[('[^']*'\s*)+\]")
_OF_NUMPY = re.compile(r"'([^']*)'|(\d+)")
_LONGEST_LIST = 10_000  # characters; of more, a stranger's brackets would take long to read
_DECIMAL = re.compile(r"[+-]?\d+,\d+")  # 2,5 as much of Europe writes it


def check_label_kind(column: str, found: Mapping[str, int]) -> None:
    """Refuse labels that are several in one, lists, or the tags of words.

    Args: found: how often each label is there. Raises: DataError.
    """
    if len(found) > _MOST:
        return
    lists = [value for label in found if (value := listed(label)) is not None]
    if lists and len(lists) == len(found):
        template = _OF_ANSWERS if any(isinstance(value, dict) for value in lists) else _LISTS
        raise DataError(template, column=column, example=_shown(max(found, key=len)))
    if _are_tags(found):
        raise DataError(_TAGS, column=column, example=_shown(next(label for label in found if label != "O")))
    if example := combined(found):
        raise DataError(_COMBINED, column=column, example=_shown(example))


def is_of_another_task(refusal: Sentence) -> bool:
    """Whether this is why `check_label_kind` refused a column."""
    return refusal.template in (_COMBINED, _LISTS, _OF_ANSWERS, _TAGS)


def combined(found: Iterable[str]) -> str:
    """Return a label that is several in one, where the labels of a column plainly are such; "" if none."""
    return combination(found)[1]


def combination(found: Iterable[str]) -> tuple[str, str]:
    """Return the mark between labels that stand in one cell, SWITCHES where each has a place of 0 or 1; and
    such a cell; "" and "" where the cells of a column are not plainly such.

    That takes three combinations at least, whose parts nearly all come back alone or in another combination,
    and which end in different parts. Numbers with a decimal comma in every label are ratings.
    """
    labels = list(found)
    if all(map(_DECIMAL.fullmatch, labels)):
        return "", ""
    if len(labels) >= _LEAST and are_switches(labels):
        return SWITCHES, labels[0]
    numbers = [label for label in labels if _NUMBERS.fullmatch(label)]
    for mark in (*MARKS, *((" ",) if len(numbers) >= 0.5 * len(labels) else ())):
        if example := _combined_by(mark, labels):
            return mark, example
    return "", ""


def are_switches(labels: Sequence[str]) -> bool:
    """Whether each cell has a place of 0 or 1 for every label."""
    return all(map(_SWITCHES.fullmatch, labels)) and len(set(map(len, labels))) == 1


def _combined_by(mark: str, labels: list[str]) -> str:
    parts = {
        label: [part.strip() for part in label.strip(f"[](){{}} {mark}").split(mark)] for label in labels
    }
    several = [label for label in labels if len(parts[label]) > 1]
    if len(several) < _LEAST or any(not part for label in several for part in parts[label]):
        return ""
    times = Counter(part for label in labels for part in set(parts[label]))
    backed = [label for label in several if all(times[part] > 1 for part in parts[label])]
    ends = {parts[label][-1] for label in several}
    if len(backed) < 0.8 * len(several) or len(ends) < 2 or len(times) > len(labels):
        return ""
    return backed[0]


def _are_tags(found: Mapping[str, int]) -> bool:
    """Whether the labels are IOB tags: O beside B-x and I-x of the same x, and hardly anything else."""
    kinds = [match for label in found if (match := _TAG.fullmatch(label))]
    begun = {match[1] for match in kinds if match[0][0] == "B"}
    goes_on = {match[1] for match in kinds if match[0][0] in "IM"}
    return "O" in found and bool(begun & goes_on) and len(kinds) + 1 >= 0.9 * len(found)


def listed(label: str) -> list[object] | dict[object, object] | None:
    """Return the list or object, of JSON, Python or numpy, that a cell is; None if it is none."""
    if (label[:1], label[-1:]) not in (("[", "]"), ("{", "}"), ("(", ")")) or len(label) > _LONGEST_LIST:
        return None
    if _NUMPY.fullmatch(label):  # it has no commas, and Python would join its words
        return [word or number for word, number in _OF_NUMPY.findall(label)]
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(label)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        if isinstance(value, dict):
            return value
        return list(value) if isinstance(value, list | tuple | set) else None
    return None


def _shown(label: str) -> str:
    return label if len(label) <= 40 else label[:39] + "…"


_COMBINED = marked(
    "engine",
    "The labels of column {column} look like several in one, such as {example}. To "
    "learn them one by one, choose the task multi-label. If each combination is one "
    "class, set whole_labels.",
)
_LISTS = marked(
    "engine",
    "The labels of column {column} are lists, such as {example}. For labels of a "
    "text, choose the task multi-label. For tags of its words, choose token-labels. "
    "If each list is one class, set whole_labels.",
)
_OF_ANSWERS = marked(
    "engine",
    "The labels of column {column} are objects, such as {example}: answers to "
    "questions, for example. For those, choose the task questions. If each object is "
    "one class, set whole_labels. In other cases, write one label per row.",
)
_TAGS = marked(
    "engine",
    "The labels of column {column} are tags of words, such as {example}. To learn "
    "them word by word, choose the task token-labels. If each tag is one class, set "
    "whole_labels. In other cases, put one text and its label in each row.",
)
