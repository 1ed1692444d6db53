"""Each family gives what its own code in `transformers` gives; what is saved opens there as that family."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.errors import ModelError
from engine.model.config import BertConfig
from engine.model.heads import TokenClassifier
from engine.model.inventory import take_stock
from engine.model.weights import (
    load_classifier,
    load_encoder,
    load_headed,
    load_pretraining,
    read_config,
    save_model,
)
from tests.fakes import scramble, tiny_wordpiece

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow  # transformers takes its time to be imported

IDS = torch.tensor([[2, 7, 11, 3, 36, 9, 3], [2, 30, 3, 0, 0, 0, 0]])
SEGMENTS = torch.tensor([[0, 0, 0, 0, 1, 1, 1], [0] * 7])
MASK = (IDS > 0).long()
SIZES = {
    "vocab_size": 37,
    "max_position_embeddings": 41,
    "hidden_size": 12,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "intermediate_size": 29,
    "attn_implementation": "eager",
}
LABELS = ("LABEL_0", "LABEL_1", "LABEL_2")


@dataclass(frozen=True)
class Case:
    """A family with keys of its config.json that matter; its masked-word class where that is another."""

    stem: str
    config: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        return str(getattr(transformers, f"{self.stem}Config").model_type)


CASES = [
    Case(
        "Ernie", {"use_task_id": True, "task_type_vocab_size": 5, "type_vocab_size": 4, "hidden_act": "relu"}
    ),
    Case("Ernie"),
]


def made(path: Path, case: Case, kind: str, **changes: Any) -> Any:
    """Write a random tiny model of transformers' own and return it."""
    config = getattr(transformers, f"{case.stem}Config")(**SIZES, **case.config, **changes)
    model = getattr(transformers, f"{case.stem}{kind}")(config).eval()
    scramble(model)
    model.tie_weights()
    model.save_pretrained(path)
    return model


def reopened(path: Path, case: Case, kind: str) -> Any:
    """Return what transformers makes of a folder that Cloze has written: nothing is lacking there."""
    model, info = getattr(transformers, f"Auto{kind}").from_pretrained(
        path, output_loading_info=True, attn_implementation="eager"
    )
    assert (
        type(model).__name__ == f"{case.stem}{kind.replace('ModelForM', 'ForM').replace('ModelFor', 'For')}"
    )
    assert not info["missing_keys"] and not info["mismatched_keys"]
    return model.eval()


def agrees(ours: torch.Tensor, theirs: torch.Tensor) -> bool:
    read = MASK.bool() if ours.ndim == 3 else slice(None)
    return torch.allclose(ours[read], theirs[read], atol=1e-5, rtol=1e-5)


def asked(model: Any, **wanted: Any) -> Any:
    return model(IDS, attention_mask=MASK, token_type_ids=SEGMENTS, **wanted)


@torch.no_grad()
@pytest.mark.parametrize("case", CASES)
def test_hidden_states_and_attentions_are_those_of_its_own_code_in_both_directions(
    case: Case, tmp_path: Path
) -> None:
    theirs = asked(made(tmp_path / "own", case, "Model"), output_hidden_states=True, output_attentions=True)
    model, report = load_encoder(tmp_path / "own")
    assert not report.missing and not report.unexpected and model.config.model_type == case.kind
    ours = model(IDS, SEGMENTS, MASK, output_hidden_states=True, output_attentions=True)
    assert len(ours.hidden_states) == 4
    assert all(map(agrees, ours.hidden_states, theirs.hidden_states))
    for here, there in zip(ours.attentions, theirs.attentions, strict=True):
        seen = MASK[:, None, :, None].bool().expand_as(there)
        assert torch.allclose(here[seen], there[seen], atol=1e-5)
    save_model(tmp_path / "saved", model, tiny_wordpiece(), {})
    again = reopened(tmp_path / "saved", case, "Model")
    assert agrees(asked(again).last_hidden_state, theirs.last_hidden_state)
    back, _ = load_encoder(tmp_path / "saved")
    assert back.config == read_config(tmp_path / "saved") and back.config.model_type == case.kind
    assert agrees(back(IDS, SEGMENTS, MASK).last_hidden_state, theirs.last_hidden_state)


@torch.no_grad()
@pytest.mark.parametrize("case", CASES)
def test_words_are_guessed_as_its_own_code_does_in_both_directions(case: Case, tmp_path: Path) -> None:
    theirs = asked(made(tmp_path / "own", case, "ForMaskedLM")).logits
    model, report = load_pretraining(tmp_path / "own")
    assert "The model’s own masked-word head was loaded." in map(str, report.sentences())
    found = take_stock(tmp_path / "own")
    assert found.answers == ("masked_words",) and not found.refused
    assert agrees(model.logits(model(IDS, SEGMENTS, MASK).hidden).view(*IDS.shape, -1), theirs)
    save_model(tmp_path / "saved", model, tiny_wordpiece(), {})
    again = reopened(tmp_path / "saved", case, "ModelForMaskedLM")
    assert agrees(asked(again).logits, theirs)


@torch.no_grad()
@pytest.mark.parametrize("case", CASES)
def test_texts_and_tokens_are_classified_as_its_own_code_does_in_both_directions(
    case: Case, tmp_path: Path
) -> None:
    for kind, load in (
        ("SequenceClassification", load_classifier),
        ("TokenClassification", lambda folder: load_headed(folder, TokenClassifier)),
    ):
        theirs = asked(made(tmp_path / f"own {kind}", case, f"For{kind}", num_labels=3)).logits
        model, report = load(tmp_path / f"own {kind}")
        assert not report.missing and take_stock(tmp_path / f"own {kind}").labels == LABELS
        assert agrees(model(IDS, SEGMENTS, MASK), theirs)
        save_model(tmp_path / f"saved {kind}", model, tiny_wordpiece(), {})
        again = reopened(tmp_path / f"saved {kind}", case, f"ModelFor{kind}")
        assert agrees(asked(again).logits, theirs)


@torch.no_grad()
def test_ernies_task_is_added_to_its_segments_and_written_as_zeros(tmp_path: Path) -> None:
    theirs = made(tmp_path / "own", CASES[0], "Model")
    table = theirs.embeddings
    model, _ = load_encoder(tmp_path / "own")
    folded = table.token_type_embeddings.weight + table.task_type_embeddings.weight[0]
    assert torch.equal(model.embeddings.token_type.weight, folded)
    save_model(tmp_path / "saved", model, tiny_wordpiece(), {})
    again = reopened(tmp_path / "saved", CASES[0], "Model").embeddings
    assert again.task_type_embeddings.weight.shape == (5, 12)
    assert not again.task_type_embeddings.weight.any()
    with pytest.raises(ModelError, match="task_type_vocab_size is 0; it must be a whole number"):
        BertConfig.from_json({"model_type": "ernie", "task_type_vocab_size": 0})
