"""ModernBERT: long texts in both layouts, what is asked of it, what it learns and refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import ModelError, UserError
from engine.events import result_of
from engine.export.folders import writing_folder
from engine.export.onnx import GRAPH, exporting
from engine.inspect.embeddings.vectors import PoolingConfig, embed
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.lens import lens
from engine.inspect.masked.masked import mask
from engine.inspect.masked.probe import probe
from engine.model.arithmetic import arithmetic, count_built
from engine.model.attention import Read
from engine.model.bert import Bert
from engine.model.config import BertConfig
from engine.model.heads import PreTraining, TokenClassifier
from engine.model.inventory import take_stock
from engine.model.names import published_names
from engine.model.source import unfilled
from engine.model.weights import load_classifier, load_encoder, load_headed, load_pretraining
from engine.text.batch import Bounds, Unpadded
from engine.text.byte_level import MODERNBERT
from engine.train.finetune import fine_tune
from tests.engine.tiny_runs import tiny_config
from tests.fakes import scramble, tiny_byte_level, tiny_wordpiece

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow  # transformers takes its time to be imported

TOKENIZER = tiny_byte_level(MODERNBERT)
LENGTHS = (31, 31, 17, 2)
REACH = 3  # of most layers, which see so many tokens to either side


def made(path: Path, kind: str = "ForMaskedLM", **changes: Any) -> Any:
    """Write a random tiny ModernBERT of transformers' own, its vocabulary beside it, and return it."""
    ids = {f"{name}_token_id": getattr(TOKENIZER, f"{name}_id") for name in ("pad", "cls", "sep")}
    sizes = {
        "vocab_size": TOKENIZER.vocab_size,
        "max_position_embeddings": 67,
        "hidden_size": 12,
        "num_hidden_layers": 5,
        "num_attention_heads": 3,
        "intermediate_size": 29,
        "local_attention": 2 * REACH,
        "bos_token_id": ids["cls_token_id"],
        "eos_token_id": ids["sep_token_id"],
        "attn_implementation": "eager",
    }
    config = transformers.ModernBertConfig(**{**sizes, **ids, **changes})
    model = getattr(transformers, f"ModernBert{kind}")(config).eval()
    scramble(model)
    model.tie_weights()
    model.save_pretrained(path)
    TOKENIZER.save(path)
    return model


def long_texts() -> tuple[torch.Tensor, torch.Tensor]:
    """Return padded ids and their mask."""
    rng = torch.Generator().manual_seed(7)
    seen = torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]
    ids = torch.randint(0, 256, seen.shape, generator=rng)
    return ids.masked_fill(~seen, TOKENIZER.pad_id), seen.long()


def asked(model: Any, folder: Path, *texts: str, **wanted: Any) -> Any:
    """Ask transformers, with its own tokenizer of the folder."""
    own = transformers.AutoTokenizer.from_pretrained(folder)
    return model(**own(*texts, return_tensors="pt"), **wanted)


@torch.no_grad()
def test_long_texts_are_read_alike_padded_packed_and_unpadded(tmp_path: Path) -> None:
    ids, seen = long_texts()
    own = made(tmp_path, "Model")
    theirs = own(ids, attention_mask=seen, output_attentions=True, output_hidden_states=True)
    model, _ = load_encoder(tmp_path)
    real, bounds = seen.bool(), Bounds(LENGTHS)
    packed = model(ids[real], bounds=bounds, output_attentions=True, output_hidden_states=True)
    padded = model(ids, None, seen, output_hidden_states=True)
    for here, also, there in zip(
        packed.hidden_states, padded.hidden_states, theirs.hidden_states, strict=True
    ):
        assert torch.allclose(here, there[real], atol=1e-5) and torch.allclose(also[real], here, atol=1e-5)
    apart = torch.arange(31)[:, None] - torch.arange(31)
    for layer, (here, there) in enumerate(zip(packed.attentions, theirs.attentions, strict=True)):
        for one, whole, length in zip(here, there, LENGTHS, strict=True):
            assert torch.allclose(one, whole[:, :length, :length], atol=1e-5)
        far = here[0][:, apart.abs() > REACH]
        assert bool(far.any()) is (layer % 3 == 0)
    for layout, rows in (
        ({"bounds": bounds}, ids[real]),
        ({"bounds": bounds}, torch.cat([ids[real], ids.new_zeros(7)])),  # with filler
        ({"bounds": Unpadded(seen)}, ids[real]),
    ):
        assert torch.allclose(
            model(rows, **layout).last_hidden_state[:81], packed.last_hidden_state, atol=1e-5
        )
    firsts = model(ids[real], bounds=bounds, rows=Read.FIRSTS).last_hidden_state
    assert torch.allclose(firsts, theirs.last_hidden_state[:, 0], atol=1e-5)
    some = torch.tensor([40, 3, 80])
    found = model(ids[real], bounds=bounds, rows=some).last_hidden_state
    assert torch.allclose(found, packed.last_hidden_state[some], atol=1e-5)
    off = torch.ones(5, 3)
    off[1, 2] = 0
    without = model(ids[real], bounds=bounds, head_mask=off).last_hidden_state
    assert not torch.allclose(without, packed.last_hidden_state, atol=1e-3)


