"""A family's card made anew: all members are asked all questions, and what they answer goes into family.json
and card.md. A packed family, such as the one in the box, is asked in its own folder.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from engine.durable import write_text
from engine.events import Event, Finished
from engine.family.ask import Family
from engine.family.card import card
from engine.family.exam import ExamQuestions, examine, rows_document
from engine.family.reading import VOCAB, Streams, prepared, streams
from engine.family.scores import document_of
from engine.family.train import CARD, REPORT, judge, read_family, read_report
from engine.settings.family import FamilyConfig
from engine.train.run.runs import MODEL


def examine_family(
    folder: Path, asked: ExamQuestions, learned_from: Sequence[str] = (), note: str = ""
) -> Iterator[Event]:
    """Ask a family that has come to its end, and write its card anew; what was asked before stays, but for
    what is asked again.

    Args: learned_from: the text that it learned from, whose part kept apart is asked again; () leaves those
    scores as they are. note: a sentence for the card. Raises: UserError: no such family, or no such text.
    """
    began, folder = time.perf_counter(), Path(folder)
    report, config = read_report(folder), read_family(folder)
    family = Family.open(folder, report["members"])
    if learned_from:
        text = yield from _kept_apart(config, folder, report["members"][0], learned_from)
        asked = replace(asked, held_out=text.held_out, counts=text.counts)
    found = yield from examine(family, asked)
    if found.scores is not None:
        report["scores"], report["at_start"] = document_of(found.scores), list(found.scores.at_start)
    for key, new, name in (
        ("questions", rows_document(found.rows), ("name", "source")),
        ("claims", [asdict(one) for one in found.claims], ("claim",)),
    ):
        known = {tuple(one[part] for part in name): one for one in report.get(key, [])}
        report[key] = [*{**known, **{tuple(one[part] for part in name): one for one in new}}.values()]
    judge(report)
    report["note"] = note or report.get("note", "")
    write_text(folder / REPORT, json.dumps(report, indent=1, ensure_ascii=False))
    write_text(folder / CARD, "\n".join(card(report)) + "\n")
    yield Finished(path=folder / CARD, seconds=time.perf_counter() - began)


def _kept_apart(
    config: FamilyConfig, folder: Path, member: str, learned_from: Sequence[str]
) -> Generator[Event, None, Streams]:
    """Return the text that a family learned from, as its settings part it."""
    config = replace(config, text=replace(config.text, text="\n".join(learned_from)))
    with tempfile.TemporaryDirectory() as made:
        shutil.copyfile(folder / member / MODEL / VOCAB, Path(made) / VOCAB)
        setup = yield from prepared(config, Path(made))
        return streams(config, setup)
