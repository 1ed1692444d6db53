"""Whether B follows A beside `transformers`, and what each word has to do with it."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from engine.errors import ModelError, UserError
from engine.events import result_of
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.follows import LEAVE_OUT, MASK_WORD, follows, influence
from engine.model.weights import save_model
from tests.fakes import model_folder, tiny_pretraining, tiny_wordpiece

transformers = pytest.importorskip("transformers")

A, B = "a good film, playing!", "bad play"


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    path = tmp_path_factory.mktemp("follows") / "model"
    save_model(path, tiny_pretraining(seed=3), tiny_wordpiece(), {"task": "pretraining"})
    return LoadedModel.open(path)


def theirs(subject: LoadedModel, ids: list[int], types: list[int]) -> float:
    model = transformers.BertForPreTraining.from_pretrained(
        subject.folder, attn_implementation="eager"
    ).eval()
    with torch.no_grad():
        output = model(input_ids=torch.tensor([ids]), token_type_ids=torch.tensor([types]))
    return float(output.seq_relationship_logits.softmax(-1)[0, 0])


def of_pair(subject: LoadedModel, a: str, b: str) -> float:
    encoding = tiny_wordpiece().encode(a, b)
    return theirs(subject, encoding.input_ids, encoding.token_type_ids)


def test_b_after_a_swapped_and_other_sentences_are_those_of_transformers(subject: LoadedModel) -> None:
    others = [B, A, "", "x " * 40, "film", "play film good", "i j"]
    found = follows(subject, A, B, others=others, num_others=5)
    assert found.probability == pytest.approx(of_pair(subject, A, B), abs=1e-5)
    assert found.swapped == pytest.approx(of_pair(subject, B, A), abs=1e-5)
    assert {text for text, _ in found.others} == {"film", "play film good", "i j"}  # A, B, too long: none
    for text, share in found.others:
        assert share == pytest.approx(of_pair(subject, A, text), abs=1e-5)
    assert found == follows(subject, A, B, others=others, num_others=5)  # the same seed draws the same
    assert len(follows(subject, A, B, others=others, num_others=1).others) == 1


@pytest.mark.slow
@pytest.mark.parametrize("how", [MASK_WORD, LEAVE_OUT])
def test_the_influence_of_a_word_is_the_change_without_it(how: str, subject: LoadedModel) -> None:
    found = result_of(influence(subject, A, B, how=how))
    assert [one.word.text for one in found.words] == ["a", "good", "film", ",", "playing", "!", "bad", "play"]
    encoding = tiny_wordpiece().encode(A, B)
    for one in found.words:
        ids, types = list(encoding.input_ids), list(encoding.token_type_ids)
        for place in reversed(one.word.pieces):
            if how == MASK_WORD:
                ids[place] = 4
            else:
                del ids[place], types[place]
        without = theirs(subject, ids, types)
        assert one.without == pytest.approx(without, abs=1e-5)
        assert one.change == pytest.approx(found.probability - without, abs=1e-5)
        assert (one.log_odds_change > 0) == (one.change > 0)
    ids, types = list(encoding.input_ids), list(encoding.token_type_ids)
    for place in sorted((place for one in found.words for place in one.word.pieces), reverse=True):
        if how == MASK_WORD:
            ids[place] = 4
        else:
            del ids[place], types[place]
    nothing = theirs(subject, ids, types)
    assert found.baseline_probability == pytest.approx(nothing, abs=1e-5)
    odds = [math.log(p / (1 - p)) for p in (found.probability, nothing)]
    total = sum(one.log_odds_change for one in found.words)
    assert found.residual == pytest.approx(odds[0] - odds[1] - total, abs=1e-5)
    assert abs(found.residual) > 1e-4  # it is told, not assumed to be nothing


def test_a_model_without_the_head_says_so(tmp_path: Path, subject: LoadedModel) -> None:
    classifier = LoadedModel.open(model_folder(tmp_path / "classifier"))
    for ask in (lambda: follows(classifier, A, B), lambda: result_of(influence(classifier, A, B))):
        with pytest.raises(ModelError, match="not trained on next sentences"):
            ask()
    with pytest.raises(UserError, match="The second text is empty"):
        follows(subject, A, " ")
    save_model(tmp_path / "masks", tiny_pretraining(), tiny_wordpiece(), {"next_sentence": False})
    with pytest.raises(ModelError, match="not trained on next sentences"):
        follows(LoadedModel.open(tmp_path / "masks"), A, B)
