"""What to say of a classifier's scores: labels it never answers, and what chance could do as well."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QCoreApplication

from app.pages.advice.remark import AdviceLine
from app.words import listed, number, share, shorten, with_interval
from engine.events import Evaluated
from engine.train.metrics import wilson_interval

translate = QCoreApplication.translate

MOST_NAMES = 3


def accuracy_words(evaluated: Evaluated) -> str:
    """Return the accuracy with its 95 % interval; empty where accuracy was not measured."""
    if "accuracy" not in evaluated.metrics:
        return ""
    rows = int(evaluated.confusion.sum()) if evaluated.confusion is not None else 0
    return with_interval(float(evaluated.metrics["accuracy"]), rows)


def on_predictions(event: Evaluated, *, is_over: bool) -> Iterator[AdviceLine]:
    """Say which labels are never predicted, then what chance could do. Args: is_over: it is trained."""
    assert event.confusion is not None
    true, predicted = event.confusion.sum(axis=1), event.confusion.sum(axis=0)
    never = [
        name for name, rows, said in zip(event.labels, true, predicted, strict=True) if rows and not said
    ]
    if never and int((predicted > 0).sum()) == 1:
        text = translate(
            "scores", "It always answers {name}. It has not learned to distinguish the labels yet."
        )
        if is_over:
            text = translate("scores", "It always answers {name}, so it does not distinguish the labels.")
        only = event.labels[int(predicted.argmax())]
        yield AdviceLine("look", text.format(name=shorten(only, 30)))
        return
    if len(never) == 1:
        text = translate("scores", "{name} is never predicted, though {rows} validation rows have it.")
        rows = int(true[event.labels.index(never[0])])
        yield AdviceLine("look", text.format(name=shorten(never[0], 30), rows=number(rows)))
    elif never:
        text = translate("scores", "{count} labels are never predicted: {names}.")
        yield AdviceLine("look", text.format(count=number(len(never)), names=_names_words(never)))
    elif len(event.labels) == 2:
        yield AdviceLine("fine", translate("scores", "Both labels are being predicted."))
    else:
        text = translate("scores", "All {count} labels are being predicted.")
        yield AdviceLine("fine", text.format(count=number(len(event.labels))))
    yield from on_chance(event)


def on_chance(event: Evaluated) -> Iterator[AdviceLine]:
    """Say where an accuracy may be no better than one answer for all rows."""
    accuracy, confusion = event.metrics.get("accuracy"), event.confusion
    if accuracy is None or confusion is None or not confusion.sum():
        return
    true, rows = confusion.sum(axis=1), int(confusion.sum())
    chance, low = float(true.max()) / rows, wilson_interval(accuracy * rows, rows)[0]
    if low > chance:
        return
    is_test = event.split == "test"
    if accuracy <= chance:
        text = translate("scores", "It is no better than always answering {name} ({share}).")
        if is_test:
            text = translate(
                "scores", "On the test rows it is no better than always answering {name} ({share})."
            )
    else:
        text = translate(
            "scores",
            "It may be no better than always answering {name} ({share}). The 95 % interval "
            "of its accuracy reaches down to {low}.",
        )
        if is_test:
            text = translate(
                "scores",
                "On the test rows it may be no better than always answering {name} ({share}). "
                "The 95 % interval of its accuracy reaches down to {low}.",
            )
    most = shorten(event.labels[int(true.argmax())], 30)
    yield AdviceLine("look", text.format(name=most, share=share(chance), low=share(low)))


def _names_words(names: Sequence[str]) -> str:
    """Return up to three names and how many more there are."""
    shown = listed(shorten(name, 30) for name in names[:MOST_NAMES])
    if len(names) <= MOST_NAMES:
        return shown
    more = translate("scores", "{names} and {count} more")
    return more.format(names=shown, count=number(len(names) - MOST_NAMES))
