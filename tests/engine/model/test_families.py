"""Each family gives what its own code in `transformers` gives; what is saved opens there as that family."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import ConfigError, ModelError
from engine.events import result_of
from engine.export.folders import writing_folder, writing_sentence_folder
from engine.inspect.attention.weights import look
from engine.inspect.loaded_model import LoadedModel
from engine.model.arithmetic import HeadsConfig, arithmetic, count_built
from engine.model.config import BertConfig, count_parameters
from engine.model.families.known import FAMILIES
from engine.model.heads import PreTraining, SequenceClassifier, TokenClassifier
from engine.model.inventory import take_stock
from engine.model.trim import trimmed
from engine.model.weights import (
    load_classifier,
    load_encoder,
    load_headed,
    load_pretraining,
    read_config,
    save_model,
)
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.text.fewer import must_keep
from engine.text.wordpiece import WordPiece
from engine.train.adapt import check_adapt, rates_of
from engine.train.finetune import fine_tune
from engine.train.optimizer import Optimizer
from engine.train.run.kept import history
from tests.engine.tiny_runs import tiny_config
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
IN_VOCABULARY = {f"{name}_token_id": 0 for name in ("pad", "bos", "eos", "cls", "sep")}
LABELS = ("LABEL_0", "LABEL_1", "LABEL_2")


@dataclass(frozen=True)
class Case:
    """A family, by how its classes begin, and the keys of its config.json that matter."""

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
    Case("Electra", {"embedding_size": 7}),
    Case("Albert", {"embedding_size": 7}),
    Case("Albert", {"embedding_size": 12, "hidden_act": "relu"}),
    Case("Electra", {"embedding_size": 17, "hidden_act": "relu"}),  # wider, as generators are
    Case("Roberta", {"type_vocab_size": 1, "pad_token_id": 1}),
    Case("XLMRoberta", {"type_vocab_size": 3, "hidden_act": "relu", "pad_token_id": 0}),
    Case("Camembert", {"type_vocab_size": 1, "pad_token_id": 1}),
]
ROTARY = [
    Case("NomicBert", {"rope_parameters": {"rope_type": "default", "rope_theta": 30.0}}),
    Case("NomicBert", {"hidden_act": "gelu"}),
    Case("ModernBert", {**IN_VOCABULARY, "local_attention": 4, "classifier_pooling": "mean"}),
    Case(
        "ModernBert",
        {
            **IN_VOCABULARY,
            "local_attention": 2,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
            "rope_parameters": {
                "full_attention": {"rope_type": "default", "rope_theta": 70.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 5.0},
            },
            "attention_bias": True,
            "mlp_bias": True,
            "norm_bias": True,
            "classifier_bias": True,
            "hidden_activation": "silu",
            "classifier_activation": "relu",
        },
    ),
]
DEBERTA = {
    "relative_attention": True,
    "position_biased_input": False,
    "pos_att_type": ["p2c", "c2p"],
}
DISTANT = [
    Case(
        "DebertaV2", {**DEBERTA, "position_buckets": 4, "norm_rel_ebd": "layer_norm", "share_att_key": True}
    ),
    Case("DebertaV2", {**DEBERTA, "max_relative_positions": 3, "hidden_act": "relu", "legacy": False}),
    Case("MPNet"),
    Case("MPNet", {"hidden_act": "relu"}),
]
ROTARY += [
    Case("Gte", {"rope_parameters": {"rope_type": "linear", "rope_theta": 30.0, "factor": 1.7}}),
    Case("Gte", {"type_vocab_size": 0, "hidden_act": "silu"}),
]
CASES += ROTARY + DISTANT


def made(path: Path, case: Case, kind: str, **changes: Any) -> Any:
    """Write a random tiny model of transformers' own and return it."""
    config = getattr(transformers, f"{case.stem}Config")(**{**SIZES, **case.config, **changes})
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
    pad = model.config.pad_token_id  # places of some are counted from behind it, where no padding is
    ids, rows = IDS.masked_fill(MASK == 0, pad), getattr(model.config, "type_vocab_size", 0)
    if rows:
        has_segments = BertConfig.from_json(model.config.to_dict()).family.has_segments
        wanted["token_type_ids"] = (SEGMENTS if has_segments else 0 * SEGMENTS).clamp(max=rows - 1)
    return model(ids, attention_mask=MASK, **wanted)


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
    assert found.answers == ("masked_words",) and not found.refused and not found.leftovers
    assert FAMILIES[case.kind].name in str(found.notes[0])
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


