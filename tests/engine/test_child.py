"""A child process: what it tells arrives whole, and it takes back what it began when it is ended."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from engine.child import asking
from engine.errors import Sentence, UserError
from engine.events import Beat, Progress, result_of

CHILD = "tests.engine.child_that_waits"


def test_a_child_tells_events_and_what_it_found_and_sentences_keep_their_templates(tmp_path: Path) -> None:
    steps, told = asking(CHILD, {"how": "answer", "path": str(tmp_path / "file")}), list[Any]()
    while True:
        try:
            told.append(next(steps))
        except StopIteration as end:
            found = end.value
            break
    noted, progress = (event for event in told if not isinstance(event, Beat))
    assert isinstance(progress, Progress) and progress.total == 2
    assert noted.sentence.template == "{what} is {whole}" and str(noted.sentence) == "x is a 2"
    assert found == {"path": str(tmp_path / "file"), "said": [Sentence("done")]}


def test_a_refusal_is_a_sentence_and_a_fault_shows_where_it_was(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="file is refused"):
        result_of(asking(CHILD, {"how": "refuse", "path": str(tmp_path / "file")}))
    with pytest.raises(RuntimeError, match="a fault of its own"):
        result_of(asking(CHILD, {"how": "fail", "path": str(tmp_path / "file")}))


@pytest.mark.skipif(os.name == "nt", reason="a process of Windows is ended without being told")
def test_a_child_that_is_given_up_takes_back_what_it_began(tmp_path: Path) -> None:
    steps = asking(CHILD, {"how": "wait", "path": str(tmp_path / "file")}, patience_s=20)
    while not isinstance(next(steps), Progress):
        pass
    assert (tmp_path / "file").exists()
    began = time.monotonic()
    steps.close()
    assert not (tmp_path / "file").exists() and time.monotonic() - began < 10
