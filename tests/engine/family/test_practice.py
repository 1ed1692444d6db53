"""BERT as it is trained in practice, in the place of the family's own: what it says, and of which words."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.shipped import shipped_family, starter_model
from engine.events import result_of
from engine.family.ask import Family
from engine.family.practice import training_of
from engine.family.questions.blank import FillBlank
from engine.family.questions.senses import WordSenses
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.probe import probe

is_here = pytest.mark.skipif(
    shipped_family() is None or starter_model() is None, reason="this build lacks the family or the starter"
)


@pytest.mark.slow
@is_here
def test_another_bert_answers_with_its_own_pieces_among_the_words_of_the_family() -> None:
    folder, starter = shipped_family(), starter_model()
    assert folder is not None and starter is not None
    family = Family.open(folder)
    asked = FillBlank(folder, "She sang a [MASK] on the album.", "song", bert=starter)
    found, own = (result_of(one.answer(family)) for one in (asked, replace(asked, bert=None)))
    first = probe(LoadedModel.open(starter), asked.text, top_k=1).answers[0].guesses[0]
    assert found.filled["bert"].guesses[0].value == pytest.approx(first.probability, abs=1e-6)
    assert found.filled["bert"].rank == 1 and "bert" not in found.limits
    assert {**found.filled, "bert": None} == {**own.filled, "bert": None}
    assert found.filled["bert"] != own.filled["bert"]
    assert ["--bert", str(starter)] == asked.arguments()[-2:]


@pytest.mark.slow
@is_here
def test_the_vectors_of_another_bert_are_of_the_word_in_its_own_pieces() -> None:
    folder, starter = shipped_family(), starter_model()
    assert folder is not None and starter is not None
    texts = (("The bank of the river.", 0), ("The bank gave money.", 1), ("A bank in London.", 1))
    found = result_of(WordSenses(folder, "bank", texts, bert=starter).answer(Family.open(folder)))
    assert found.senses["bert"].states.shape == (7, 3, 384)
    assert found.senses["elmo"].states.shape[1] == 3
    bert = Family.open(folder).other(LoadedModel.open(starter))
    assert np.isfinite(bert.states("antidisestablishmentarian", "It is antidisestablishmentarian.")).all()


def test_how_much_a_model_was_trained_is_the_sum_of_its_stages(tmp_path: Path) -> None:
    stages = [{"from": "base", "tokens": 20, "seconds": 1.5}, {"from": "one", "tokens": 5, "seconds": 2}]
    found = training_of(json.loads(json.dumps({"chain": stages})))
    assert found is not None and (found.pieces, found.seconds, found.base) == (25, 3.5, "base")
    assert training_of({"task": "pretraining"}) is None
    fresh = training_of({"chain": [{"from": "new:4x320", "tokens": 10, "seconds": 1.0}]})
    assert fresh is not None and fresh.base == ""  # begun from no other model


@pytest.mark.slow
@is_here
def test_a_word_that_the_family_does_not_know_is_read_by_the_other_bert() -> None:
    folder, starter = shipped_family(), starter_model()
    assert folder is not None and starter is not None
    family = Family.open(folder)
    asked = [f"It cost two million {word} and a [MASK]." for word in ("pounds", "elephants")]
    found = [result_of(FillBlank(folder, text, bert=starter).answer(family)) for text in asked]
    assert "[UNK]" in found[0].words and "pounds" in found[0].written
    assert found[0].filled["ngram"] == found[1].filled["ngram"]  # to the family it is the same text
    assert found[0].filled["bert"] != found[1].filled["bert"]