@torch.no_grad()
@pytest.mark.parametrize("count", [1, 2, 3])
def test_however_few_layers_it_has_the_first_and_the_last_have_their_norms(
    count: int, tmp_path: Path
) -> None:
    ids, seen = long_texts()
    theirs = made(tmp_path, "ForTokenClassification", num_hidden_layers=count, num_labels=3)
    model, report = load_headed(tmp_path, TokenClassifier)
    assert not report.missing and not report.unexpected
    found = model(ids[seen.bool()], bounds=Bounds(LENGTHS))
    assert torch.allclose(found, theirs(ids, attention_mask=seen).logits[seen.bool()], atol=1e-5)


@torch.no_grad()
def test_a_typed_mask_and_a_clicked_word_are_guessed_as_transformers_does(tmp_path: Path) -> None:
    theirs = made(tmp_path)
    subject = LoadedModel.open(tmp_path, "cpu")
    assert "ModernBERT" in str(subject.notes[0]) and not subject.has_next_sentence
    logs = asked(theirs, tmp_path, "the [MASK] play").logits[0].log_softmax(-1)
    ids = tuple(TOKENIZER.encode("the [MASK] play").input_ids)
    best = logs[ids.index(TOKENIZER.mask_id)].topk(3)
    for text, words in (("the [MASK] play", ()), ("the film play", (1,))):
        found = probe(subject, text, words=words, top_k=3)
        assert found.masked.input_ids == ids
        guesses = found.answers[0].guesses
        assert [guess.ids for guess in guesses] == [(number,) for number in best.indices.tolist()]
        assert np.allclose([guess.log_probability for guess in guesses], best.values, atol=1e-5)
    hidden = asked(theirs, tmp_path, "the [MASK] play", output_hidden_states=True).hidden_states
    seen = lens(subject, mask(subject.about, "the [MASK] play"), top_k=1)
    for layer, states in enumerate(hidden):  # below the last the norm is still to come
        states = states if layer == 5 else theirs.model.final_norm(states)
        scores = theirs.decoder(theirs.head(states))[0, ids.index(TOKENIZER.mask_id)].log_softmax(-1)
        guess = seen.layers[layer][0].guesses[0]
        assert np.isclose(guess.log_probability, scores.max(), atol=1e-5)


@torch.no_grad()
def test_pages_look_into_it_and_what_they_do_not_show_is_said_in_a_sentence(tmp_path: Path) -> None:
    text = "the good film, the good play: the film, the play"
    theirs = asked(made(tmp_path), tmp_path, text, output_hidden_states=True)
    subject = LoadedModel.open(tmp_path, "cpu")
    (found,) = result_of(embed(subject, [text], [PoolingConfig("mean", -1)])).vectors[0]
    assert np.allclose(found, theirs.hidden_states[-1][0].mean(0), atol=1e-5)
    with pytest.raises(ModelError, match="is a ModernBERT. It was not trained on next sentences"):
        subject.require("next_sentence")


def test_two_steps_of_fine_tuning_follow_the_gradients_of_transformers(tmp_path: Path) -> None:
    theirs = made(tmp_path, "ForSequenceClassification", num_labels=3, classifier_pooling="mean")
    ours, _ = load_classifier(tmp_path)
    ids, seen = long_texts()
    labels = torch.tensor([2, 0, 1, 0])
    for _ in range(2):
        losses = []
        for model, logits in (
            (ours, ours(ids[seen.bool()], bounds=Bounds(LENGTHS))),
            (theirs, theirs(ids, attention_mask=seen).logits),
        ):
            losses.append(torch.nn.functional.cross_entropy(logits, labels))
            model.zero_grad()
            losses[-1].backward()
            torch.optim.SGD(model.parameters(), lr=0.1).step()
        assert torch.allclose(*losses, atol=1e-5)
    now = dict(theirs.named_parameters())
    assert torch.allclose(
        ours.bert.layers[1].attention.qkv.weight, now["model.layers.1.attn.Wqkv.weight"], atol=1e-5
    )
    assert torch.allclose(ours.bert.layers[4].final_norm.weight, now["model.final_norm.weight"], atol=1e-5)
    assert torch.allclose(ours.bert.pooler.weight, now["head.dense.weight"], atol=1e-5)


