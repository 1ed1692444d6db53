"""Questions in miniature: passages of letters for the fake model, as SQuAD writes them, and a short run."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from tests.fakes import model_folder


def squad(num_articles: int = 12, seed: int = 0, *, impossible: bool = False) -> dict[str, Any]:
    """Return a document of articles with two passages each; what follows "film" answers "film?"."""
    rng = random.Random(seed)
    articles = []
    for number in range(num_articles):
        paragraphs = [_paragraph(rng, f"{number}.{place}", impossible=impossible) for place in range(2)]
        articles.append({"title": f"article {number}", "paragraphs": paragraphs})
    return {"version": "1.1", "data": articles}


def _paragraph(rng: random.Random, name: str, *, impossible: bool) -> dict[str, Any]:
    words = [rng.choice("abcdefghxyz") for _ in range(rng.randrange(9, 50))]
    asked = []
    for mark in ("film", "play"):
        place = rng.randrange(len(words) + 1)
        answer = rng.choice(("good", "bad", "good good"))
        has_none = impossible and rng.random() < 0.4
        if not has_none:
            words[place:place] = [mark, answer]
        asked.append((mark, "" if has_none else answer))
    context = " ".join(words)
    questions = []
    for mark, answer in asked:
        start = context.find(f"{mark} {answer}") + len(mark) + 1
        answers = [{"text": answer, "answer_start": start}] if answer else []
        one = {"id": f"{name}.{mark}", "question": f"{mark} !", "answers": answers}
        questions.append(one | ({"is_impossible": not answer} if impossible else {}))
    return {"context": context, "qas": questions}


def write_squad(path: Path, document: dict[str, Any]) -> Path:
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def question_config(folder: Path, *, impossible: bool = False, **settings: Any) -> FineTuneConfig:
    """Return settings of a short run over asked.json and start/, written to `folder` if absent."""
    if not (folder / "asked.json").exists():
        write_squad(folder / "asked.json", squad(impossible=impossible))
    if not (folder / "start").exists():
        model_folder(folder / "start")
    values = {
        "data": str(folder / "asked.json"),
        "model": str(folder / "start"),
        "max_length": 29,
        "max_question": 4,
        "stride": 9,
        "batch_size": 8,
        "num_epochs": 1,
        "learning_rate": 3e-3,
        "checkpoint_every_steps": 3,
        "device": "cpu",
        "precision": "float32",
        "kernels": "oneDNN",
        "num_threads": 1,
    }
    return with_values(FineTuneConfig(), {**values, **settings})
