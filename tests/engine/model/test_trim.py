"""A trimmed vocabulary: no word is lost, no number changes, and what was learned is carried over."""

from __future__ import annotations

import lzma
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.errors import ConfigError, ModelError
from engine.model.bert import Bert
from engine.model.trim import ids_to_keep, trimmed
from engine.model.weights import load_pretraining, save_model
from engine.text.fewer import must_keep
from engine.text.special_tokens import ExtraToken
from engine.text.wordpiece import WordPiece
from tests.fakes import same_weights, tiny_config, tiny_pretraining

LETTERS = "abcdefghijklmnopqrstuvwxyz"
TOKENS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *LETTERS,
    *(f"##{letter}" for letter in LETTERS),
    *("good", "bad", "film", "play", "##ing", "!"),
)  # 63, of which 58 must stay
WORDPIECE = WordPiece(TOKENS, lowercase=True)
ENGLISH = ("enwiki2015-core.txt.xz", "bert-base-uncased-vocab.txt", 8_000)
CASED = ("enwiki2015-core.txt.xz", "bert-base-cased-vocab.txt", 8_000)
CHINESE = ("albert-zh-sample.txt", "bert-base-chinese-vocab.txt", 9_000)


def counts_of(wordpiece: WordPiece, texts: list[str]) -> np.ndarray:
    return np.bincount(np.concatenate(wordpiece.encode_ids(texts)), minlength=wordpiece.vocab_size)


def test_special_tokens_come_first_and_then_the_old_order() -> None:
    shuffled = ("film", "[PAD]", "z", "[MASK]", "good", "[CLS]", "a", "##a", "[SEP]", "[UNK]", "##z", "bad")
    wordpiece = WordPiece(shuffled, lowercase=False, strip_accents=True, added=(ExtraToken("<new>"),))
    kept = [shuffled.index(token) for token in ("bad", "film", "a", "z")]
    model, smaller = trimmed(tiny_pretraining(vocab_size=13, pad_token_id=1), wordpiece, np.array(kept))
    special = ("[PAD]", "[MASK]", "[CLS]", "[SEP]", "[UNK]")
    assert smaller.tokens == (*special, "film", "z", "a", "bad", "<new>")
    assert (smaller.lowercase, smaller.strip_accents) == (False, True)
    assert model.config.vocab_size == 10 and model.config.pad_token_id == 0 == smaller.pad_id


def test_texts_whose_pieces_are_kept_give_the_same_numbers(tmp_path: Path) -> None:
    model = tiny_pretraining(vocab_size=63)
    keep = ids_to_keep(counts_of(WORDPIECE, ["film good"] * 2 + ["playing"]), 60, WORDPIECE)
    small, smaller = trimmed(model, WORDPIECE, keep)
    assert smaller.tokens == (*TOKENS[:57], "good", "film", "!")
    ids, new = (torch.tensor([one.encode("a good film", "xy!").input_ids]) for one in (WORDPIECE, smaller))
    with torch.no_grad():
        before, after = model(ids), small(new)
        assert torch.equal(after.hidden, before.hidden)
        assert torch.equal(after.next_sentence, before.next_sentence)
        old = [TOKENS.index(token) for token in smaller.tokens]
        assert torch.equal(small.logits(after.hidden), model.logits(before.hidden)[:, old])
    assert (
        same_weights(model, tiny_pretraining(vocab_size=63)) and not small.training
    )  # the model itself is as it was
    save_model(tmp_path / "small", small, smaller)
    assert same_weights(load_pretraining(tmp_path / "small")[0], small)
    assert WordPiece.from_folder(tmp_path / "small").tokens == smaller.tokens


def test_a_bare_encoder_is_trimmed_too_with_or_without_a_pooler() -> None:
    for with_pooler in (True, False):
        encoder = Bert(tiny_config(vocab_size=63), with_pooler=with_pooler).train()
        small, _ = trimmed(encoder, WORDPIECE, must_keep(WORDPIECE))
        assert type(small) is Bert and (small.pooler is not None) is with_pooler and small.training
        assert small.embeddings.word.weight.requires_grad
        assert torch.equal(small.embeddings.word.weight, encoder.embeddings.word.weight[[*range(57), 62]])


def test_characters_that_only_longer_pieces_hold_keep_these() -> None:
    tokens = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "##a", "b", "##bq", "aaa", "[unused1]")
    wordpiece = WordPiece(tokens, lowercase=True)
    kept = [tokens[number] for number in must_keep(wordpiece)]
    assert kept == [*tokens[:5], "a", "##a", "b", "##bq"]


def test_a_size_below_the_alphabet_is_refused_beside_its_field() -> None:
    with pytest.raises(ConfigError, match="alone are 58. Choose at least 58") as caught:
        ids_to_keep(np.ones(63), 57, WORDPIECE)
    assert caught.value.field == "trim_vocab"


def test_pieces_that_never_occur_do_not_fill_up_the_size() -> None:
    counts = np.zeros(63)
    counts[TOKENS.index("film")] = 3
    assert len(ids_to_keep(counts, 62, WORDPIECE)) == 59


def test_a_vocabulary_of_another_model_is_refused() -> None:
    with pytest.raises(ModelError, match="63 pieces, but the model knows 30"):
        trimmed(tiny_pretraining(vocab_size=30), WORDPIECE, np.arange(20))


@pytest.mark.slow
@pytest.mark.parametrize(("text", "vocab", "size"), [ENGLISH, CASED, CHINESE])
def test_no_text_gets_more_unknown_words(real_data: Path, text: str, vocab: str, size: int) -> None:
    with (lzma.open if text.endswith(".xz") else open)(real_data / "corpora" / text, "rb") as file:
        texts = file.read(1_000_000).decode(errors="ignore").split("\n")
    texts.append(
        "漢字kanji ﬀ naïve x，y 한국어 \u2028 " + " ".join(f"a{chr(n)}" for n in range(0x21, 0xA000))
    )
    wordpiece = WordPiece.from_vocab(real_data / "vocabs" / vocab)
    keep = ids_to_keep(counts_of(wordpiece, texts[: len(texts) // 20]), size, wordpiece)
    _, smaller = trimmed(Bert(tiny_config(vocab_size=wordpiece.vocab_size)), wordpiece, keep)
    assert smaller.vocab_size <= size and replace(smaller, base=wordpiece.base, notes=()) == wordpiece
    shorter = 0
    for old, new in zip(wordpiece.encode_ids(texts), smaller.encode_ids(texts), strict=True):
        assert (new == smaller.unk_id).sum() == (old == wordpiece.unk_id).sum()
        shorter += len(new) > len(old)
    assert shorter > 0  # most texts were not counted, so that some words lost their piece
