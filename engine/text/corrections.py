"""A text with wrong characters or words, and the right one beside it: which columns hold them.

A model that corrects in place says a piece for each piece, so both texts have as many; a row where they have
not is reported by its line. Texts without an error are kept: they teach to leave alone.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, zip_longest

import numpy as np

from engine.errors import DataError, Sentence, marked
from engine.events import Beat, Steps
from engine.text.example_rows import ExampleRows
from engine.text.examples import ExampleTable, LabelTable, finding_values, guess_roles, reported_lines
from engine.text.labels import LabelColumn
from engine.text.roles import Roles
from engine.text.table import Table
from engine.text.tokenizer import Tokenizer

_LOOKED_AT = 500  # rows by which columns are compared
_MOST_COLUMNS = 12  # of a table, that are
_LEAST_ALIKE = 0.9  # share of rows that are as long on both sides and differ in few characters
_LEAST_CHANGED = 0.02  # share of them that differ at all
_FEW = 0.3  # of a text's characters
_LEAST_LENGTH = 4  # characters of a text, on average
_TEXTS_AT_ONCE = 512
_RIGHT = frozenset(  # names of columns, lower-cased
    str.split(
        "right correct corrected correction target tgt reference ref gold fixed label 正确 正确文本 改正"
    )
)
_FORM = marked("engine", "{count:,} of {total:,} texts differ from their right text in column {column}.")
_NONE_WRONG = marked(
    "engine",
    "No text differs from its right text in column {column}, so there is nothing to correct. Choose another "
    "column.",
)
_UNKNOWN = marked("engine", "Line {line} has no piece that the vocabulary knows.")
_UNEQUAL = marked(
    "engine",
    "Line {line} has {count} pieces in its text and {other} in the right text, so they cannot be compared "
    "place by place.",
)


def likely_corrections(table: Table) -> Roles:
    """Return the columns of texts and of right texts, as they most likely are; none where no two are alike.

    Where no name tells, the right one stands behind the other.
    """
    step = -(-table.num_rows // _LOOKED_AT) or 1
    cells = {
        name: [cell.strip() for cell in table.frame[name].array[::step].tolist()]
        for name in table.columns[:_MOST_COLUMNS]
    }
    for first, second in combinations(cells, 2):
        if _are_versions(cells[first], cells[second]):
            is_turned = first.strip().lower() in _RIGHT and second.strip().lower() not in _RIGHT
            text, right = (second, first) if is_turned else (first, second)
            other = guess_roles(table).label
            return Roles() if other not in ("", text, right) else Roles(text, label=right)
    return Roles()


def _are_versions(ones: list[str], others: list[str]) -> bool:
    """Whether texts are the same but for a few characters, and not all of them wholly."""
    pairs = [(one, other) for one, other in zip(ones, others, strict=True) if one and other]
    letters = "".join(one for one, _ in pairs)
    if not pairs or len(letters) < _LEAST_LENGTH * len(pairs):
        return False
    if sum(map(str.isalpha, letters)) < 0.4 * len(letters) or len(set(ones)) < 0.5 * len(pairs):
        return False
    apart = [
        sum(a != b for a, b in zip(one.casefold(), other.casefold(), strict=True))
        if len(one) == len(other) and len(one.casefold()) == len(other.casefold())
        else len(one)
        for one, other in pairs
    ]
    alike = sum(count <= max(1, _FEW * len(one)) for count, (one, _) in zip(apart, pairs, strict=True))
    changed = sum(0 < count < len(one) for count, (one, _) in zip(apart, pairs, strict=True))
    return alike >= _LEAST_ALIKE * len(pairs) and changed >= max(1, _LEAST_CHANGED * len(pairs))


def finding_corrections(table: Table, roles: Roles, *, is_learned: bool = True) -> Steps[ExampleTable]:
    """Return the rows that can be used, step by step: `ExampleTable.values` is (K,) right texts, as objects.

    Args:   roles: without a label column no text has a right one. is_learned: whether they are to be learned
        from, which takes an error.
    Returns: rows with an empty text or right text are reported by their line.
    Raises: DataError as `finding_examples`.
    """
    columns = (roles.label,) if roles.label else ()
    found = yield from finding_values(table, roles, columns, _any)
    if not columns:
        return found
    rows, column = found.examples.rows, table.column(roles.label)
    places: dict[str, int] = {}
    rights = table.frame[column].array.take(rows).tolist()
    codes = np.fromiter((places.setdefault(cell, len(places)) for cell in rights), np.int32, len(rows))
    yield Beat()
    values = np.empty(len(places), object)
    values[:] = list(places)
    examples = ExampleRows([table.frame[table.column(roles.text)].array], rows, codes)
    wrong = 0
    for start in range(0, len(examples), _TEXTS_AT_ONCE):
        both = examples[start : start + _TEXTS_AT_ONCE].texts(), rights[start : start + _TEXTS_AT_ONCE]
        wrong += sum(one.strip() != other.strip() for one, other in zip(*both, strict=True))
        yield Beat()
    if is_learned and not wrong:
        raise DataError(_NONE_WRONG, column=column)
    form = Sentence(_FORM, {"count": wrong, "total": len(rows), "column": column})
    return ExampleTable(examples, (), found.reported, values=values, form=form)


def right_texts(found: ExampleTable, examples: ExampleRows) -> list[str] | None:
    """Return the right text of each of some examples; None where none is known."""
    if found.values is None:
        return None
    texts: list[str] = found.values[examples.labels].tolist()
    return texts


def num_apart(found: ExampleTable) -> np.ndarray:
    """Return (E,) in how many characters each text differs from its right one, the longer one's end too."""
    texts, rights = found.examples.texts(), right_texts(found, found.examples) or []
    counts = [
        sum(a != b for a, b in zip_longest(one.strip(), other.strip()))
        for one, other in zip(texts, rights, strict=True)
    ]
    return np.array(counts, np.int64)


def fitting_corrections(
    table: Table, found: ExampleTable, wordpiece: Callable[[], Tokenizer]
) -> Steps[ExampleTable]:
    """Return the rows whose two texts have as many pieces, one of them known at least; the others are
    reported by their line.

    Raises: DataError if none is left.
    """
    if found.values is None:
        return found
    tokenizer, examples = wordpiece(), found.examples
    kept, problems = np.ones(len(examples), bool), dict[int, Sentence]()
    for start in range(0, len(examples), _TEXTS_AT_ONCE):
        some = examples[start : start + _TEXTS_AT_ONCE]
        both = map(tokenizer.encode_ids, (some.texts(), right_texts(found, some) or ()))
        for place, (one, other) in enumerate(zip(*both, strict=True)):
            row = int(some.rows[place])
            if len(one) != len(other):
                problems[row] = Sentence(_UNEQUAL, {"line": 0, "count": len(one), "other": len(other)})
            elif (other == tokenizer.unk_id).all():
                problems[row] = Sentence(_UNKNOWN, {"line": 0})
            kept[start + place] = row not in problems
        yield Beat()
    if not problems:
        return found
    lost = reported_lines(table, problems)
    if not kept.any():
        template = marked("engine", "None of the {num_rows:,} rows can be used. {first}")
        raise DataError(template, num_rows=len(examples), first=str(lost[0].sentence))
    reported = tuple(sorted((*found.reported, *lost), key=lambda bad: bad.line))
    left = examples.take(np.flatnonzero(kept))
    return ExampleTable(left, (), reported, found.notes, values=found.values, form=found.form)


def _any(answers: LabelColumn) -> LabelTable:
    """Whatever stands in a cell is a text."""
    return LabelTable((), np.zeros((len(answers.names), 1), np.int64))
