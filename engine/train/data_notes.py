"""What a run finds in its data before it learns: repeats, contradictions, texts that stand in two parts.

All of it is said in `Noted` events with the counts as values, zero included where that is good news: a run
keeps what it noted, so what was counted then is what is shown of it ever after.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.errors import Sentence, marked
from engine.events import Beat, Event, Noted
from engine.settings.finetune import DataConfig
from engine.text.example_rows import (
    ExampleRows,
    Keys,
    count_contradictions,
    count_duplicates,
    count_leaks,
    text_keys,
)
from engine.text.table import BadLine
from engine.text.tokenizer import Tokenizer
from engine.text.unknown import unknown_in

MUCH_IS_CUT = 0.05  # share of the training texts
FEW_STEPS = 15  # that learn little, whatever the rate
SMALL_TABLE = 1000  # rows, below which ways are compared in minutes
FEW_A_LABEL = 50  # examples, below which cheaper ways than fine-tuning often do better
MOST_REASONS = 100  # lines that are told one by one
MOST_RANGES = 30  # of the others in one sentence
_NOT_USED = marked("engine", "More lines are not used: {lines}. For example: {first}")


REPEATED = (
    marked("engine", "{count:,} rows of {name} repeat a text of an earlier row."),
    marked("engine", "One row of {name} repeats a text of an earlier row."),
)
SEVERAL_LABELS = (
    marked("engine", "{count:,} texts of {name} have more than one label."),
    marked("engine", "One text of {name} has more than one label."),
)
UNLIKE_SETS = (
    marked("engine", "{count:,} texts of {name} are in several rows with different labels."),
    marked("engine", "One text of {name} is in several rows with different labels."),
)
UNLIKE_NUMBERS = (
    marked("engine", "{count:,} texts of {name} are in several rows with different numbers."),
    marked("engine", "One text of {name} is in several rows with different numbers."),
)
NONE_APART = marked("engine", "No rows are held out for validation, so the quality of the result is unknown.")

SHARED = {  # of texts that also stand in the training data: some of a part, none, none where it is one row
    "validation": (
        marked(
            "engine",
            "{leaks:,} of {total:,} validation texts are also in the training data, so the "
            "validation score will look too good.{pairs}",
        ),
        marked("engine", "{total:,} validation rows. No text is shared with training."),
        marked("engine", "One validation row. No text is shared with training."),
    ),
    "test": (
        marked(
            "engine",
            "{leaks:,} of {total:,} test texts are also in the training data, so the test "
            "score will look too good.{pairs}",
        ),
        marked("engine", "{total:,} test rows. No text is shared with training."),
        marked("engine", "One test row. No text is shared with training."),
    ),
}


def on_unused(data: DataConfig, names: Sequence[str], reason: str) -> Iterator[Event]:
    """Say which settings were chosen that have no effect. Args: names: of those that have none."""
    defaults = DataConfig()
    for name in names:
        if getattr(data, name) != getattr(defaults, name):
            yield without_effect(name, reason)


def without_effect(name: str, reason: str) -> Noted:
    """Return what to say of a setting that has no effect."""
    template = marked("engine", "The setting {name} has no effect: {reason}.")
    return _noted(template, name=name, reason=Sentence(reason))


def on_rows(
    name: str, examples: ExampleRows, contradicting: tuple[str, str] = SEVERAL_LABELS
) -> Iterator[Event]:
    """Tell of rows of one table that repeat or contradict each other.

    Args: name: of its file. contradicting: what is said of texts with unlike labels: of many, of one.
    """
    keys = yield from text_keys(examples)
    if count := count_duplicates(keys):
        yield _noted(REPEATED[count == 1], count=count, name=name)
    yield Beat()
    if count := count_contradictions(keys, examples.labels):
        yield _noted(contradicting[count == 1], count=count, name=name)


def on_parts(parts: Mapping[str, ExampleRows], known: Collection[str] = ()) -> Iterator[Event]:
    """Tell how many texts any two of "train", "validation" and "test" share; some may be absent.

    Args: known: those that the model to start from has learned from: of these it is not said that they are
    kept apart.
    """
    keys = {}
    for name, examples in parts.items() if len(parts) > 1 else ():
        keys[name] = yield from text_keys(examples, either_way=True)
    yield from on_shared(keys, known, has_pair=any(examples.has_pair for examples in parts.values()))


def on_shared(
    keys: Mapping[str, Keys], known: Collection[str] = (), *, has_pair: bool = False
) -> Iterator[Event]:
    """Tell how many texts any two of "train", "validation" and "test" share; some may be absent.

    Args: keys: (E,) each, equal where the texts are. known: as `on_parts` has it.
    """
    validation, test = (keys.get(name) for name in ("validation", "test"))
    pairs = Sentence("")
    if has_pair:
        pairs = Sentence(marked("engine", " Pairs with swapped sides count too."))
    if validation is not None:
        yield from _on_shared_with_training("validation", keys, known, pairs)
    else:
        template, level = NONE_APART, "wrong"
        if test is not None:
            level = "look"  # the test tells how good it is
            template = marked(
                "engine",
                "No rows are held out for validation, so the last weights are the result. They "
                "need not be the best, and nothing is measured before the end.",
            )
        yield Noted(sentence=Sentence(template), level=level)
    if test is not None:
        yield from _on_shared_with_training("test", keys, known, pairs)
    if test is not None and validation is not None:
        flatters = marked(
            "engine",
            "{leaks:,} of {total:,} test texts are also in the validation data, which picks "
            "the checkpoint. The test score may look a little too good.{pairs}",
        )
        fine = marked("engine", "No text of the {total:,} test rows is in the validation data.")
        yield _on_leaks(validation, test, flatters, fine, pairs)


def shared_with_training(notes: Iterable[Noted], part: str) -> int | None:
    """Return how many texts of "validation" or "test" are also in the training data, as a run noted; None: it
    did not say. An older run said it in other words, with the same values.
    """
    said = (note.sentence for note in notes)
    counts = (
        one.values.get("leaks") for one in said if f" {part} " in one.template and "training" in one.template
    )
    return next((int(count) for count in counts if isinstance(count, int | float)), None)


def on_cut(num_cut: int, num_train: int, max_length: int) -> Iterator[Event]:
    """Tell how many training texts are too long, where they are many."""
    if num_cut >= MUCH_IS_CUT * num_train and num_cut:
        template = marked(
            "engine",
            "{cut:,} of {total:,} training texts are longer than {length} pieces and are truncated.",
        )
        yield _noted(template, cut=num_cut, total=num_train, length=max_length)


def on_unknown(
    tokenizer: Tokenizer, input_ids: npt.NDArray[np.integer[Any]], num_texts: int
) -> Iterator[Event]:
    """Tell where many pieces of some texts are unknown. Args: input_ids: (N,) of all of them, as cut."""
    said = unknown_in(tokenizer, input_ids, num_texts).said()
    if said is not None:
        yield Noted(sentence=said)


def on_steps(num_steps: int, *, has_ways: bool = False) -> Iterator[Noted]:
    """Tell that a run has too few steps to learn much. Args: has_ways: whether there are other methods."""
    if num_steps >= FEW_STEPS:
        return
    template = marked(
        "engine",
        "The run has {steps} steps, too few to learn much. A smaller batch or more epochs give more.",
    )
    if num_steps == 1:
        template = marked(
            "engine",
            "The run has one step, too few to learn much. A smaller batch or more epochs give more.",
        )
    if has_ways:
        template = marked(
            "engine",
            "The run has {steps} steps, too few to learn much. The method auto (--way auto) suits so few "
            "rows; a smaller batch or more epochs give more steps.",
        )
    yield _noted(template, steps=num_steps)


def has_few(counts: Sequence[int]) -> bool:
    """Whether a table has so few examples of a label that its way is better chosen by cross-validation: on
    average, or, where it is small, of the rarest. Args: counts: examples of each label.
    """
    num_rows = sum(counts)
    is_small = num_rows < SMALL_TABLE and min(counts, default=0) < FEW_A_LABEL
    return num_rows > 0 and (is_small or num_rows < FEW_A_LABEL * len(counts))


def on_few(num_rows: int, num_labels: int) -> Iterator[Noted]:
    """Offer another method where a label has few examples."""
    if 0 < num_rows < FEW_A_LABEL * num_labels:
        template = marked(
            "engine",
            "A label has {count} examples on average. Below {few}, the method auto (--way auto) compares "
            "cheaper ways and says how good each is.",
        )
        found = Sentence(template, {"count": round(num_rows / num_labels), "few": FEW_A_LABEL})
        yield Noted(sentence=found, level="fine")


def on_lines(lost: Sequence[BadLine], template: str = _NOT_USED) -> Iterator[Event]:
    """Name every line of which something is to be said: the first each with its reason, the others by their
    numbers.

    Args: template: of the others, with their `lines` and the `first` of those reasons.
    """
    for bad in lost[:MOST_REASONS]:
        yield Noted(sentence=bad.sentence)
    others: dict[str, list[BadLine]] = {}
    for bad in lost[MOST_REASONS:]:
        others.setdefault(bad.sentence.template, []).append(bad)
    for alike in others.values():
        ranges = _ranges([bad.line for bad in alike])
        for start in range(0, len(ranges), MOST_RANGES):
            values = {"lines": ranges[start : start + MOST_RANGES], "first": alike[0].sentence}
            yield Noted(sentence=Sentence(template, values))


def _ranges(numbers: Sequence[int]) -> list[str]:
    """Return ascending numbers as "3", "7-9"."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1][1:] = [number]
        else:
            found.append([number])
    return ["-".join(map(str, one)) for one in found]


def _on_shared_with_training(
    name: str, keys: Mapping[str, Keys], known: Collection[str], pairs: Sentence
) -> Iterator[Event]:
    flatters, fine, one = SHARED[name]
    note = _on_leaks(keys["train"], keys[name], flatters, one if len(keys[name]) == 1 else fine, pairs)
    if note.level != "fine" or name not in known:
        yield note


def _on_leaks(above: Keys, held_out: Keys, flatters: str, fine: str, pairs: Sentence) -> Noted:
    if not (leaks := count_leaks(above, held_out)):
        return Noted(sentence=Sentence(fine, {"leaks": 0, "total": len(held_out)}), level="fine")
    return _noted(flatters, leaks=leaks, total=len(held_out), pairs=pairs)


def _noted(template: str, **values: object) -> Noted:
    return Noted(sentence=Sentence(template, values))
