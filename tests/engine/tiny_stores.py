"""Odd text in miniature, a vocabulary for it, and the token stores that are made of it."""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.events import Event, Noted, Progress
from engine.text.corpus.corpus import Corpus
from engine.text.corpus.cutter import Cut
from engine.text.corpus.tokens import TokenStore
from engine.text.wordpiece import WordPiece
from tests.engine.steps import drained

LETTERS = "abcdefghijklmnopqrstuvwxyz"
HAN = "中国人民大学生我们爱语言模型上海恤卡拉"
TOKENS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *(*LETTERS, *(f"##{letter}" for letter in LETTERS)),
    *("the", "film", "play", "##ing", "good", ".", ",", "!", "。", "##中"),
    *HAN,
)
ODD = (
    "É",
    "ß",
    "\u0301",
    "\u3000",
    "\t",
    "㐀",
    "豈",
    "𠀀",
    "\u200b",
    "😀",
    "[SEP]",
    "[sep]",
    "##",
    "中文",
    "。",
)
WORDS = ("The", "film", "films", "playing", "good!", "don't", "x" * 101, "3.5%", "T恤", *ODD)


def wordpiece(**changes: Any) -> WordPiece:
    """Return letters, a few words and ideographs; `changes` are fields of `WordPiece`."""
    return replace(WordPiece.from_tokens(TOKENS, lowercase=True), notes=(), **changes)


def sentence(rng: random.Random, most: int = 12) -> str:
    """Return 1 to `most` words that are hard to cut; never blank, but maybe of no pieces."""
    words = ("".join(rng.choices(WORDS, k=rng.choice((1, 1, 2)))) for _ in range(rng.randint(1, most)))
    return " ".join(words).strip() or "\u200b"


def write_text(path: Path, num_documents: int = 29, seed: int = 0) -> Corpus:
    """Write documents of 1 to 7 odd sentences, a sentence a line, and return the corpus of them."""
    rng = random.Random(seed)
    documents = ("\n".join(sentence(rng) for _ in range(rng.randint(1, 7))) for _ in range(num_documents))
    path.write_text("\n\n".join(documents) + "\n", encoding="utf-8")
    return Corpus((path,), layout="sentences")


def made(task: Generator[Event, None, TokenStore]) -> tuple[TokenStore, list[Event]]:
    """Run a task to its end."""
    events, store = drained(task)
    return store, events


def notes(events: Sequence[Event]) -> list[str]:
    """Return what was said."""
    return [str(event.sentence) for event in events if isinstance(event, Noted)]


def was_made(events: Sequence[Event]) -> bool:
    """Whether text was cut, not only a store opened."""
    return any(isinstance(event, Progress) and event.stage == "Tokenizing" for event in events)


def content(path: Path) -> dict[str, bytes]:
    """Return every byte of a folder, by file."""
    return {item.name: item.read_bytes() for item in path.iterdir()}


def names(folder: Path) -> list[str]:
    """Return what lies in a folder."""
    return sorted(item.name for item in folder.iterdir())


def fake_words(text: str) -> list[str]:
    """Find a few words, as jieba would."""
    known, out = ("中国", "人民", "大学生", "T恤", "卡拉OK", "上海", "film", "3.5"), []
    while text:
        word = next((word for word in known if text.startswith(word)), text[0])
        out.append(word)
        text = text[len(word) :]
    return out


def words(pieces: WordPiece, cut: Cut) -> list[str]:
    """Return the words that pieces make, by where they continue one."""
    assert cut.continues is not None
    out: list[str] = []
    for number, goes_on in zip(cut.ids.tolist(), cut.continues.tolist(), strict=True):
        piece = pieces.tokens[number].removeprefix("##")
        out = [*out[:-1], out[-1] + piece] if goes_on else [*out, piece]
    return out
