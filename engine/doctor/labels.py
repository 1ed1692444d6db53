"""What is doubtful in the labels of a table: spellings of one, too few rows of one, rows without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from engine.doctor.differing import is_exchanged, is_one_edit
from engine.doctor.finding import Finding, FindingWords, Rows
from engine.doctor.part import TablePart
from engine.errors import marked
from engine.text.labels import MOST_LABELS, nearly_equal, visible
from engine.text.recipe import MERGE, RecipeStep

RARE = 5  # rows, below which a label is hardly learned and hardly measured
UNBALANCED = 10  # times as many rows of the largest label as of the smallest
_SHORTEST_TYPO = 4  # letters of a label that may be another one mistyped
_SHORT_TYPO = 3  # or of one beside a label that is much commoner
_RARE_BESIDE = 0.1  # of the rows of the label it may stand for
_MUCH_RARER, _EXCHANGED = 0.01, 0.05  # of a short one; of one with two letters exchanged
_MOST_NAMED = 5


def on_labels(part: TablePart) -> Iterator[Finding]:
    """Yield what is doubtful in the labels of a part."""
    yield from _missing(part)
    if part.has_labels and len(part.names) <= MOST_LABELS:
        meant = similar_in(part)
        yield from on_similar(part, meant)
        yield from _rare(part, meant)
        yield from _balance(part, meant)


def similar_in(part: TablePart) -> dict[str, str]:
    """Return label -> the commoner one that it may be, of labels as learned: without blanks around them."""
    if part.roles.label not in part.table.columns or len(part.names) > MOST_LABELS:
        return {}
    meant = similar_labels(Counter(dict(zip(part.names, part.counts().tolist(), strict=True))))
    return {label: meant.get(other, other) for label, other in meant.items()}


def similar_labels(cells: Counter[str]) -> dict[str, str]:
    """Return label -> the commoner one that it may be: spelled or typed otherwise. Args: as they stand."""
    found = {other: group.kept for group in nearly_equal(cells) for other in group.others}
    counts: Counter[str] = Counter()
    for label, count in cells.items():
        counts[found.get(label, label)] += count
    return found | _mistyped(counts)


def _mistyped(counts: Counter[str]) -> dict[str, str]:
    """Return rare label -> the one that it becomes by one letter more, less, other or exchanged."""
    by_short: dict[str, set[str]] = {}
    for label in counts:
        for short in _without_one(label.strip().casefold()):
            by_short.setdefault(short, set()).add(label)
    found = {}
    for label, count in counts.items():
        plain = label.strip().casefold()
        if len(plain) < _SHORT_TYPO:
            continue
        near = set().union(*(by_short.get(short, set()) for short in _without_one(plain))) - {label}
        meant = [
            other
            for other in near
            if count < counts[other]
            and is_one_edit(plain, other.strip().casefold())
            and count <= _as_many(plain, other.strip().casefold(), counts[other])
        ]
        if len(meant) == 1:
            found[label] = meant[0]
    return found


def _as_many(label: str, other: str, count: int) -> float:
    """Return in how many rows a label may stand at most to be another one, mistyped. Args: count: of that."""
    if len(label) >= _SHORTEST_TYPO:
        return max(2, _RARE_BESIDE * count)
    return (_EXCHANGED if is_exchanged(label, other) else _MUCH_RARER) * count


def _without_one(text: str) -> set[str]:
    return {text, *(text[:at] + text[at + 1 :] for at in range(len(text)))}


def on_similar(part: TablePart, meant: dict[str, str]) -> Iterator[Finding]:
    """Yield the rows whose label may be another. Args: meant: label -> that one, as `similar_in` tells."""
    if not meant:
        return
    places = [place for place, name in enumerate(part.names) if name in meant]
    odd = np.isin(part.examples.labels, places)
    found: Rows = part.examples.rows[odd]
    labelled = [part.names[place] for place in part.examples.labels[odd].tolist()]
    kept: dict[str, list[str]] = {}
    for label, other in sorted(meant.items()):
        kept.setdefault(other, []).append(label)
    pairs = [(label, other) for other, labels in kept.items() for label in labels]
    named = [f"{_shown(label, other)} – {_shown(other, label)}" for label, other in pairs]
    yield _SIMILAR.of(
        "similar_labels",
        part.name,
        found,
        {"labels": _some(named)},
        values={"label": labelled, "meant": [meant[label] for label in labelled]},
        mends=tuple(
            RecipeStep(
                MERGE, label=other, labels=tuple(labels), column=part.roles.label, reason="similar_labels"
            )
            for other, labels in kept.items()
        ),
    )


def _shown(label: str, beside: str) -> str:
    said = visible(label, [beside])
    return f"“{said}”" if said != said.strip() else said


def _missing(part: TablePart) -> Iterator[Finding]:
    if len(part.no_text):
        yield _NO_TEXT.of("missing_texts", part.name, part.no_text)
    if len(part.no_label):
        yield _NO_LABEL.of("missing_labels", part.name, part.no_label)


def _some(labels: list[str]) -> list[str]:
    return [*labels[:_MOST_NAMED], *(["…"] if labels[_MOST_NAMED:] else [])]


def _merged_counts(part: TablePart, meant: dict[str, str]) -> np.ndarray:
    """Return (C,), the rows of each label with those of its other spellings, none of these."""
    counts = part.counts()
    for place, name in enumerate(part.names):
        if name in meant:
            counts[part.names.index(meant[name])] += counts[place]
            counts[place] = 0
    return counts


def _rare(part: TablePart, meant: dict[str, str]) -> Iterator[Finding]:
    """Name labels of few rows; of one that may be another the row is told of already."""
    counts = _merged_counts(part, meant)
    rare = np.flatnonzero((counts < RARE) & (counts > 0))
    if not len(rare) or len(part.names) < 2:
        return
    labels = part.examples.labels
    found = np.flatnonzero(np.isin(labels, rare))
    found = found[np.argsort(counts[labels[found]], kind="stable")]
    names = [part.names[place] for place in rare[np.argsort(counts[rare], kind="stable")]]
    said = {"count": len(rare), "least": RARE, "labels": _some(names)}
    yield _RARE.of("rare_labels", part.name, part.examples.rows[found], said)


def _balance(part: TablePart, meant: dict[str, str]) -> Iterator[Finding]:
    """Name the smallest label where another has many times its rows; rare ones are told of already."""
    counts = _merged_counts(part, meant)
    there = np.flatnonzero(counts >= RARE)
    if len(there) < 2 or counts.max() < UNBALANCED * counts[there].min():
        return
    least, most = int(there[counts[there].argmin()]), int(counts.argmax())
    said = {
        "most": part.names[most],
        "large": int(counts[most]),
        "least": part.names[least],
        "small": int(counts[least]),
        "times": float(counts[most] / max(1, counts[least])),
    }
    yield _UNBALANCED.of("imbalance", part.name, part.examples.rows[part.examples.labels == least], said)


_SIMILAR = FindingWords(
    marked("engine", "{count:,} rows of {name} have labels that may mean the same: {labels}."),
    marked("engine", "One row of {name} has a label that may mean the same as another: {labels}."),
    marked("engine", "The model learns them as different labels, and each takes rows from the other."),
    marked("engine", "Merge them if they mean the same."),
    "wrong",
)
_WHY_LEFT_OUT = marked("engine", "They are excluded from training and listed by line number.")
_FILL_IN = marked("engine", "You can leave them as they are, or fill them in, in the file.")
_NO_TEXT = FindingWords(
    marked("engine", "{count:,} rows of {name} have no text."),
    marked("engine", "One row of {name} has no text."),
    _WHY_LEFT_OUT,
    _FILL_IN,
)
_NO_LABEL = FindingWords(
    marked("engine", "{count:,} rows of {name} have no label."),
    marked("engine", "One row of {name} has no label."),
    _WHY_LEFT_OUT,
    _FILL_IN,
)
_RARE = FindingWords(
    marked("engine", "{count:,} labels of {name} have fewer than {least} rows: {labels}."),
    marked("engine", "One label of {name} has fewer than {least} rows: {labels}."),
    marked("engine", "So few rows teach the model little, and their score is mostly chance."),
    marked("engine", "Add rows of them, merge them with others, or exclude them."),
)
_MANY_TIMES = marked(
    "engine", "{most} has {large:,} rows of {name}, {least} only {small:,}: {times:.0f} times as many."
)
_UNBALANCED = FindingWords(
    _MANY_TIMES,
    _MANY_TIMES,
    marked("engine", "Accuracy hides the smallest label. Look at its F1."),
    marked("engine", "Add rows of it, or give rare labels more weight (the setting rare_labels)."),
    "note",
)
