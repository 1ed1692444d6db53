"""What stands both in the text learned from and in that kept apart, beside a look by plain Python."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.events import result_of
from engine.text.corpus import overlap as module
from engine.text.corpus.overlap import SHORTEST, overlap
from engine.train.pretraining import setup as pretraining_setup
from tests.engine.tiny_texts import notes, text_config


@dataclass
class Few:
    """Documents of sentences of ids, as a store has them."""

    made: list[list[list[int]]]
    continues: None = None

    def __post_init__(self) -> None:
        flat = [sentence for document in self.made for sentence in document]
        self.ids = np.array([number for sentence in flat for number in sentence], np.uint16)
        self.sentences = np.concatenate(([0], np.cumsum([len(sentence) for sentence in flat])))
        self.documents = np.concatenate(([0], np.cumsum([len(document) for document in self.made])))
        self.doc_tokens = self.sentences[self.documents]


def few(seed: int, count: int = 41) -> Few:
    """Return documents of which many share sentences, and some are the same."""
    rng = random.Random(seed)
    pool = [[rng.randrange(5, 9) for _ in range(rng.choice((1, 3, 12, 17)))] for _ in range(30)]
    pool += [sentence[:-1] for sentence in pool if len(sentence) > 1]  # nearly the same
    made = [[rng.choice(pool) for _ in range(rng.randint(1, 4))] for _ in range(count)]
    return Few([*made, *rng.sample(made, 7)])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("at_once", [37, 2**20])
def test_documents_and_long_sentences_of_both_parts_are_counted_as_by_hand(
    seed: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_AT_ONCE", at_once)
    store = few(seed)
    numbers = np.random.default_rng(seed).permutation(len(store.made))
    train, held_out = np.sort(numbers[9:]), np.sort(numbers[:9])
    found = result_of(overlap(store, train, store, held_out))
    learned = [store.made[number] for number in train]
    flat = {tuple(sentence) for document in learned for sentence in document}
    whole = {tuple(number for sentence in document for number in sentence) for document in learned}
    kept = [store.made[number] for number in held_out]
    again = sum(tuple(number for sentence in document for number in sentence) in whole for document in kept)
    sentences = [sentence for document in kept for sentence in document]
    shared = sum(len(s) for s in sentences if len(s) >= SHORTEST and tuple(s) in flat)
    assert found.num_documents == again > 0
    assert found.share == pytest.approx(shared / sum(map(len, sentences))) and 0 < found.share < 1


def test_a_text_of_its_own_is_compared_with_all_that_is_learned_from() -> None:
    learned, other = few(1), few(2)
    same = Few([other.made[0], learned.made[3], [[5] * 11 + [8] * 9]])
    none = result_of(overlap(learned, np.arange(len(learned.made)), Few([[[9] * 20]]), np.arange(1)))
    some = result_of(overlap(learned, np.arange(len(learned.made)), same, np.arange(3)))
    assert (none.num_documents, none.share) == (0, 0.0) and some.num_documents == 1


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")


@pytest.mark.usefixtures("cache")
def test_pretraining_tells_of_texts_that_stand_in_both_parts_and_only_then(tmp_path: Path) -> None:
    rng = random.Random(0)

    def told(documents: list[str], name: str, **settings: Any) -> str:
        (tmp_path / name).write_text("\n\n".join(documents) + "\n", encoding="utf-8")
        task = pretraining_setup.prepare(text_config(tmp_path, text=str(tmp_path / name), **settings))
        return notes(list(task))

    def document() -> str:
        words = ("the", "cat", "sees", "a", "ship", "and", "leaves", "port")
        return "\n".join(" ".join(rng.choices(words, k=20)) for _ in range(3))

    plain = [document() for _ in range(30)]
    assert "held-out documents" not in told(plain, "plain.txt")
    said = told(plain * 2, "twice.txt", validation_share=0.2)
    assert "held-out documents are also in the training text" in said and "\n0 of the" not in said
    apart = tmp_path / "apart.txt"
    apart.write_text(f"{document()}\n\n{plain[3]}\n", encoding="utf-8")
    said = told(plain, "own.txt", validation_text=str(apart))
    assert "1 of the 2 held-out documents are also in the training text" in said and "50.0 %" in said