def arithmetic_of(case: Case) -> tuple[BertConfig, HeadsConfig]:
    config = getattr(transformers, f"{case.stem}Config")(**SIZES, **case.config)
    return BertConfig.from_json(config.to_dict()), HeadsConfig(masked_words=True, next_sentence=True)


@pytest.mark.parametrize("case", CASES)
def test_what_the_formula_counts_is_built_and_shared_weights_count_once(case: Case) -> None:
    config, heads = arithmetic_of(case)
    found = arithmetic(config, heads)
    assert {part.key: part.count for part in found.parts} == count_built(config, heads)
    model = PreTraining(config)
    assert found.total == sum(weight.numel() for weight in model.parameters())
    assert found.total == sum(count_parameters(config, pretraining=True).values())
    assert ("E" in found.spelled()) is config.family.has_projection
    assert found.spelled().count("L × (") == (not config.family.shares_layers)


def test_one_block_that_is_every_layer_is_trained_once_and_not_by_halves() -> None:
    config = replace(arithmetic_of(CASES[3])[0], id2label=LABELS)
    model = SequenceClassifier(config).train()
    names = [name for name, _ in model.named_parameters() if "layers." in name]
    assert names and all(name.startswith("bert.layers.0.") for name in names)
    rates = rates_of(model, 0.5, 1.0)
    assert rates["bert.layers.0.output.weight"] == 1.0
    assert rates["bert.embeddings.projection.weight"] == 0.5
    model(IDS, SEGMENTS, MASK).sum().backward()
    before = {name: value.clone() for name, value in model.named_parameters()}
    Optimizer(model, weight_decay=0.0, max_gradient_norm=1e9, sparse=False).step(1e-3)
    moved = (model.bert.layers[2].output.weight - before["bert.layers.0.output.weight"]).abs()
    assert 0.5e-3 < float(moved.detach().max()) < 1.01e-3  # one step of Adam, not three
    for name in ("frozen_layers", "new_layers"):
        with pytest.raises(ConfigError, match=f"{name} is 2, but one block of weights is all 3 layers"):
            check_adapt(with_values(FineTuneConfig(), {name: "2"}), config)
        check_adapt(with_values(FineTuneConfig(), {name: "3"}), config)


@torch.no_grad()
@pytest.mark.parametrize("case", CASES[2:4])
def test_a_smaller_vocabulary_gives_the_same_guesses_and_opens_as_the_family(
    case: Case, tmp_path: Path
) -> None:
    pieces = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##a", "b", "##b", "ab", "aba")
    made(tmp_path, case, "ForMaskedLM", vocab_size=len(pieces))
    model, _ = load_pretraining(tmp_path)
    whole = WordPiece(pieces, lowercase=True)
    small, wordpiece = trimmed(model, whole, np.append(must_keep(whole), 10))
    assert small.bert.embeddings.word.weight.shape == (10, 7)
    found = []
    for one, cutter in ((model, whole), (small, wordpiece)):
        ids = cutter.encode("aba b ba").input_ids
        found.append(one.logits(one(torch.tensor([ids])).hidden)[:, : len(must_keep(whole))])
    assert torch.equal(*found)
    save_model(tmp_path / "small", small, wordpiece, {})
    assert reopened(tmp_path / "small", case, "ModelForMaskedLM").config.vocab_size == 10


