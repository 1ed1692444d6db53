"""Tagged words in miniature: what the fake can learn, as CoNLL."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from engine.model.heads import TokenClassifier
from engine.model.weights import save_model
from tests.engine.tiny_runs import tiny_config
from tests.fakes import scramble, tiny_wordpiece
from tests.fakes import tiny_config as tiny_shape

LABELS = ("O", "B-FILM", "I-FILM", "B-PLAY", "I-PLAY")


def sentences(count: int = 53, seed: int = 0) -> list[list[tuple[str, str]]]:
    """Return texts of words with tags in IOB2: "good film" is a FILM, "play" alone a PLAY."""
    rng = random.Random(seed)
    found = []
    for _ in range(count):
        words: list[tuple[str, str]] = []
        for _ in range(rng.randrange(1, 7)):
            words += rng.choice(
                (
                    [("good", "B-FILM"), ("film", "I-FILM")],
                    [("play", "B-PLAY")],
                    [(rng.choice("abcdexyz"), "O")],
                    [("bad", "O")],
                )
            )
        found.append(words)
    return found


def write_conll(path: Path, texts: list[list[tuple[str, str]]]) -> Path:
    lines = ["\n".join(f"{word} {tag}" for word, tag in text) for text in texts]
    path.write_text("\n\n".join(lines) + "\n", encoding="utf-8")
    return path


def tags_config(folder: Path, **settings: Any) -> Any:
    """Return settings of a run over words.conll, written to `folder` if absent."""
    if not (folder / "words.conll").exists():
        write_conll(folder / "words.conll", sentences())
    values = {"data": str(folder / "words.conll"), "text": "", "label": "", "validation_share": 0.3}
    return tiny_config(folder, **{**values, **settings})


def tag_model(
    folder: Path, labels: tuple[str, ...] = LABELS, seed: int = 4, **changes: Any
) -> TokenClassifier:
    """Write a folder of ours with random weights and without a cloze.json; return the model."""
    model = TokenClassifier(tiny_shape(id2label=labels, **changes)).eval()
    scramble(model, seed)
    save_model(folder, model, tiny_wordpiece())
    return model
