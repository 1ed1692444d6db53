"""NeoBERT both ways: beside a plain reference that reads and writes files as the published ones are.

`transformers` has no NeoBERT; its code stands beside its weights. The reference is written after its
description: numbers that stand side by side are one complex number, turned by the token's place.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn import functional as F

from engine.errors import ModelError, UserError
from engine.events import Evaluated, result_of
from engine.export.folders import writing_folder, writing_sentence_folder
from engine.export.heads import INPUTS
from engine.export.onnx import GRAPH, exporting
from engine.export.runtime import open_session
from engine.inspect.anatomy.vectors import trace
from engine.inspect.attention.weights import detail, look
from engine.inspect.attribution.gradients import GRADIENT, INTEGRATED, attribute
from engine.inspect.attribution.target import LABELS as OF_LABELS
from engine.inspect.attribution.target import Target
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.lens import lens
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import probe
from engine.model.arithmetic import HeadsConfig, arithmetic, count_built
from engine.model.config import BertConfig, count_parameters
from engine.model.heads import MaskedWords, PreTraining, QuestionAnswering, TokenClassifier
from engine.model.inventory import take_stock
from engine.model.start import start_head
from engine.model.trim import trimmed
from engine.model.weights import (
    load_classifier,
    load_encoder,
    load_headed,
    load_pretraining,
    read_config,
    save_model,
    tuned_head,
)
from engine.text.batch import Bounds, Unpadded
from engine.text.fewer import must_keep
from engine.text.wordpiece import WordPiece
from engine.train.finetune import fine_tune
from engine.train.pretrain import pretrain
from tests.engine.model.batches import LENGTHS, assert_close, padded_batch
from tests.engine.tiny_runs import tiny_config
from tests.engine.tiny_texts import text_config
from tests.fakes import scramble, tiny_wordpiece

SHAPE = {
    "vocab_size": tiny_wordpiece().vocab_size,
    "hidden_size": 24,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "intermediate_size": 29,
    "norm_eps": 1e-5,
    "max_length": 61,
    "pad_token_id": 0,
    "decoder_init_range": 0.02,
    "embedding_init_range": 0.02,
}
INNER = 24  # two thirds of 29, rounded up to a multiple of eight
AUTO_MAP = {
    "AutoConfig": "model.NeoBERTConfig",
    "AutoModel": "model.NeoBERT",
    "AutoModelForMaskedLM": "model.NeoBERTLMHead",
    "AutoModelForSequenceClassification": "model.NeoBERTForSequenceClassification",
}
IDS, _, MASK = padded_batch().values()
REAL = MASK.bool()
LABELS = ("no", "maybe", "yes")


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.num_heads, width = SHAPE["num_attention_heads"], SHAPE["hidden_size"]
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.wo = nn.Linear(width, width, bias=False)
        product = {"w12": nn.Linear(width, 2 * INNER, bias=False), "w3": nn.Linear(INNER, width, bias=False)}
        self.ffn = nn.ModuleDict(product)
        self.attention_norm, self.ffn_norm = (nn.RMSNorm(width, eps=1e-5) for _ in range(2))

    def forward(self, states: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return states (B, T, D) and maps (B, H, T, T)."""
        heads = self.qkv(self.attention_norm(states)).unflatten(-1, (self.num_heads, -1)).transpose(1, 2)
        queries, keys, values = heads.chunk(3, -1)  # each (B, H, T, d)
        queries, keys = turned(queries), turned(keys)
        scores = queries @ keys.mT / math.sqrt(queries.shape[-1])
        maps = scores.masked_fill(~mask[:, None, None].bool(), -math.inf).softmax(-1)
        states = states + self.wo((maps @ values).transpose(1, 2).flatten(2))
        gate, inner = self.ffn["w12"](self.ffn_norm(states)).chunk(2, -1)
        return states + self.ffn["w3"](F.silu(gate) * inner), maps


