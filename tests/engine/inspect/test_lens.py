"""The layer lens beside the head of `transformers` on its hidden states."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.lens import lens
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import ask
from engine.model.weights import save_model
from tests.fakes import tiny_pretraining, tiny_wordpiece

transformers = pytest.importorskip("transformers")


@pytest.fixture
def subject(tmp_path: Path) -> LoadedModel:
    save_model(tmp_path / "model", tiny_pretraining(seed=3), tiny_wordpiece(), {"task": "pretraining"})
    return LoadedModel.open(tmp_path / "model")


def test_each_layer_is_read_by_the_head_and_the_last_is_the_answer(subject: LoadedModel) -> None:
    masked = mask(subject.about, "a good film, playing!", "bad", words=[1, 4])
    found = lens(subject, masked, top_k=37)
    model = transformers.BertForPreTraining.from_pretrained(
        subject.folder, attn_implementation="eager"
    ).eval()
    ids, types = torch.tensor([masked.input_ids]), torch.tensor([masked.types])
    with torch.no_grad():
        states = model(input_ids=ids, token_type_ids=types, output_hidden_states=True).hidden_states
        theirs = [model.cls.predictions(state)[0].softmax(-1) for state in states]
    assert len(found.layers) == 3
    for answers, shares in zip(found.layers, theirs, strict=True):
        own = {guess.ids[0]: guess.probability for guess in answers[0].guesses}
        assert [own[number] for number in range(37)] == pytest.approx(shares[2].tolist(), abs=1e-5)
        original = answers[1].original
        assert original is not None
        pieces = [float(shares[place, masked.encoding.input_ids[place]]) for place in (5, 6)]
        assert [piece.probability for piece in original.pieces] == pytest.approx(pieces, abs=1e-5)
    last, answer = found.layers[-1], ask(subject, masked, top_k=37).answers
    for one, other in zip(last, answer, strict=True):
        assert one.guesses[0].ids == other.guesses[0].ids and one.original is not None
        assert one.original.rank == other.original.rank  # type: ignore[union-attr]
