"""The families in the box: all eight of each, in little room, answering at once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.shipped import shipped_families
from engine.family.ask import Family
from engine.family.card import RANKS, card, lines
from engine.family.layout import read_family
from engine.family.members import ABOUT, PROBABILITY
from engine.family.train import CARD, read_report
from engine.family.verdicts import document_of, judged_of
from engine.settings.family import MEMBERS

MOST_BYTES = 40e6


FAMILIES = [pytest.param(folder, id=folder.name) for folder in shipped_families()]
ASKED = {
    "family": ("The [MASK] flows into the sea.", "river", "The [MASK] flows."),
    "family-chinese": ("依法追究刑事责[MASK]。", "任", "这[MASK]书"),
}


@pytest.mark.slow
@pytest.mark.parametrize("folder", FAMILIES)
def test_a_family_in_the_box_answers_and_says_nothing_of_the_machine_that_made_it(folder: Path) -> None:
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < MOST_BYTES
    family, report = Family.open(folder), read_report(folder)
    assert tuple(family.members) == MEMBERS == tuple(report["members"])
    text, right, other = ASKED[folder.name]
    for name, one in family.fill(text, 5, right).items():
        total = family.scores(name, family.words(other), 1).sum()
        assert one.rank is not None and len(one.guesses) == 5
        assert ABOUT[name].says != PROBABILITY or total == pytest.approx(1.0, abs=1e-3)
    texts = read_family(folder).text
    assert "/" not in texts.text + texts.validation_text


@pytest.mark.parametrize("folder", FAMILIES)
def test_a_card_in_the_box_has_all_questions_and_every_verdict_as_its_figures_say(folder: Path) -> None:
    report, text = read_report(folder), (folder / CARD).read_text("utf-8")
    assert text == "\n".join(card(report)) + "\n"
    every = lines(report)
    asked = [one for one in every if not one.is_start]
    assert len({(one.title, one.source) for one in every}) == len(every) > len(asked) > 10
    assert set(asked[1].scores) == {"ngram", "nnlm", "elmo", "gpt"} and set(asked[2].scores) == {"bert"}
    for one in asked:
        assert all(score["low"] <= score["value"] <= score["high"] for score in one.scores.values())
        best = [name for name in one.scores if one.is_best(name)]
        assert len(one.scores) > 1 or not best
        assert one.unit != RANKS or all(one.scores[name]["low"] > 0 for name in best)
    assert report["claims"] == json.loads(json.dumps(document_of(judged_of(report))))
    for claim in report["claims"]:
        assert claim["claim"] in text and claim["start"] is not None