def turned(vectors: Tensor) -> Tensor:
    """Return vectors (..., T, d) whose neighbours are the two parts of a complex number, turned."""
    length, width = vectors.shape[-2:]
    speeds = 10_000.0 ** -(torch.arange(width // 2) * 2 / width)
    angles = torch.outer(torch.arange(length), speeds)  # (T, d / 2)
    pairs = torch.view_as_complex(vectors.unflatten(-1, (-1, 2)).contiguous())
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Embedding(SHAPE["vocab_size"], SHAPE["hidden_size"])
        self.transformer_encoder = nn.ModuleList(Layer() for _ in range(SHAPE["num_hidden_layers"]))
        self.layer_norm = nn.RMSNorm(SHAPE["hidden_size"], eps=1e-5)

    def forward(self, ids: Tensor, mask: Tensor) -> tuple[list[Tensor], list[Tensor]]:
        """Return the states below each layer and what a head reads, and the maps."""
        states, maps = [self.encoder(ids)], []
        for layer in self.transformer_encoder:
            after, seen = layer(states[-1], mask)
            states.append(after)
            maps.append(seen)
        return [*states[:-1], self.layer_norm(states[-1])], maps


class Guesser(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.model, self.decoder = Encoder(), nn.Linear(SHAPE["hidden_size"], SHAPE["vocab_size"])

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        return self.decoder(self.model(ids, mask)[0][-1])  # type: ignore[no-any-return]


class Classifier(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        width = SHAPE["hidden_size"]
        self.model, self.dense, self.classifier = Encoder(), nn.Linear(width, width), nn.Linear(width, 3)

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        first = self.model(ids, mask)[0][-1][:, 0]
        return self.classifier(torch.tanh(self.dense(first)))  # type: ignore[no-any-return]


CLASSES = {"NeoBERT": Encoder, "NeoBERTLMHead": Guesser, "NeoBERTForSequenceClassification": Classifier}


def made(folder: Path, kind: str = "NeoBERTLMHead", **changes: Any) -> Any:
    """Write a random tiny NeoBERT as the published one is, and return it as the reference."""
    model = CLASSES[kind]().eval()
    scramble(model)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name.endswith("norm.weight"):
                weight += 1.0
    folder.mkdir(exist_ok=True)
    tiny_wordpiece().save(folder)
    save_file(model.state_dict(), folder / "model.safetensors")
    document = {**SHAPE, "model_type": "neobert", "architectures": [kind], "auto_map": AUTO_MAP}
    document |= {"id2label": dict(enumerate(LABELS))} if kind.endswith("Classification") else {}
    (folder / "config.json").write_text(json.dumps({**document, "kwargs": {}, **changes}))
    return model


def reopened(folder: Path, kind: str) -> Any:
    """Return the reference with what Cloze has written, all of which it must know, beside its config."""
    document = json.loads((folder / "config.json").read_text())
    assert document["architectures"] == [kind] and document["model_type"] == "neobert"
    assert document["auto_map"] == {key: f"chandar-lab/NeoBERT--{value}" for key, value in AUTO_MAP.items()}
    assert 8 * math.ceil(int(2 * document["intermediate_size"] / 3) / 8) == INNER
    assert {**document, "intermediate_size": 29}.items() >= SHAPE.items()
    model = CLASSES[kind]()
    model.load_state_dict(load_file(folder / "model.safetensors"), strict=True)
    return model.eval()


@torch.no_grad()
def test_states_and_maps_are_those_of_the_reference_in_each_layout_before_and_after_saving(
    tmp_path: Path,
) -> None:
    own = made(tmp_path / "own", "NeoBERT")
    model, report = load_encoder(tmp_path / "own")
    assert model.pooler is None and not report.missing and not report.unexpected
    save_model(tmp_path / "saved", model, tiny_wordpiece(), {})
    again, _ = load_encoder(tmp_path / "saved")
    assert again.config == read_config(tmp_path / "saved")
    want = {"output_attentions": True, "output_hidden_states": True}
    for reference in (own, reopened(tmp_path / "saved", "NeoBERT")):
        states, maps = reference(IDS, MASK)
        for ours in (model, again):
            padded = ours(IDS, torch.ones_like(IDS), MASK, **want)  # of one text all the same
            packed = ours(IDS[REAL], bounds=Bounds(LENGTHS), **want)
            unpadded = ours(IDS[REAL], bounds=Unpadded(MASK)).last_hidden_state
            assert_close(unpadded, states[-1][REAL])
            for here, also, there in zip(padded.hidden_states, packed.hidden_states, states, strict=True):
                assert_close(here[REAL], there[REAL])
                assert_close(also, there[REAL])
            for here, also, there in zip(padded.attentions, packed.attentions, maps, strict=True):
                for one, length in enumerate(LENGTHS):
                    assert_close(here[one, :, :length], there[one, :, :length])
                    assert_close(also[one], there[one, :, :length, :length])


@torch.no_grad()
def test_guesses_are_those_of_the_reference_with_a_decoder_that_is_not_the_embeddings(tmp_path: Path) -> None:
    own = made(tmp_path / "own")
    model, report = load_pretraining(tmp_path / "own")
    assert not report.missing and not report.unexpected and not report.refused
    said = "\n".join(map(str, report.sentences()))
    assert "The model’s own masked-word head was loaded." in said and "A NeoBERT." in said
    assert not torch.equal(model.words, model.bert.embeddings.word.weight)
    save_model(tmp_path / "saved", model, tiny_wordpiece(), {})
    assert json.loads((tmp_path / "saved" / "config.json").read_text())["tie_word_embeddings"] is False
    for reference in (own, reopened(tmp_path / "saved", "NeoBERTLMHead")):
        wanted = reference(IDS, MASK)
        assert_close(model.logits(model(IDS[REAL], bounds=Bounds(LENGTHS)).hidden), wanted[REAL])
        found = model.logits(model(IDS, None, MASK).hidden).view(wanted.shape)
        assert_close(found[REAL], wanted[REAL])


@torch.no_grad()
def test_the_head_that_corrects_comes_back_and_every_layer_is_read_through_the_last_norm(
    tmp_path: Path,
) -> None:
    own = made(tmp_path / "own")
    model, _ = load_headed(tmp_path / "own", MaskedWords)
    assert_close(model.logits(model(IDS, None, MASK))[REAL], own(IDS, MASK)[REAL])
    save_model(tmp_path / "saved", model, tiny_wordpiece(), {"task": "correction"})
    assert tuned_head(tmp_path / "saved") is MaskedWords
    assert_close(reopened(tmp_path / "saved", "NeoBERTLMHead")(IDS, MASK), own(IDS, MASK))
    subject = LoadedModel.open(tmp_path / "own", "cpu")
    found = lens(subject, mask(subject.about, "the [MASK] play"), top_k=3)
    ids = torch.tensor([subject.encode("the [MASK] play").input_ids])
    states, _ = own.model(ids, torch.ones_like(ids))
    for number, layer in enumerate(found.layers):
        read = states[number] if number == len(states) - 1 else own.model.layer_norm(states[number])
        best = own.decoder(read)[0, 2].log_softmax(-1).topk(3)
        assert [guess.ids for guess in layer[0].guesses] == [(one,) for one in best.indices.tolist()]
        assert np.allclose([guess.log_probability for guess in layer[0].guesses], best.values, atol=1e-5)


@torch.no_grad()
def test_a_folder_leaves_as_it_is_and_for_sentences(tmp_path: Path) -> None:
    own = made(tmp_path / "own")
    result_of(writing_folder(tmp_path / "own", tmp_path / "out"))
    assert_close(reopened(tmp_path / "out", "NeoBERTLMHead")(IDS, MASK), own(IDS, MASK))
    result_of(writing_sentence_folder(tmp_path / "own", tmp_path / "sentences"))
    again = reopened(tmp_path / "sentences", "NeoBERT")
    assert_close(again(IDS, MASK)[0][-1], own.model(IDS, MASK)[0][-1])


def test_what_an_answer_rests_on_adds_up(tmp_path: Path) -> None:
    theirs = made(tmp_path / "own", "NeoBERTForSequenceClassification")
    subject, target = LoadedModel.open(tmp_path / "own", "cpu"), Target(question=OF_LABELS)
    found = {
        method: result_of(attribute(subject, "a good film", target=target, method=method))
        for method in (INTEGRATED, GRADIENT)
    }
    assert found[INTEGRATED].is_complete
    ids = torch.tensor([subject.encode("a good film").input_ids])
    words = theirs.model.encoder.weight[ids].detach().requires_grad_()
    hook = theirs.model.encoder.register_forward_hook(lambda *_: words)
    logits = theirs(ids, torch.ones_like(ids))[0]
    hook.remove()
    (answer,) = found[GRADIENT].asked.answers
    odds = logits[answer] - logits[torch.arange(3) != answer].logsumexp(-1)
    wanted = (torch.autograd.grad(odds, words)[0] * words).sum(-1)[0]
    assert_close(torch.from_numpy(found[GRADIENT].pieces), wanted.double())


@torch.no_grad()
def test_classes_are_those_of_the_reference_and_other_heads_open_again(tmp_path: Path) -> None:
    own = made(tmp_path / "own", "NeoBERTForSequenceClassification")
    model, report = load_classifier(tmp_path / "own")
    assert not report.missing and not report.unexpected and model.config.id2label == LABELS
    assert model.dropout.p == 0.1
    save_model(tmp_path / "saved", model, tiny_wordpiece(), {})
    for reference in (own, reopened(tmp_path / "saved", "NeoBERTForSequenceClassification")):
        assert_close(model(IDS, None, MASK), reference(IDS, MASK))
        assert_close(model(IDS[REAL], bounds=Bounds(LENGTHS)), reference(IDS, MASK))
    for head, labels in ((TokenClassifier, LABELS), (QuestionAnswering, ())):
        tags, _ = load_headed(tmp_path / "own", head, labels)
        save_model(tmp_path / head.__name__, tags, tiny_wordpiece(), {})
        same, report = load_headed(tmp_path / head.__name__, head)
        assert not report.new and torch.equal(same(IDS, None, MASK), tags(IDS, None, MASK))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["NeoBERTLMHead", "NeoBERTForSequenceClassification"])
def test_three_steps_of_training_follow_the_reference(kind: str, tmp_path: Path) -> None:
    theirs, ours = made(tmp_path / "own", kind), None
    is_guessing = kind == "NeoBERTLMHead"
    ours = (load_pretraining if is_guessing else load_classifier)(tmp_path / "own")[0]
    optimizers = [torch.optim.SGD(model.parameters(), lr=0.1) for model in (ours, theirs)]
    chosen, targets = torch.tensor([1, 4, 15, 22]), torch.tensor([7, 30, 9, 12])
    labels = torch.tensor([2, 0, 1, 1])
    for _ in range(3):
        wanted = theirs(IDS, MASK)
        if is_guessing:
            hidden = ours(IDS[REAL], bounds=Bounds(LENGTHS), masked=chosen).hidden
            losses = [
                ours.masked_loss(hidden, targets)[0] / 4,
                F.cross_entropy(wanted[REAL][chosen], targets),
            ]
        else:
            losses = [F.cross_entropy(ours(IDS[REAL], bounds=Bounds(LENGTHS)), labels)]
            losses.append(F.cross_entropy(wanted, labels))
        assert_close(*losses)
        for loss, optimizer in zip(losses, optimizers, strict=True):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    save_model(tmp_path / "saved", ours, tiny_wordpiece(), {})
    learned = load_file(tmp_path / "saved" / "model.safetensors")
    for name, weight in theirs.state_dict().items():
        assert_close(learned[name], weight)
    before = load_file(tmp_path / "own" / "model.safetensors")
    moved = [name for name in learned if not torch.equal(learned[name], before[name])]
    assert moved == list(learned)


@torch.no_grad()
def test_it_is_asked_and_looked_into_and_step_by_step_says_why_not(tmp_path: Path) -> None:
    theirs = made(tmp_path / "own")
    subject = LoadedModel.open(tmp_path / "own", "cpu")
    assert subject.has_masked_words and not subject.has_next_sentence and not subject.about.has_pooler
    ids = torch.tensor([subject.encode("the [MASK] play").input_ids])
    best = theirs(ids, torch.ones_like(ids))[0, 2].log_softmax(-1).topk(3)
    guesses = probe(subject, "the [MASK] play", top_k=3).answers[0].guesses
    assert [guess.ids for guess in guesses] == [(number,) for number in best.indices.tolist()]
    assert np.allclose([guess.log_probability for guess in guesses], best.values, atol=1e-5)
    seen = look(subject, "a good film", "the play")
    ids = torch.tensor([subject.encode("a good film", "the play").input_ids])
    maps = theirs.model(ids, torch.ones_like(ids))[1]
    assert np.allclose(seen.attentions, torch.cat(maps), atol=1e-5)
    assert np.allclose(detail(subject, seen, 1, 2, 3).weights, seen.attentions[1, 2, 3], atol=1e-5)
    with pytest.raises(UserError, match="is a NeoBERT, whose norms subtract no mean. Step by step does not"):
        trace(subject, "a good film")
    with pytest.raises(ModelError, match="is a NeoBERT. It was not trained on next sentences"):
        subject.require("next_sentence")


def test_what_the_formula_counts_is_built_and_the_folder_says_what_it_holds(tmp_path: Path) -> None:
    made(tmp_path / "own")
    found = take_stock(tmp_path / "own")
    assert found.answers == ("masked_words",) and not found.refused and not found.leftovers
    for heads in (HeadsConfig(masked_words=True), HeadsConfig(num_labels=3), HeadsConfig(pooler=False)):
        shown = arithmetic(found.config, heads)
        assert {part.key: part.count for part in shown.parts} == count_built(found.config, heads)
    total = sum(weight.numel() for weight in PreTraining(found.config).parameters())
    assert arithmetic(found.config, HeadsConfig(masked_words=True)).total == total
    assert sum(count_parameters(found.config, pretraining=True).values()) == total


def test_the_published_one_has_245_million_weights_with_its_decoder() -> None:
    config = BertConfig.from_json({"model_type": "neobert", "max_length": 4096, "intermediate_size": 3072})
    assert (config.intermediate_size, config.max_position_embeddings) == (2048, 4096)
    words, layer = 30_522 * 768, 4 * 768**2 + 3 * 768 * 2048 + 2 * 768
    found = arithmetic(config, HeadsConfig(masked_words=True))
    assert found.total == words + 28 * layer + 768 + words + 30_522 == 245_136_954
    assert config.to_json()["intermediate_size"] == 3072


@torch.no_grad()
def test_a_smaller_vocabulary_keeps_the_rows_of_the_decoder(tmp_path: Path) -> None:
    made(tmp_path / "own")
    model, _ = load_pretraining(tmp_path / "own")
    pieces = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##a", "b", "##b", "ab", "aba")
    whole = WordPiece(pieces, lowercase=True)
    small, cutter = trimmed(model, whole, np.append(must_keep(whole), 10))
    rows = [pieces.index(token) for token in cutter.tokens]
    assert len(rows) == 10 and torch.equal(small.words, model.words[rows])
    found = [
        one.logits(one(torch.tensor([ours.encode("aba b ba").input_ids])).hidden)
        for one, ours in ((model, whole), (small, cutter))
    ]
    assert_close(found[0][:, rows], found[1])


@torch.no_grad()
def test_a_new_head_begins_with_the_embeddings_as_its_decoder(tmp_path: Path) -> None:
    made(tmp_path / "own", "NeoBERT")
    model, report = load_pretraining(tmp_path / "own")
    assert report.new == ("masked_word",)
    start_head(model, torch.arange(SHAPE["vocab_size"]))
    assert torch.equal(model.words, model.bert.embeddings.word.weight)
    assert model.words.data_ptr() != model.bert.embeddings.word.weight.data_ptr()


@pytest.mark.slow
def test_it_is_fine_tuned_and_leaves_as_onnx(tmp_path: Path) -> None:
    made(tmp_path / "start")
    list(fine_tune(tiny_config(tmp_path, num_epochs=1), tmp_path / "run"))
    model, _ = load_classifier(tmp_path / "run" / "model")
    assert model.config.model_type == "neobert"
    for name in ("onnx", "onnxscript", "onnxruntime"):
        pytest.importorskip(name)
    result_of(exporting(tmp_path / "run" / "model", tmp_path / "onnx", ["a good film", "bad play"]))
    given = dict(zip(INPUTS, (IDS.numpy(), MASK.numpy(), torch.zeros_like(IDS).numpy()), strict=True))
    (scores,) = open_session(tmp_path / "onnx" / GRAPH).run(None, given)
    assert_close(torch.from_numpy(scores), model(IDS, None, MASK))


@pytest.mark.slow
def test_it_is_pretrained_further_and_comes_out_as_itself(tmp_path: Path) -> None:
    made(tmp_path / "start")
    values = {"model": str(tmp_path / "start"), "next_sentence": False}
    events = list(pretrain(text_config(tmp_path, steps=60, learning_rate=1e-2, **values), tmp_path / "run"))
    losses = [event.loss for event in events if isinstance(event, Evaluated)]
    assert losses[-1] < losses[0] - 0.2
    learned = reopened(tmp_path / "run" / "model", "NeoBERTLMHead")
    model, report = load_pretraining(tmp_path / "run" / "model")
    assert not report.missing and not torch.equal(learned.decoder.weight, learned.model.encoder.weight)
    with torch.no_grad():
        assert_close(model.logits(model(IDS[REAL], bounds=Bounds(LENGTHS)).hidden), learned(IDS, MASK)[REAL])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"hidden_act": "gelu"}, "hidden_act is gelu. Cloze reads a NeoBERT whose hidden_act is swiglu"),
        ({"rms_norm": False}, "rms_norm is False"),
        ({"rope": False}, "rope is False"),
        ({"ngpt": True}, "ngpt is True"),
        ({"intermediate_size": "29"}, "intermediate_size is 29; it must be a whole number from 1"),
        ({"hidden_size": 36}, "share a width of 36, 3 numbers each"),
        ({"num_attention_heads": 7}, "A width of 768 cannot be divided evenly among 7"),
        ({"norm_eps": None}, "layer_norm_eps is None; it must lie between"),
        ({"max_length": 0}, "max_position_embeddings is 0; it must be a whole number"),
    ],
)
def test_a_config_that_cannot_be_is_refused_in_a_sentence(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        BertConfig.from_json({"model_type": "neobert", **change})
