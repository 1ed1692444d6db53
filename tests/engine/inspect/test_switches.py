"""Heads and layers off: answers equal those of `transformers` with the columns that read them set to zero."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import ModelError, UserError
from engine.events import Progress
from engine.inspect.attention.ablation import WatchedAnswer, all_on, effects, every_head, outcome
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.follows import follows
from engine.inspect.masked.probe import probe
from engine.model.weights import save_model
from tests.engine.steps import drained
from tests.fakes import LABELS, model_folder, tiny_pretraining, tiny_wordpiece

A, B = "good [MASK] playing", "bad [MASK] play !"
PLACES = (2, 7)
OFF = {"one head": [(0, 1)], "some heads": [(0, 2), (1, 0)], "a layer": [(1, 0), (1, 1), (1, 2)]}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("models")
    save_model(home / "language", tiny_pretraining(), tiny_wordpiece(), {})
    model_folder(home / "classifier")
    return {"language": home / "language", "classifier": home / "classifier"}


@pytest.fixture(scope="module")
def language(folders: dict[str, Path]) -> LoadedModel:
    return LoadedModel.open(folders["language"], device="cpu")


@pytest.fixture(scope="module")
def classifier(folders: dict[str, Path]) -> LoadedModel:
    return LoadedModel.open(folders["classifier"], device="cpu")


def switched(subject: LoadedModel, off: list[tuple[int, int]]) -> np.ndarray:
    on = all_on(subject)
    for head in off:
        on[head] = False
    return on


@torch.no_grad()
def theirs(kind: str, folder: Path, subject: LoadedModel, off: list[tuple[int, int]]) -> Any:
    """Return what `transformers` answers to A and B with the columns of those heads set to zero."""
    transformers = pytest.importorskip("transformers")
    name = {"language": "BertForPreTraining", "classifier": "BertForSequenceClassification"}[kind]
    model = getattr(transformers, name).from_pretrained(folder, attn_implementation="eager").eval()
    for layer, head in off:
        dense = model.bert.encoder.layer[layer].attention.output.dense
        dense.weight[:, 4 * head : 4 * head + 4] = 0.0
    encoding = subject.encode(A, B)
    return model(torch.tensor([encoding.input_ids]), token_type_ids=torch.tensor([encoding.token_type_ids]))


@pytest.mark.parametrize("off", OFF.values(), ids=OFF)
def test_masked_words_and_next_sentence_equal_zeroed_columns(
    off: list[tuple[int, int]], language: LoadedModel, folders: dict[str, Path]
) -> None:
    found = outcome(language, A, B, switched(language, off), top_k=37)
    reference = theirs("language", folders["language"], language, off)
    shares = reference.prediction_logits.softmax(-1)[0]
    assert tuple(guess.position for guess in found.masked) == PLACES
    for guess in found.masked:
        there = shares[guess.position, list(guess.ids)].numpy()
        assert np.abs(np.array(guess.probabilities) - there).max() <= 1e-5
    follows = float(reference.seq_relationship_logits.softmax(-1)[0, 0])
    assert found.next_sentence == pytest.approx(follows, abs=1e-5)
    assert found.classes == ()


@pytest.mark.slow
@pytest.mark.parametrize("off", OFF.values(), ids=OFF)
def test_classes_equal_zeroed_columns(
    off: list[tuple[int, int]], classifier: LoadedModel, folders: dict[str, Path]
) -> None:
    found = outcome(classifier, A, B, switched(classifier, off))
    shares = theirs("classifier", folders["classifier"], classifier, off).logits.softmax(-1)[0].tolist()
    assert [label for label, _ in found.classes] == list(LABELS)
    assert [share for _, share in found.classes] == pytest.approx(shares, abs=1e-5)
    assert found.masked == () and found.next_sentence is None


def test_with_all_heads_on_the_answers_are_those_of_guessing(language: LoadedModel) -> None:
    found = outcome(language, A, B)
    expected = probe(language, A, B, top_k=5).answers
    for ours, answer in zip(found.masked, expected, strict=True):
        assert list(ours.ids) == [guess.ids[0] for guess in answer.guesses]
        assert ours.probabilities == pytest.approx([guess.probability for guess in answer.guesses], abs=1e-6)
    assert found.next_sentence == pytest.approx(follows(language, A, B).probability, abs=1e-6)


def test_effects_follow_the_same_answers_before_and_after(language: LoadedModel) -> None:
    on = switched(language, OFF["a layer"])
    found = effects(language, A, B, on, top_k=3)
    assert found.before.masked[0].ids == outcome(language, A, B, top_k=3).masked[0].ids
    assert found.after.masked[1].ids == outcome(language, A, B, on, top_k=3).masked[1].ids
    shares = [
        {guess.position: dict(zip(guess.ids, guess.probabilities, strict=True)) for guess in one.masked}
        for one in (outcome(language, A, B, top_k=37), outcome(language, A, B, on, top_k=37))
    ]
    masked = [effect for effect in found.effects if effect.watched.kind == "masked"]
    assert {effect.watched.place for effect in masked} == set(PLACES)
    for effect in masked:
        place, index = effect.watched.place, effect.watched.index
        assert effect.before == pytest.approx(shares[0][place][index], abs=1e-6)
        assert effect.after == pytest.approx(shares[1][place][index], abs=1e-6)
        assert effect.watched.name == language.wordpiece.tokens[index]
    for guess in found.after.masked:  # what is first afterwards is among them
        assert WatchedAnswer("masked", guess.tokens[0], guess.position, guess.ids[0]) in [
            e.watched for e in masked
        ]
    assert found.effects[-1].watched.kind == "next_sentence"
    assert found.effects[-1].after == pytest.approx(found.after.next_sentence, abs=1e-6)


def test_nothing_switched_off_changes_nothing(classifier: LoadedModel) -> None:
    found = effects(classifier, A, None, all_on(classifier))
    assert [effect.watched.name for effect in found.effects] == [
        label for label, _ in sorted(found.before.classes, key=lambda one: -one[1])
    ]
    assert all(effect.before == pytest.approx(effect.after, abs=1e-7) for effect in found.effects)


@pytest.mark.parametrize("tokens_at_once", [1, 25, 1000])
@pytest.mark.parametrize("kind", ["masked", "next_sentence", "class"])
def test_each_head_alone_equals_switching_it_off_by_hand(
    kind: str,
    tokens_at_once: int,
    language: LoadedModel,
    classifier: LoadedModel,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engine.inspect.attention.ablation._TOKENS_AT_ONCE", tokens_at_once)
    subject = classifier if kind == "class" else language
    watched = next(
        effect.watched
        for effect in effects(subject, A, B, all_on(subject)).effects
        if effect.watched.kind == kind
    )

    def probability(off: list[tuple[int, int]]) -> float:
        rows = effects(subject, A, B, switched(subject, off), top_k=37).effects
        return next(effect.after for effect in rows if effect.watched == watched)

    events, found = drained(every_head(subject, A, B, watched))
    assert found.before == pytest.approx(probability([]), abs=1e-6)
    for layer, head in np.ndindex(2, 3):
        assert found.heads[layer, head] == pytest.approx(probability([(layer, head)]), abs=1e-6)
        assert found.changes[layer, head] == pytest.approx(found.heads[layer, head] - found.before, abs=1e-6)
    for layer in range(2):
        off = [(layer, head) for head in range(3)]
        assert found.layers[layer] == pytest.approx(probability(off), abs=1e-6)
    done = [event.done for event in events if isinstance(event, Progress)]
    assert done == sorted(done) and done[-1] == events[-1].total == 8
    assert not torch.is_inference_mode_enabled()


def test_a_text_with_nothing_to_answer_has_an_empty_outcome(language: LoadedModel) -> None:
    assert not outcome(language, "good film")
    assert effects(language, "good film", None, all_on(language)).effects == ()


def test_an_answer_that_the_model_cannot_give_is_refused(classifier: LoadedModel) -> None:
    with pytest.raises(ModelError, match="no trained masked-word head"):
        drained(every_head(classifier, A, B, WatchedAnswer("masked", "good", 2, 31)))
    with pytest.raises(UserError, match="no text"):
        outcome(classifier, "  ")
