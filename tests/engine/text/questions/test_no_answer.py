"""The threshold of "no answer": the best on one half of the questions, told on the other."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from engine.text.questions.no_answer import choose_threshold, halves
from engine.text.questions.question import Questions
from engine.text.questions.reading import read_questions

PASSAGE = "The Normans came from France."


def articles(folder: Path, *sizes: int, title: str = "T") -> Questions:
    """Return articles of so many questions each."""
    data = [
        {
            "title": f"{title}{number}" if title else "",
            "paragraphs": [
                {
                    "context": f"{PASSAGE} {number}",
                    "qas": [
                        {"question": "Who?", "id": f"{number}-{one}", "answers": ["France"]}
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


@pytest.mark.parametrize("seed", range(20))
def test_no_other_threshold_is_better_on_the_half_it_is_chosen_on(seed: int) -> None:
    rng = np.random.default_rng(seed)
    differences = np.round(rng.normal(size=60), 1)  # some are equal
    answered, unanswered = rng.random(60), (rng.random(60) < 0.4).astype(float)
    chosen = np.arange(60) % 2 == 0

    def mean(value: float, half: np.ndarray) -> float:
        return float(np.where(differences[half] > value, unanswered[half], answered[half]).mean())

    found = choose_threshold(differences, answered, unanswered, chosen)
    assert found.chosen == pytest.approx(max(mean(value, chosen) for value in np.linspace(-6, 6, 4801)))
    assert found.reported == mean(found.value, ~chosen) and found.at_zero == mean(0.0, ~chosen)
    assert (found.num_chosen, found.num_reported) == (30, 30)


def test_what_is_reported_on_does_not_move_the_threshold() -> None:
    rng = np.random.default_rng(0)
    differences, answered, unanswered = rng.normal(size=40), rng.random(40), rng.random(40)
    chosen = np.arange(40) < 20
    found = choose_threshold(differences, answered, unanswered, chosen)
    answered[~chosen], differences[~chosen] = 1 - answered[~chosen], -differences[~chosen]
    assert choose_threshold(differences, answered, unanswered, chosen).value == found.value


def test_where_every_question_has_an_answer_nearly_no_threshold_withholds_one() -> None:
    differences = np.array([-3.0, -1.0, 2.0, 5.0])
    found = choose_threshold(differences, np.ones(4), np.zeros(4), np.array([True, True, True, False]))
    assert found.value > 2 and found.chosen == 1.0


def test_infinite_differences_and_an_empty_half_are_no_trouble() -> None:
    differences = np.array([np.inf, -1.0])
    found = choose_threshold(differences, np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.array([True, True]))
    assert found.chosen == 1.0 and found.num_reported == 0 and -1.0 <= found.value < 1e31
