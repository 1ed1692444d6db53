"""What a run finds in its data before it learns: repeats, contradictions, texts that stand in two parts.

All of it is said in `Noted` events with the counts as values, zero included where that is good news: a run
keeps what it noted, so what was counted then is what is shown of it ever after.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.errors import Sentence, marked
from engine.events import Beat, Event, Noted
from engine.text.example_rows import (
    ExampleRows,
    count_contradictions,
    count_duplicates,
    count_leaks,
    text_keys,
)

MUCH_IS_CUT = 0.05  # share of the training texts


def on_rows(name: str, examples: ExampleRows) -> Iterator[Event]:
    """Tell of rows of one table that repeat or contradict each other. Args: name: of its file."""
    keys = yield from text_keys(examples)
    if count := count_duplicates(keys):
        template = marked("engine", "{count:,} rows of {name} repeat a text that stands above them.")
        if count == 1:
            template = marked("engine", "One row of {name} repeats a text that stands above it.")
        yield _noted(template, count=count, name=name)
    yield Beat()
    if count := count_contradictions(keys, examples.labels):
        template = marked("engine", "{count:,} texts of {name} carry more than one label.")
        if count == 1:
            template = marked("engine", "One text of {name} carries more than one label.")
        yield _noted(template, count=count, name=name)


def on_parts(parts: Mapping[str, ExampleRows]) -> Iterator[Event]:
    """Tell how many texts any two of "train", "validation" and "test" share; some may be absent."""
    keys = {}
    for name, examples in parts.items() if len(parts) > 1 else ():
        keys[name] = yield from text_keys(examples, either_way=True)
    validation, test = (parts.get(name) for name in ("validation", "test"))
    if validation:
        flatters = marked(
            "engine",
            "{leaks:,} of {total:,} validation texts also stand in the training data, so the validation "
            "score will look too good.{pairs}",
        )
        fine = marked("engine", "Validation is kept apart: {total:,} rows, no text shared with training.")
        yield _on_leaks(count_leaks(keys["train"], keys["validation"]), validation, flatters, fine)
    else:
        template = marked(
            "engine", "Nothing is kept apart for validation, so nobody can tell how good the result is."
        )
        if test:
            template = marked(
                "engine",
                "Nothing is kept apart for validation, so the last weights are the result, which need not be "
                "the best, and nothing is measured before the end.",
            )
        yield Noted(sentence=Sentence(template), level="wrong")
    if test:
        flatters = marked(
            "engine",
            "{leaks:,} of {total:,} test texts also stand in the training data, so the test score will look "
            "too good.{pairs}",
        )
        fine = marked("engine", "The test is kept apart: {total:,} rows, no text shared with training.")
        yield _on_leaks(count_leaks(keys["train"], keys["test"]), test, flatters, fine)
    if test and validation:
        flatters = marked(
            "engine",
            "{leaks:,} of {total:,} test texts also stand in the validation data, by which the best moment "
            "is chosen, so the test score may look a little too good.{pairs}",
        )
        fine = marked("engine", "No text of the {total:,} test rows stands in the validation data.")
        yield _on_leaks(count_leaks(keys["validation"], keys["test"]), test, flatters, fine)


def on_cut(num_cut: int, num_train: int, max_length: int) -> Iterator[Event]:
    """Tell how many training texts are too long, where they are many."""
    if num_cut >= MUCH_IS_CUT * num_train and num_cut:
        template = marked(
            "engine", "{cut:,} of {total:,} training texts are longer than {length} WordPieces and are cut."
        )
        yield _noted(template, cut=num_cut, total=num_train, length=max_length)


def _on_leaks(leaks: int, held_out: ExampleRows, flatters: str, fine: str) -> Noted:
    if not leaks:
        return Noted(sentence=Sentence(fine, {"leaks": 0, "total": len(held_out)}), level="fine")
    pairs = Sentence("")
    if held_out.has_pair:
        pairs = Sentence(marked("engine", " Pairs count with their sides swapped too."))
    return _noted(flatters, leaks=leaks, total=len(held_out), pairs=pairs)


def _noted(template: str, **values: object) -> Noted:
    return Noted(sentence=Sentence(template, values))