def test_alberts_order_of_texts_is_not_next_sentence_and_is_said_to_be_none(tmp_path: Path) -> None:
    made(tmp_path, CASES[3], "ForPreTraining")
    tiny_wordpiece().save(tmp_path)
    _, report = load_pretraining(tmp_path)
    said = "\n".join(map(str, report.sentences()))
    assert "Not needed here: ALBERT’s head for the order of texts (2 tensors)." in said
    assert take_stock(tmp_path).answers == ("masked_words",)
    assert [one.what for one in take_stock(tmp_path).leftovers] == ["ALBERT’s order of texts"]
    subject = LoadedModel.open(tmp_path, "cpu")
    with pytest.raises(ModelError, match="say whether two texts were swapped"):
        subject.require("next_sentence")


def test_a_class_of_nobodys_family_is_written_as_it_was_read() -> None:
    for kind in FAMILIES:
        if kind not in ("distilbert", "bart"):  # read as a BERT or a RoBERTa, with the heads of that
            named = {
                "model_type": kind,
                "architectures": ["MyOwnModel"],
                **(DEBERTA if "deb" in kind else {}),
            }
            assert BertConfig.from_json(named).to_json()["architectures"] == ["MyOwnModel"], kind
    several = {"architectures": ["BertModel", "MyOwnModel"]}
    assert BertConfig.from_json(several).to_json()["architectures"] == several["architectures"]


def test_what_is_not_read_of_a_family_is_refused_with_its_reason() -> None:
    for name in ("num_hidden_groups", "inner_group_num"):
        with pytest.raises(
            ModelError, match=f"{name} is 2. Cloze reads an ALBERT whose layers all share one"
        ):
            BertConfig.from_json({"model_type": "albert", name: 2})


@torch.no_grad()
@pytest.mark.parametrize("case", [CASES[0], *CASES[2:4], ROTARY[2], DISTANT[0]])
def test_a_model_leaves_as_its_family_from_old_files_and_for_sentences(case: Case, tmp_path: Path) -> None:
    theirs = made(tmp_path / "own", case, "Model", tie_word_embeddings=True)
    (tmp_path / "own" / "model.safetensors").unlink()
    torch.save(theirs.state_dict(), tmp_path / "own" / "pytorch_model.bin")
    tiny_wordpiece().save(tmp_path / "own")
    wanted = asked(theirs).last_hidden_state
    for name, writing in (("as it is", writing_folder), ("sentences", writing_sentence_folder)):
        result_of(writing(tmp_path / "own", tmp_path / name))
        again, info = transformers.AutoModel.from_pretrained(tmp_path / name, output_loading_info=True)
        assert again.config.model_type == case.kind and not info["missing_keys"]
        assert agrees(asked(again.eval()).last_hidden_state, wanted)


@pytest.mark.parametrize("case", [CASES[0], *CASES[2:4], *ROTARY[1:], *DISTANT])
def test_a_family_is_fine_tuned_and_asked_and_its_kept_weights_open(case: Case, tmp_path: Path) -> None:
    made(tmp_path / "start", case, "ForMaskedLM")
    tiny_wordpiece().save(tmp_path / "start")
    run = tmp_path / "run"
    config = tiny_config(tmp_path, num_epochs=1, kept_weights=2)
    list(fine_tune(config, run))
    places = [kept.path for kept in history(run)]
    assert len(places) > 2
    for place in places:
        model = transformers.AutoModelForSequenceClassification.from_pretrained(place, dtype=torch.float32)
        assert type(model).__name__ == f"{case.stem}ForSequenceClassification"
        subject = LoadedModel.open(place, "cpu")
        ids = torch.tensor([subject.encode("a good film").input_ids])
        with torch.no_grad():
            assert torch.allclose(subject.label_head()(ids), model.eval()(ids).logits, atol=1e-5)
    seen = look(LoadedModel.open(run / "model", "cpu"), "a good film")
    assert seen.attentions.shape[:2] == (3, 3)
