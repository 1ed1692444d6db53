"""A model that was taught the other rows answers for a row, whose own label has no say in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from engine.doctor.taught import TaughtAnswers, taught_in_turns
from engine.events import result_of
from engine.text.example_rows import Example, ExampleRows
from tests.fakes import model_folder

WORDS = ("good", "bad", "film", "play", "playing")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return model_folder(tmp_path / "model")


def taught(folder: Path, labels: np.ndarray) -> TaughtAnswers:
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, 6)) for _ in labels]
    rows = [Example(i, (text,), label) for i, (text, label) in enumerate(zip(texts, labels, strict=True))]
    return result_of(taught_in_turns(folder, ExampleRows.of(rows), labels, 2, 16, np.arange(len(rows))))


@pytest.mark.slow
def test_the_answer_for_a_row_does_not_know_its_own_label(folder: Path) -> None:
    labels = np.arange(48) % 2
    before = taught(folder, labels)
    changed = labels.copy()
    changed[5] = 1 - changed[5]
    after = taught(folder, changed)
    assert np.array_equal(before.unseen[5], after.unseen[5]), "its own label was never seen"
    assert not np.array_equal(before.unseen, after.unseen), "but others learned from it"
    for answers in (before.unseen, before.met):
        np.testing.assert_allclose(answers.sum(1), 1, atol=1e-5)
