"""Step by step has the steps that a model has: each number is that of its own code, and can be worked out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from engine.inspect.anatomy.changes import FEED_FORWARD, PassSettings
from engine.inspect.anatomy.learning import WORDS, learn
from engine.inspect.anatomy.steps import BERTS, KEYS, plan_of
from engine.inspect.anatomy.vectors import products, trace
from engine.inspect.anatomy.working import value_of, working
from engine.inspect.loaded_model import LoadedModel
from engine.model.config import BertConfig
from engine.model.families.known import FAMILIES
from engine.model.heads import PreTraining
from engine.model.names import GATED, GATED_LAST, plain_name, published_names
from engine.text.wordpiece import WordPiece
from tests.engine.inspect.test_anatomy import finished, spots
from tests.engine.model.family_cases import OWN, Case, config_of, made
from tests.fakes import tiny_mpnet_pieces, tiny_wordpiece

transformers = pytest.importorskip("transformers")
pytestmark = pytest.mark.slow  # transformers takes its time to be imported

SHOWN = [case for case in OWN if FAMILIES[case.model_type].has_plain_scores]
A, B = "good film playing", "bad [MASK] play !"


def pieces_of(case: Case) -> WordPiece:
    """Return WordPieces, with the special tokens of a family that has its own."""
    return tiny_mpnet_pieces() if case.stem == "MPNet" else tiny_wordpiece()


@torch.no_grad()
@pytest.mark.parametrize("case", SHOWN, ids=lambda case: case.name)
def test_every_number_of_a_family_is_that_of_its_own_code_and_the_end_of_its_working(
    case: Case, tmp_path: Path
) -> None:
    theirs = made(tmp_path, case, "ForMaskedLM", pieces_of(case))
    subject = LoadedModel.open(tmp_path, "cpu")
    found = trace(subject, A, B)
    given = {"input_ids": torch.tensor([found.ids]), "attention_mask": torch.ones(1, len(found.ids))}
    if hasattr(theirs.config, "type_vocab_size"):
        given["token_type_ids"] = torch.tensor([found.segments])
    own = theirs(**given, output_hidden_states=True, output_attentions=True)
    plan = found.plan
    for number, states in enumerate(own.hidden_states, start=1):
        name = "T" if number > subject.config.num_hidden_layers else plan.before_layer(number)
        assert np.allclose(found[name], states[0], atol=1e-5), name
    for number, maps in enumerate(own.attentions, start=1):
        assert np.allclose(found[f"layer.{number}.softmax"], maps[0], atol=1e-6), number
    assert np.allclose(found["masked_word.logits"], own.logits[0], atol=1e-5)
    layers = range(1, subject.config.num_hidden_layers + 1)
    shown = {name for key in plan.order for layer in layers for name in plan.names(key, layer)}
    rest = {name for name in found.arrays if name.endswith(("logits", "label.softmax"))}
    assert set(found.arrays) - rest <= shown and shown - {"C"} <= set(found.arrays)
    acts = {"masked_word.activation": subject.config.family.acts_of_heads(subject.config)[1]}
    for changes in (PassSettings(), PassSettings().with_residual(2, FEED_FORWARD, False).with_position(5, 9)):
        found = trace(subject, A, B, changes=changes)
        for spot in spots(found):
            done = finished(working(found, spot), acts.get(spot.name, subject.config.hidden_act))
            assert done == pytest.approx(value_of(found, spot), abs=1e-5), spot


@pytest.mark.parametrize("case", SHOWN, ids=lambda case: case.name)
def test_the_lesson_of_a_familys_weight_is_what_autograd_says(case: Case, tmp_path: Path) -> None:
    made(tmp_path, case, "ForMaskedLM", pieces_of(case))
    subject = LoadedModel.open(tmp_path, "cpu")
    found = trace(subject, A, B)
    place, target = found.ids.index(subject.wordpiece.mask_id), found.ids[found.pieces.index("film")]
    model = subject.language
    assert model is not None
    model.requires_grad_()
    given = (torch.tensor([found.ids]), torch.tensor([found.segments]))
    logits = model.logits(model(*given).hidden)[place]
    torch.nn.functional.cross_entropy(logits[None], torch.tensor([target])).backward()
    weights = {one.weight for one in products(found.config).values()}
    for weight in (*sorted(weights), WORDS):
        row = target if weight == WORDS else 2
        lesson = learn(subject, A, B, answer="film", weight=weight, row=row, column=3, rate=1e-3)
        theirs = gradient_of(model, weight, row)
        assert lesson.gradient == pytest.approx(theirs, abs=1e-5), weight
        assert lesson.direct + float(lesson.taken @ lesson.made) == pytest.approx(theirs, abs=1e-5), weight


def gradient_of(model: PreTraining, weight: str, row: int) -> float:
    """Return the gradient of a published weight's number (row, 3), from where our modules stack it."""
    rotation = model.config.family.rotation(model.config)
    is_last = rotation is not None and rotation.gate_last
    for own, parameter in model.named_parameters():
        for stacks in ({}, GATED_LAST if is_last else GATED):
            names = [plain_name(name) for name in published_names(own, stacks)]
            if weight in names:
                size = len(parameter) // len(names)
                assert parameter.grad is not None
                return float(parameter.grad[names.index(weight) * size + row, 3])
    raise AssertionError(weight)


def test_a_walk_finds_a_step_in_any_model_and_berts_are_twenty() -> None:
    assert len(BERTS.order) == 20 and set(BERTS.order) < set(KEYS)
    for case in SHOWN:
        plan = plan_of(BertConfig.from_json(config_of(case).to_dict()))
        assert set(plan.order) <= set(KEYS) and len(set(plan.order)) == len(plan.order)
        places = [KEYS.index(key) for key in plan.order]
        assert plan.norms_first or places == sorted(places)