@pytest.mark.parametrize("pooling", ["cls", "mean"])
def test_it_is_fine_tuned_from_guessing_words_and_opens_in_transformers_with_the_same_answers(
    pooling: str, tmp_path: Path
) -> None:
    made(tmp_path / "start", classifier_pooling=pooling)
    classifier, report = load_classifier(tmp_path / "start", ("bad", "good"))
    language, _ = load_pretraining(tmp_path / "start")
    assert torch.equal(classifier.bert.pooler.weight, language.transform.weight)  # as in transformers
    said = list(map(str, report.sentences()))
    assert "The layers below the classifier begin as those of the masked-word head." in said
    assert not any("pooler is new" in one for one in said)
    config = tiny_config(tmp_path, num_epochs=1)
    events = list(fine_tune(config, tmp_path / "run"))
    assert not any("Other tools do not know" in str(event) for event in events)
    folder = tmp_path / "run" / "model"
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    assert type(theirs).__name__ == "ModernBertForSequenceClassification"
    assert (theirs.config.classifier_pooling, theirs.config.local_attention) == (pooling, 2 * REACH)
    found = LoadedModel.open(folder, "cpu").predictor().predict("the good film")
    with torch.no_grad():
        wanted = asked(theirs, folder, "the good film").logits[0].softmax(-1)
    assert np.allclose(found, wanted, atol=1e-5)
    assert take_stock(folder).answers == ("labels",)


@pytest.mark.parametrize(
    "settings",
    [{"new_layers": 2}, {"frozen_layers": 2}, {"encoder": "frozen"}, {"layer_mix": True, "layer_decay": 0.5}],
)
def test_its_layers_are_frozen_renewed_and_mixed_as_berts_are(
    settings: dict[str, Any], tmp_path: Path
) -> None:
    made(tmp_path / "start")
    list(fine_tune(tiny_config(tmp_path, num_epochs=1, **settings), tmp_path / "run"))
    before, _ = load_encoder(tmp_path / "start")
    after, _ = load_classifier(tmp_path / "run" / "model")
    kept = [
        torch.equal(one.intermediate.weight, two.intermediate.weight)
        for one, two in zip(before.layers, after.bert.layers, strict=True)
    ]
    frozen = 5 if "encoder" in settings else settings.get("frozen_layers", 0)
    assert kept == [True] * frozen + [False] * (5 - frozen)
    if "new_layers" in settings:
        assert torch.allclose(after.bert.layers[4].final_norm.weight, torch.ones(12), atol=0.1)


def test_the_weights_are_named_as_a_published_model_names_them(real_data: Path) -> None:
    table = real_data / "tokenizers" / "state_dict_keys" / "modernbert-derived.ModernBertForMaskedLM.tsv"
    names = {line.split("\t")[0] for line in table.read_text().splitlines()}
    config = BertConfig.from_json({"model_type": "modernbert", "architectures": ["ModernBertForMaskedLM"]})
    family, own = config.family, {"cls.predictions.decoder.weight"}
    for name in unfilled(PreTraining, config).state_dict():
        own.update(published_names(name, family.stacks))
    assert {family.own_name(name, "BertForPreTraining") for name in own} == names


