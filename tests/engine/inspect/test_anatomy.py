"""Every number of a text in BERT, beside what `transformers` computes; what changes do; a weight's lesson."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import UserError
from engine.inspect.anatomy.changes import ATTENTION, FEED_FORWARD, PassSettings
from engine.inspect.anatomy.effect import effect, usual_head
from engine.inspect.anatomy.learning import WORDS, learn
from engine.inspect.anatomy.vectors import Anatomy, products, trace
from engine.inspect.anatomy.working import Spot, value_of, working
from engine.inspect.attention.weights import look
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.probe import probe
from engine.model.activations import activation
from engine.model.weights import save_model
from tests.fakes import model_folder, tiny_pretraining, tiny_wordpiece

A, B = "good film playing", "bad [MASK] play !"
STARTER = Path(__file__).parents[3] / "assets" / "models" / "starter"


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return LoadedModel.open(model_folder(tmp_path_factory.mktemp("labels")), device="cpu")


@torch.no_grad()
def hooked(folder: Path, kind: str, anatomy: Anatomy) -> dict[str, np.ndarray]:
    """Return what `transformers` computes inside for the same tokens, by our names."""
    transformers = pytest.importorskip("transformers")
    model = getattr(transformers, kind).from_pretrained(folder, attn_implementation="eager").float().eval()
    found: dict[str, Any] = {}

    def keep(module: Any, made: str = "", taken: str = "", place: int | None = None) -> None:
        def hook(_module: Any, given: Any, result: Any) -> None:
            if made:
                found[made] = result if place is None else result[place]
            if taken:
                found[taken] = given[0]

        module.register_forward_hook(hook)

    embeddings = model.bert.embeddings
    keep(embeddings.word_embeddings, "embeddings.word")
    keep(embeddings.token_type_embeddings, "embeddings.segment")
    keep(embeddings.position_embeddings, "embeddings.position")
    keep(embeddings.LayerNorm, "embeddings.norm", "embeddings.sum")
    for number, layer in enumerate(model.bert.encoder.layer, start=1):
        own, attention = f"layer.{number}.", layer.attention
        for name in ("query", "key", "value"):
            keep(getattr(attention.self, name), own + name)
        keep(attention.self, own + "joined", place=0)
        keep(attention.self, own + "softmax", place=1)
        keep(attention.output.dense, own + "output")
        keep(attention.output.LayerNorm, own + "attention_norm", own + "attention_residual")
        keep(layer.intermediate.dense, own + "feed_forward_in")
        keep(layer.intermediate, own + "activation")
        keep(layer.output.dense, own + "feed_forward_out")
        keep(layer.output.LayerNorm, own + "norm", own + "residual")
    keep(model.bert.encoder, "T", place=0)
    keep(model.bert.pooler, "C")
    if kind == "BertForPreTraining":
        head = model.cls.predictions
        keep(head.transform.dense, "masked_word.dense")
        keep(head.transform.LayerNorm, "masked_word.norm", "masked_word.activation")
        keep(head, "masked_word.logits")
        keep(model.cls.seq_relationship, "next_sentence.logits")
    else:
        keep(model.classifier, "label.logits")
    lists = (anatomy.ids, anatomy.segments, anatomy.mask, anatomy.positions)
    names = ("input_ids", "token_type_ids", "attention_mask", "position_ids")
    model(
        **{name: torch.tensor([one]) for name, one in zip(names, lists, strict=True)}, output_attentions=True
    )
    heads = anatomy.config.num_attention_heads
    arrays = {name: tensor[0] for name, tensor in found.items()}
    for number in range(1, anatomy.config.num_hidden_layers + 1):
        own = f"layer.{number}."
        arrays[own + "heads"] = arrays[own + "joined"].unflatten(-1, (heads, -1)).transpose(0, 1)
        for name in ("query", "key", "value"):
            arrays[own + name] = arrays[own + name].unflatten(-1, (heads, -1)).transpose(0, 1)
        query, key = arrays[own + "query"], arrays[own + "key"]
        arrays[own + "scores"] = query @ key.transpose(1, 2) / query.shape[-1] ** 0.5
    for name in ("next_sentence", "label"):
        if f"{name}.logits" in arrays:
            arrays[f"{name}.softmax"] = arrays[f"{name}.logits"].softmax(-1)
    return {name: tensor.numpy() for name, tensor in arrays.items()}


def assert_same(anatomy: Anatomy, reference: dict[str, np.ndarray]) -> None:
    """Within 1e-5 of the largest value, or of 1, and not one array more or less."""
    assert set(anatomy.arrays) == set(reference)
    for name, theirs in reference.items():
        ours = anatomy[name]
        assert ours.shape == theirs.shape, name
        assert np.abs(ours - theirs).max() <= 1e-5 * max(1.0, np.abs(theirs).max()), name


@pytest.mark.slow
def test_every_intermediate_equals_what_transformers_computes_inside(
    folder: Path, subject: LoadedModel, labels: LoadedModel
) -> None:
    for pair, pad_to in ((None, 0), (B, 0), (B, 17)):
        found = trace(subject, A, pair, pad_to=pad_to)
        assert_same(found, hooked(folder, "BertForPreTraining", found))
    found = trace(labels, A, B)
    assert_same(found, hooked(labels.folder, "BertForSequenceClassification", found))


@pytest.mark.slow
@pytest.mark.skipif(not (STARTER / "config.json").is_file(), reason="this build has no models in the box")
def test_every_intermediate_of_the_starter_equals_what_transformers_computes_inside() -> None:
    starter = LoadedModel.open(STARTER, device="cpu")
    found = trace(starter, "The bank raised its interest [MASK].", "It fell.")
    assert_same(found, hooked(STARTER, "BertForPreTraining", found))


def test_padding_is_not_looked_at_and_changes_no_number(subject: LoadedModel) -> None:
    alone, padded = trace(subject, A, B), trace(subject, A, B, pad_to=17)
    assert padded.mask == (1,) * 11 + (0,) * 6 and padded.pieces[11:] == ("[PAD]",) * 6
    for layer in (1, 2):
        assert not padded[f"layer.{layer}.softmax"][..., 11:].any()
    np.testing.assert_allclose(padded["T"][:11], alone["T"], atol=1e-6)
    with pytest.raises(UserError, match="at most 41"):
        trace(subject, A, B, pad_to=42)


def test_the_end_is_what_the_other_views_tell(subject: LoadedModel) -> None:
    found = trace(subject, A, B)
    assert np.abs(found["layer.2.softmax"] - look(subject, A, B).attentions[1]).max() < 1e-6
    best = effect(found, found, usual_head(found), found.pieces.index("[MASK]"), count=1)[0]
    guess = probe(subject, A, B, top_k=1).answers[0].guesses[0]
    assert (best.name, best.before) == (guess.word, pytest.approx(guess.probability, abs=1e-6))


def spots(found: Anatomy) -> list[Spot]:
    """Return a number of every array, away from the corners."""
    lasts = {"masked_word.logits": Spot("masked_word.logits", 5, key=33)}
    return [
        lasts.get(
            name,
            Spot(name, place=5 if array.ndim > 1 else 0, number=1, head=2 if array.ndim == 3 else 0, key=4),
        )
        for name, array in found.arrays.items()
        if not name.endswith("_sentence.softmax") and name != "label.softmax"
    ]


def finished(found: Any, act: str = "gelu") -> float:
    """Return the number that a working ends in, from what it says, and the name of the activation."""
    steps, total = found.steps, found.total
    bias, beta = steps.get("bias", 0.0), steps.get("beta", 0.0)
    ends: dict[str, Callable[[], float]] = {
        "product": lambda: total + bias,
        "scored": lambda: total + bias,
        "pooled": lambda: float(np.tanh(total + bias)),
        "score": lambda: total / steps["root"] + steps.get("distance", 0.0),
        "mixed": lambda: total * steps.get("scale", 1.0),
        "share": lambda: float(found.terms[4]) / total,
        "norm": lambda: (steps["x"] - steps["mean"]) / steps["deviation"] * steps["gamma"] + beta,
        "activation": lambda: float(activation(act)(torch.tensor(steps["x"]))),
    }
    return ends.get(found.way, lambda: total)()


def test_every_number_is_the_end_of_its_working(subject: LoadedModel, labels: LoadedModel) -> None:
    changes = PassSettings(
        scales=(((1, 3), 0.5),), no_residual=frozenset({(2, ATTENTION), (2, FEED_FORWARD)})
    )
    for model in (subject, labels):
        for changed in (PassSettings(), changes):
            found = trace(model, A, B, changes=changed)
            for spot in spots(found):
                assert finished(working(found, spot)) == pytest.approx(value_of(found, spot), abs=1e-5), spot


def test_a_head_scaled_to_nothing_is_a_head_switched_off(subject: LoadedModel) -> None:
    on = np.ones((2, 3), bool)
    on[0, 1] = False
    off = look(subject, A, B, on=on, want_hidden=True)
    found = trace(subject, A, B, changes=PassSettings().with_scale(1, 2, 0.0))
    assert off.hidden_states is not None
    np.testing.assert_allclose(found["T"], off.hidden_states[-1], atol=1e-5)
    assert not trace(subject, A, changes=PassSettings().with_scale(1, 2, 0.0).with_scale(1, 2, 1.0)).changes


def test_a_change_moves_nothing_before_it_and_all_that_follows(subject: LoadedModel) -> None:
    own = trace(subject, A, B)
    for changes, last, first in (
        (PassSettings().with_scale(2, 1, 2.0), "layer.2.softmax", "layer.2.heads"),
        (PassSettings().with_residual(1, ATTENTION, False), "layer.1.output", "layer.1.attention_residual"),
        (
            PassSettings().with_residual(2, FEED_FORWARD, False),
            "layer.2.feed_forward_out",
            "layer.2.residual",
        ),
        (PassSettings().with_position(3, 7), "embeddings.segment", "embeddings.position"),
        (PassSettings().with_segment(3, 1, 0), "embeddings.word", "embeddings.segment"),
    ):
        found = trace(subject, A, B, changes=changes)
        np.testing.assert_array_equal(found[last], own[last])
        assert np.abs(found[first] - own[first]).max() > 1e-3
        assert np.abs(found["T"] - own["T"]).max() > 1e-3
    found = trace(subject, A, B, changes=PassSettings().with_residual(1, ATTENTION, False))
    np.testing.assert_array_equal(found["layer.1.attention_residual"], found["layer.1.output"])


def test_a_change_without_a_place_is_refused(subject: LoadedModel) -> None:
    for changes, words in (
        (PassSettings().with_scale(3, 1, 0.0), "no layer 3"),
        (PassSettings().with_scale(1, 1, 2.5), "between 0 and 2"),
        (PassSettings().with_position(1, 41), "positions 0 to 40"),
        (PassSettings().with_segment(11, 1, 0), "tokens 0 to 10"),
    ):
        with pytest.raises(UserError, match=words):
            trace(subject, A, B, changes=changes)
        assert not changes.fitted(subject.config, 11) or words == "between 0 and 2"


def test_weights_whose_numbers_run_over_are_refused(tmp_path: Path) -> None:
    model = tiny_pretraining()
    with torch.no_grad():
        model.bert.layers[1].output.bias[:3] = 3e38  # their sum is beyond float32
    save_model(tmp_path, model, tiny_wordpiece(), {})
    with pytest.raises(UserError, match="no finite numbers"):
        trace(LoadedModel.open(tmp_path, device="cpu"), A)


def test_a_small_step_lowers_the_loss_by_its_slope(subject: LoadedModel) -> None:
    for weight in (one.weight for one in products(subject.config).values()):
        lesson = learn(subject, A, B, answer="film", weight=weight, row=2, column=3, rate=1e-3)
        assert lesson.loss - lesson.loss_after == pytest.approx(lesson.slope, rel=1e-2), weight


def test_the_lesson_of_a_weight_is_what_autograd_says(folder: Path, subject: LoadedModel) -> None:
    transformers = pytest.importorskip("transformers")
    model = transformers.BertForPreTraining.from_pretrained(folder, attn_implementation="eager").eval()
    found = trace(subject, A, B)
    place, answer = found.pieces.index("[MASK]"), found.pieces.index("film")
    target = found.ids[answer]
    given = {"input_ids": torch.tensor([found.ids]), "token_type_ids": torch.tensor([found.segments])}
    logits = model(**given).prediction_logits[0, place]
    loss = torch.nn.functional.cross_entropy(logits[None], torch.tensor([target]))
    loss.backward()
    stored = {name.removeprefix("bert."): weight for name, weight in model.named_parameters()}
    for weight in [*(one.weight for one in products(found.config).values()), WORDS]:
        row = target if weight == WORDS else 2
        lesson = learn(subject, A, B, answer="film", weight=weight, row=row, column=3, rate=0.5)
        assert lesson.loss == pytest.approx(loss.item(), abs=1e-5)
        theirs = float(stored[weight].grad[row, 3])
        assert lesson.gradient == pytest.approx(theirs, abs=1e-6), weight
        assert lesson.direct + float(lesson.taken @ lesson.made) == pytest.approx(theirs, abs=1e-6), weight
        assert lesson.before == stored[weight][row, 3].item()
        assert lesson.after == pytest.approx(lesson.before - 0.5 * theirs, abs=1e-6)
        if theirs:
            assert lesson.loss_after < lesson.loss
    for answer, text, words in (("playing", B, "is 2 pieces"), ("film", A, "Nothing is masked")):
        with pytest.raises(UserError, match=words):
            learn(subject, text, None, answer=answer, weight=weight, row=0, column=0)
