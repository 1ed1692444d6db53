"""Questions are split by whole articles, so that a passage is never trained on and measured with."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.text.questions.question import PassageTable
from engine.text.questions.splitting import halves, split_questions
from tests.engine.read_at_once import read_questions

PASSAGE = "The Normans came from France."


def articles(folder: Path, *sizes: int, title: str = "T") -> PassageTable:
    """Return articles of so many questions each."""
    data = [
        {
            "title": f"{title}{number}" if title else "",
            "paragraphs": [
                {
                    "context": f"{PASSAGE} {number}",
                    "qas": [
                        {"question": f"Who came {one}th?", "id": f"{number}-{one}", "answers": ["France"]}
                        for one in range(size)
                    ],
                }
            ],
        }
        for number, size in enumerate(sizes)
    ]
    path = folder / "a.json"
    path.write_text(json.dumps({"data": data}))
    return read_questions(path)


@pytest.mark.parametrize("title", ["T", ""])
def test_a_whole_article_is_in_one_half_and_the_halves_are_near_equal(title: str, tmp_path: Path) -> None:
    questions = articles(tmp_path, *range(1, 30), title=title)
    asked = np.arange(len(questions.questions))
    chosen = halves(questions, asked)
    sides = {}
    for place in asked.tolist():
        sides.setdefault(questions.questions[place].passage, set()).add(bool(chosen[place]))
    assert all(len(side) == 1 for side in sides.values())
    assert abs(chosen.mean() - 0.5) < 0.1


def test_the_halves_do_not_depend_on_the_order_of_the_questions(tmp_path: Path) -> None:
    questions = articles(tmp_path, *range(1, 30))
    asked = np.random.default_rng(1).permutation(len(questions.questions))
    assert (halves(questions, np.arange(len(asked)))[asked] == halves(questions, asked)).all()


def test_the_questions_of_one_article_are_halved_by_their_ids(tmp_path: Path) -> None:
    chosen = halves(articles(tmp_path, 41), np.arange(41))
    assert chosen.sum() in (20, 21)


def passages_in(questions: PassageTable, part: np.ndarray) -> set[int]:
    return {questions.questions[place].passage for place in part.tolist()}


@pytest.mark.parametrize("seed", range(5))
def test_parts_hold_whole_articles_and_near_their_share(seed: int, tmp_path: Path) -> None:
    questions = articles(tmp_path, *range(1, 40))
    asked = np.arange(len(questions.questions))
    parts, told = split_questions(questions, asked, (0.2, 0.1), seed)
    assert sorted(np.concatenate(parts).tolist()) == asked.tolist()
    shown = [passages_in(questions, part) for part in parts]
    assert not (shown[0] & shown[1] or shown[0] & shown[2] or shown[1] & shown[2])
    assert [len(part) / len(asked) for part in parts] == pytest.approx([0.7, 0.2, 0.1], abs=0.03)
    assert "Whole articles" in str(told)
    again, _ = split_questions(questions, asked, (0.2, 0.1), seed)
    assert all((one == other).all() for one, other in zip(parts, again, strict=True))


def test_few_passages_are_split_by_question_and_that_is_told(tmp_path: Path) -> None:
    questions = articles(tmp_path, 20, 20)
    parts, told = split_questions(questions, np.arange(40), (0.25,), 1)
    assert [len(part) for part in parts] == [30, 10]
    assert "only 2 passages" in str(told)


def test_only_the_questions_asked_are_split_and_no_share_takes_all(tmp_path: Path) -> None:
    questions = articles(tmp_path, *[3] * 12)
    parts, _ = split_questions(questions, np.arange(5, 30), (0.0, 0.99), 3)
    assert len(parts[0]) and not len(parts[1])
    assert sorted(np.concatenate(parts).tolist()) == list(range(5, 30))


def test_a_question_that_is_asked_twice_of_a_passage_stays_on_one_side(tmp_path: Path) -> None:
    path = tmp_path / "twice.json"
    asked = [{"question": f"Who {n % 20}?", "id": str(n), "answers": ["France"]} for n in range(40)]
    paragraph = {"context": PASSAGE, "qas": asked}
    path.write_text(json.dumps({"data": [{"title": "T", "paragraphs": [paragraph]}]}))
    parts, _ = split_questions(read_questions(path), np.arange(40), (0.25,), 1)
    assert [len(part) for part in parts] == [30, 10]
    assert not set((parts[0] % 20).tolist()) & set((parts[1] % 20).tolist())
