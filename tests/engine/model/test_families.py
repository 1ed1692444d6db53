"""Families of models in use: what a folder of each says of itself, is counted, trained, exported and trimmed.

That each gives the numbers of its own code in `transformers` is held by test_family_table.py.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from engine.errors import ConfigError, ModelError
from engine.events import result_of
from engine.export.folders import writing_folder, writing_sentence_folder
from engine.inspect.attention.weights import look
from engine.inspect.loaded_model import LoadedModel
from engine.model.arithmetic import HeadsConfig, arithmetic, count_built
from engine.model.config import BertConfig, count_parameters
from engine.model.families.known import FAMILIES
from engine.model.heads import PreTraining, SequenceClassifier
from engine.model.inventory import take_stock
from engine.model.trim import trimmed
from engine.model.weights import load_encoder, load_pretraining, save_model
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.text.fewer import must_keep
from engine.text.wordpiece import WordPiece
from engine.train.adapt import check_adapt, rates_of
from engine.train.finetune import fine_tune
from engine.train.optimizer import Optimizer
from engine.train.run.kept import history
from tests.engine.model.family_cases import CASES, OWN, Case, config_of, made, reopened
from tests.engine.tiny_runs import tiny_config
from tests.fakes import tiny_wordpiece

pytestmark = pytest.mark.slow  # transformers takes its time to be imported

IDS = torch.tensor([[2, 7, 11, 3, 36, 9, 3], [2, 30, 3, 0, 0, 0, 0]])
SEGMENTS = torch.tensor([[0, 0, 0, 0, 1, 1, 1], [0] * 7])
MASK = (IDS > 0).long()
LABELS = ("LABEL_0", "LABEL_1", "LABEL_2")
ERNIE, ALBERT, ELECTRA, MODERNBERT, DEBERTA = (
    CASES[name] for name in ("ERNIE", "ALBERT", "ELECTRA, small", "ModernBERT", "DeBERTa-v3")
)
OF_CONFIG = {DEBERTA.model_type: DEBERTA.config}  # without which another kind is described


@pytest.mark.parametrize("case", OWN, ids=lambda case: case.name)
def test_a_folder_says_of_which_family_it_is_and_what_it_answers(case: Case, tmp_path: Path) -> None:
    made(tmp_path / "words", case, "ForMaskedLM")
    _, report = load_pretraining(tmp_path / "words")
    assert "The model’s own masked-word head was loaded." in map(str, report.sentences())
    found = take_stock(tmp_path / "words")
    assert found.answers == ("masked_words",) and not found.refused and not found.leftovers
    assert found.config.model_type == case.model_type
    assert FAMILIES[case.model_type].name in str(found.notes[0])
    for kind in ("ForSequenceClassification", "ForTokenClassification"):
        made(tmp_path / kind, case, kind, num_labels=3)
        assert take_stock(tmp_path / kind).labels == LABELS


@torch.no_grad()
def test_ernies_task_is_added_to_its_segments_and_written_as_zeros(tmp_path: Path) -> None:
    theirs = made(tmp_path / "own", ERNIE, "Model")
    table = theirs.embeddings
    model, _ = load_encoder(tmp_path / "own")
    folded = table.token_type_embeddings.weight + table.task_type_embeddings.weight[0]
    assert torch.equal(model.embeddings.token_type.weight, folded)
    save_model(tmp_path / "saved", model, tiny_wordpiece(), {})
    again = reopened(tmp_path / "saved", "Ernie", "Model").embeddings
    assert again.task_type_embeddings.weight.shape == (5, 12)
    assert not again.task_type_embeddings.weight.any()
    with pytest.raises(ModelError, match="task_type_vocab_size is 0; it must be a whole number"):
        BertConfig.from_json({"model_type": "ernie", "task_type_vocab_size": 0})


def arithmetic_of(case: Case) -> tuple[BertConfig, HeadsConfig]:
    return BertConfig.from_json(config_of(case).to_dict()), HeadsConfig(masked_words=True, next_sentence=True)


@pytest.mark.parametrize("case", OWN, ids=lambda case: case.name)
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
    config = replace(arithmetic_of(ALBERT)[0], id2label=LABELS)
    model = SequenceClassifier(config).train()
    names = [name for name, _ in model.named_parameters() if "layers." in name]
    assert names and all(name.startswith("bert.layers.0.") for name in names)
    rates = rates_of(model, 0.5, 1.0)
    assert rates["bert.layers.0.output.weight"] == 1.0
    assert rates["bert.embeddings.projection.weight"] == 0.5
    model(IDS, SEGMENTS, MASK).sum().backward()
    before = {name: value.clone() for name, value in model.named_parameters()}
    Optimizer(model, weight_decay=0.0, max_gradient_norm=1e9, sparse=False).step(1e-3)
    moved = (model.bert.layers[1].output.weight - before["bert.layers.0.output.weight"]).abs()
    assert 0.5e-3 < float(moved.detach().max()) < 1.01e-3  # one step of Adam, not two
    for name in ("frozen_layers", "new_layers"):
        with pytest.raises(ConfigError, match=f"{name} is 1, but one block of weights is all 2 layers"):
            check_adapt(with_values(FineTuneConfig(), {name: "1"}), config)
        check_adapt(with_values(FineTuneConfig(), {name: "2"}), config)


@torch.no_grad()
@pytest.mark.parametrize("case", [ELECTRA, ALBERT], ids=lambda case: case.name)
def test_a_smaller_vocabulary_gives_the_same_guesses_and_opens_as_the_family(
    case: Case, tmp_path: Path
) -> None:
    pieces = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##a", "b", "##b", "ab", "aba")
    whole = WordPiece(pieces, lowercase=True)
    made(tmp_path, case, "ForMaskedLM", whole)
    model, _ = load_pretraining(tmp_path)
    small, wordpiece = trimmed(model, whole, np.append(must_keep(whole), 10))
    assert small.bert.embeddings.word.weight.shape == (10, 7)
    found = []
    for one, cutter in ((model, whole), (small, wordpiece)):
        ids = cutter.encode("aba b ba").input_ids
        found.append(one.logits(one(torch.tensor([ids])).hidden)[:, : len(must_keep(whole))])
    assert torch.equal(*found)
    save_model(tmp_path / "small", small, wordpiece, {})
    assert reopened(tmp_path / "small", case.stem, "ForMaskedLM").config.vocab_size == 10


def test_alberts_order_of_texts_is_not_next_sentence_and_is_said_to_be_none(tmp_path: Path) -> None:
    made(tmp_path, ALBERT, "ForPreTraining")
    _, report = load_pretraining(tmp_path)
    said = "\n".join(map(str, report.sentences()))
    assert "Not needed here: ALBERT’s head for the order of texts (2 tensors)." in said
    assert take_stock(tmp_path).answers == ("masked_words",)
    assert [one.what for one in take_stock(tmp_path).leftovers] == ["ALBERT’s order of texts"]
    with pytest.raises(ModelError, match="say whether two texts were swapped"):
        LoadedModel.open(tmp_path, "cpu").require("next_sentence")


def test_a_class_of_nobodys_family_is_written_as_it_was_read() -> None:
    for kind in FAMILIES:
        if kind not in ("distilbert", "bart"):  # read as a BERT or a RoBERTa, with the heads of that
            named = {"model_type": kind, "architectures": ["MyOwnModel"], **OF_CONFIG.get(kind, {})}
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
@pytest.mark.parametrize("case", [ERNIE, ELECTRA, ALBERT, MODERNBERT, DEBERTA], ids=lambda case: case.name)
def test_a_model_leaves_as_its_family_from_old_files_and_for_sentences(case: Case, tmp_path: Path) -> None:
    theirs = made(tmp_path / "own", case, "Model", tie_word_embeddings=True)
    (tmp_path / "own" / "model.safetensors").unlink()
    torch.save(theirs.state_dict(), tmp_path / "own" / "pytorch_model.bin")
    wanted = theirs(IDS[:1]).last_hidden_state
    for name, writing in (("as it is", writing_folder), ("sentences", writing_sentence_folder)):
        result_of(writing(tmp_path / "own", tmp_path / name))
        again, info = transformers.AutoModel.from_pretrained(tmp_path / name, output_loading_info=True)
        assert again.config.model_type == case.model_type and not info["missing_keys"]
        assert torch.allclose(again.eval()(IDS[:1]).last_hidden_state, wanted, atol=1e-5)


@pytest.mark.parametrize(
    "case",
    [
        *(ERNIE, ELECTRA, ALBERT, MODERNBERT, DEBERTA, CASES["NomicBERT with gelu"]),
        *(CASES["ModernBERT with biases"], CASES["DeBERTa-v3 without buckets"]),
    ],
    ids=lambda case: case.name,
)
def test_a_family_is_fine_tuned_and_asked_and_its_kept_weights_open(case: Case, tmp_path: Path) -> None:
    made(tmp_path / "start", case, "ForMaskedLM", tiny_wordpiece())
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
    assert seen.attentions.shape[:2] == (subject.config.num_hidden_layers, 3)
