"""The formula's sum is the count: of our models, of those of `transformers`, and of what lies in folders."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.model.arithmetic import (
    PUBLISHED,
    Arithmetic,
    HeadsConfig,
    arithmetic,
    count_built,
    divisors,
    preset_of,
    published_millions,
)
from engine.model.config import PRESETS, BertConfig, count_parameters
from engine.model.parts import GROUPS, KINDS, LETTERS, part_of_weight
from tests.fakes import tiny_config

PRETRAINING = HeadsConfig(masked_words=True, next_sentence=True)
ALL_HEADS = (
    HeadsConfig(pooler=False),
    HeadsConfig(),
    PRETRAINING,
    HeadsConfig(masked_words=True),
    HeadsConfig(num_labels=7),
    HeadsConfig(masked_words=True, next_sentence=True, num_labels=7),
)


def counts(found: Arithmetic) -> dict[str, int]:
    return {part.key: part.count for part in found.parts}


def worked_out(formula: str, sizes: dict[str, int]) -> int:
    """Return the number that a formula stands for, read as a person reads it."""
    flat = re.sub(r"\(([^)]*)\)", lambda found: str(worked_out(found[1], sizes)), formula)
    return sum(
        math.prod(_factor(one, sizes) for one in product.split(" × ")) for product in flat.split(" + ")
    )


def _factor(text: str, sizes: dict[str, int]) -> int:
    found = re.fullmatch(r"([\d,]*)([A-Z]?)(²?)", text)
    assert found and text, text
    number, letter, power = int(found[1].replace(",", "") or 1), found[2], 2 if found[3] else 1
    return int(number * sizes[letter] ** power if letter else number**power)


@pytest.mark.parametrize("heads", ALL_HEADS)
@pytest.mark.parametrize("name", PRESETS)
def test_each_part_of_a_preset_has_the_weights_that_are_counted_when_it_is_built(
    name: str, heads: HeadsConfig
) -> None:
    config = BertConfig.preset(name)
    assert counts(arithmetic(config, heads)) == count_built(config, heads)


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(
    layers=st.integers(1, 5),
    num_heads=st.integers(1, 5),
    per_head=st.integers(1, 9),
    inner=st.integers(1, 99),
    pieces=st.integers(5, 99),
    positions=st.integers(1, 77),
    segments=st.integers(1, 4),
    labels=st.integers(0, 6),
)
def test_it_holds_for_any_sizes_and_the_formulas_say_the_same(
    layers: int, num_heads: int, per_head: int, inner: int, pieces: int, positions: int, segments: int,
    labels: int,
) -> None:  # fmt: skip
    config = BertConfig(
        vocab_size=pieces,
        hidden_size=num_heads * per_head,
        num_hidden_layers=layers,
        num_attention_heads=num_heads,
        intermediate_size=inner,
        max_position_embeddings=positions,
        type_vocab_size=segments,
    )
    found = arithmetic(config, HeadsConfig(masked_words=True, num_labels=labels))
    assert counts(found) == count_built(config, found.heads)
    sizes = dict(found.sizes)
    assert worked_out(found.spelled(), sizes) == worked_out(found.with_numbers(), {}) == found.total
    for group in GROUPS:
        assert worked_out(found.spelled(found.of_group(group)) or "0", sizes) == found.count_of(group)
    for part in found.parts:
        assert (
            worked_out(found.spelled([part]), sizes)
            == worked_out(found.with_numbers([part]), {})
            == part.count
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", PRESETS)
def test_transformers_counts_the_same(name: str) -> None:
    import transformers

    layers, width, num_heads = PRESETS[name]
    theirs = transformers.BertConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=num_heads,
        intermediate_size=4 * width,
    )
    ours = BertConfig.preset(name)
    expected: dict[Any, HeadsConfig] = {
        transformers.BertModel: HeadsConfig(),
        transformers.BertForPreTraining: PRETRAINING,
        transformers.BertForSequenceClassification: HeadsConfig(num_labels=2),
    }
    for make, heads in expected.items():
        with torch.device("meta"):
            model = make(theirs)
        assert sum(weight.numel() for weight in model.parameters()) == arithmetic(ours, heads).total


def test_the_formula_of_a_published_shape_is_the_published_one() -> None:
    found = arithmetic(BertConfig.preset("base"), PRETRAINING)
    assert found.spelled() == (
        "V × H + P × H + S × H + 2H + L × (12H² + 13H) + H² + H + H² + 3H + V + 2H + 2"
    )
    layers = found.with_numbers(found.of_group("layers"))
    assert layers == "12 × (12 × 768² + 13 × 768)"
    assert (found.total, arithmetic(found.config).total) == (110_106_428, 109_482_240)


def test_the_papers_names_are_the_counts_rounded() -> None:
    for name, millions in PUBLISHED.items():
        config = BertConfig.preset(name)
        assert preset_of(config) == name and published_millions(config) == millions
        assert arithmetic(config, PRETRAINING).total / 1e6 == pytest.approx(millions, rel=0.012)
    assert published_millions(BertConfig.preset("base", vocab_size=21_128)) is None
    assert preset_of(BertConfig.preset("base", vocab_size=21_128)) == "base"
    assert preset_of(tiny_config()) == ""


def test_the_number_of_attention_heads_changes_no_count_and_is_in_no_formula() -> None:
    width = 36
    assert divisors(width) == (1, 2, 3, 4, 6, 9, 12, 18, 36) and divisors(7) == (1, 7) and divisors(1) == (1,)
    built = [
        count_built(tiny_config(hidden_size=width, num_attention_heads=number)) for number in divisors(width)
    ]
    assert all(one == built[0] for one in built)
    assert not any("A" in term.letters for kind in KINDS for term in kind.terms) and "A" in LETTERS


def test_it_agrees_with_the_short_count_that_forms_show() -> None:
    config = tiny_config()
    for pretraining, heads in ((False, HeadsConfig()), (True, PRETRAINING)):
        assert (
            sum(count_parameters(config, pretraining=pretraining).values()) == arithmetic(config, heads).total
        )


def test_a_weight_is_found_by_any_of_its_names_and_strangers_are_nobodys() -> None:
    for name in ("bert.encoder.layer.11.attention.self.key.bias", "layers.11.attention.qkv.weight"):
        assert part_of_weight(name) == "qkv"
    assert part_of_weight("bert.embeddings.LayerNorm.gamma") == "embedding_norm"
    assert part_of_weight("cls.predictions.bias") == part_of_weight("bias") == "masked_words"
    for stranger in ("vision_outputs.weight", "weight", "encoder.layer.0.lora.weight", "pooler.dense.scale"):
        assert part_of_weight(stranger) is None