def test_configs_of_2024_and_of_2026_say_the_same() -> None:
    sizes = {"model_type": "modernbert", "num_hidden_layers": 4}
    old = BertConfig.from_json(
        {
            **sizes,
            "position_embedding_type": "sans_pos",
            "layer_norm_eps": 1e-4,
            "norm_eps": 1e-5,
            "global_attn_every_n_layers": 2,
            "global_rope_theta": 300,
            "local_rope_theta": None,
            "local_attention": 14,
        }
    )
    new = BertConfig.from_json(
        {
            **sizes,
            "layer_types": ["full_attention", "sliding_attention"] * 2,
            "rope_parameters": {
                kind: {"rope_type": "default", "rope_theta": 300.0}
                for kind in ("full_attention", "sliding_attention")
            },
            "local_attention": 14,
        }
    )
    for config in (old, new):
        attentions = [layer.attention for layer in unfilled(Bert, config).layers]
        assert [(one.theta, one.reach) for one in attentions] == [(300.0, None), (300.0, 7)] * 2
    assert old.layer_norm_eps == new.layer_norm_eps == 1e-5
    for config in (old, new):
        assert BertConfig.from_json(config.to_json()) == config


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"local_attention": 0}, "local_attention is 0; it must be a whole number from 2"),
        ({"local_attention": "128"}, "local_attention is 128; it must be a whole number"),
        ({"global_attn_every_n_layers": 0}, "global_attn_every_n_layers is 0; it must be"),
        ({"global_rope_theta": float("nan")}, "rope_theta is nan; it must lie between 1 and"),
        ({"local_rope_theta": -1}, "rope_theta is -1; it must lie between"),
        ({"global_rope_theta": None}, "rope_theta is None; it must lie between"),
        ({"rope_parameters": {"full_attention": {"rope_theta": True}}}, "rope_theta is True; it must"),
        ({"rope_parameters": {"full_attention": {"rope_type": "yarn"}}}, "stretches the rotation"),
        ({"rope_parameters": {"rope_theta": 5.0}}, "stretches the rotation"),
        ({"rope_parameters": 7}, "stretches the rotation"),
        ({"rope_scaling": {"type": "linear", "factor": 2}}, "stretches the rotation"),
        ({"layer_types": ["full_attention"]}, "names 1 layer_types, but its model has 22 layers"),
        ({"layer_types": ["linear"] * 22}, "layer_types is .*; Cloze knows full_attention"),
        ({"layer_types": 3}, "layer_types is 3; Cloze knows"),
        ({"hidden_size": 36}, "12 attention heads share a width of 36, 3 numbers each. .* must be even"),
        ({"hidden_size": 770}, "A width of 770 cannot be divided evenly among 12"),
        ({"num_attention_heads": 0}, "num_attention_heads is 0; it must be a whole number"),
        ({"hidden_size": "768"}, "hidden_size is 768; it must be a whole number"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers is 1000000000; it must be"),
        ({"classifier_pooling": ["cls"]}, "classifier_pooling is .*; Cloze knows cls, mean"),
        ({"classifier_activation": "tanh"}, "classifier_activation is tanh; Cloze knows gelu"),
        ({"hidden_activation": "swish"}, "asks for the activation swish"),
        ({"norm_bias": "yes"}, "norm_bias is yes; it must be true or false"),
        ({"embedding_dropout": 7}, "embedding_dropout is 7; it must lie between 0 and"),
    ],
)
def test_a_config_that_cannot_be_is_refused_in_a_sentence(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError, match=said):
        BertConfig.from_json({"model_type": "modernbert", **change})


@pytest.mark.parametrize("way", ["regression", "contrastive"])
def test_a_head_that_is_solved_for_reads_the_means_past_the_norm_of_its_pooler(
    way: str, tmp_path: Path
) -> None:
    made(tmp_path / "start")
    list(fine_tune(tiny_config(tmp_path, way=way), tmp_path / "run"))
    folder = tmp_path / "run" / "model"
    stock = take_stock(folder)
    assert stock.answers == ("labels",) and stock.config.pooling == "first_last" and not stock.leftovers
    assert stock.num_weights == arithmetic(stock.config, stock.heads).total
    assert count_built(stock.config, stock.heads) == dict(stock.counts)
    subject = LoadedModel.open(folder, "cpu")
    encoding = subject.encode("the good film")
    with torch.no_grad():
        found = subject.bert(torch.tensor([encoding.input_ids]), output_hidden_states=True).hidden_states
        read = torch.cat([found[-1].mean(1), found[0].mean(1)], -1)
        wanted = subject.label_head().classifier(read)[0].softmax(-1)
    assert np.allclose(subject.predictor().predict("the good film"), wanted, atol=1e-5)
    with pytest.raises(UserError, match="reads the mean of all tokens, which transformers"):
        result_of(writing_folder(folder, tmp_path / "out"))


@torch.no_grad()
def test_a_graph_of_it_answers_long_and_short_texts_alike(tmp_path: Path) -> None:
    for name in ("onnx", "onnxscript"):
        pytest.importorskip(name)
    onnxruntime = pytest.importorskip("onnxruntime")
    wordpiece = tiny_wordpiece()
    made(tmp_path / "own", "ForSequenceClassification", num_labels=3, vocab_size=37, pad_token_id=0)
    (tmp_path / "own" / "tokenizer.json").unlink()
    (tmp_path / "own" / "tokenizer_config.json").unlink()
    wordpiece.save(tmp_path / "own")
    result_of(exporting(tmp_path / "own", tmp_path / "out", ["a film"]))
    session = onnxruntime.InferenceSession(str(tmp_path / "out" / GRAPH), providers=["CPUExecutionProvider"])
    model, _ = load_classifier(tmp_path / "own")
    for length in (3, 53):
        ids, seen = torch.randint(4, 37, (2, length)), torch.ones(2, length, dtype=torch.long)
        seen[1, 2:] = 0
        given = {"input_ids": ids, "attention_mask": seen, "token_type_ids": 0 * ids}
        asked_for = {one.name: given[one.name].numpy() for one in session.get_inputs()}
        assert np.allclose(session.run(None, asked_for)[0], model(ids, None, seen), atol=1e-5)
