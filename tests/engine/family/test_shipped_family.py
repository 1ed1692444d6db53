"""The family in the box: all eight, in little room, answering at once."""

from __future__ import annotations

import pytest

from app.shipped import shipped_family
from engine.family.ask import Family
from engine.family.card import NOT_MEASURED, RANKS, card, lines
from engine.family.layout import read_family
from engine.family.members import ABOUT, PROBABILITY
from engine.family.train import CARD, read_report
from engine.family.verdicts import document_of, judged_of
from engine.settings.family import MEMBERS

MOST_BYTES = 40e6


@pytest.mark.slow
@pytest.mark.skipif(shipped_family() is None, reason="this build has no family in the box")
def test_the_family_in_the_box_answers_and_says_nothing_of_the_machine_that_made_it() -> None:
    folder = shipped_family()
    assert folder is not None
    assert sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) < MOST_BYTES
    family, report = Family.open(folder), read_report(folder)
    assert tuple(family.members) == MEMBERS == tuple(report["members"])
    for name, one in family.fill("The [MASK] flows into the sea.", 5, "river").items():
        total = family.scores(name, family.words("The [MASK] flows."), 1).sum()
        assert one.rank is not None and len(one.guesses) == 5
        assert ABOUT[name].says != PROBABILITY or total == pytest.approx(1.0, abs=1e-3)
    assert "/" not in read_family(folder).text.text


@pytest.mark.skipif(shipped_family() is None, reason="this build has no family in the box")
def test_the_card_in_the_box_has_all_questions_and_every_verdict_as_its_figures_say() -> None:
    folder = shipped_family()
    assert folder is not None
    report, text = read_report(folder), (folder / CARD).read_text("utf-8")
    assert text == "\n".join(card(report)) + "\n"
    asked = lines(report)
    assert len({(one.name, one.source) for one in asked}) == len(asked) > 10
    assert set(asked[1].scores) == {"ngram", "nnlm", "elmo", "gpt"} and set(asked[2].scores) == {"bert"}
    for one in asked:
        assert all(score["low"] <= score["value"] <= score["high"] for score in one.scores.values())
        best = [name for name in one.scores if one.is_best(name)]
        assert len(one.scores) > 1 or not best
        assert one.unit != RANKS or all(one.scores[name]["low"] > 0 for name in best)
    assert report["claims"] == document_of(judged_of(report))
    for claim in report["claims"]:
        assert claim["claim"] in text and (claim["verdict"] == "no verdict") == (claim["start"] is None)
    if "starts" not in report:  # what a start alone gives was not measured then
        assert NOT_MEASURED in text and not any(claim["start"] for claim in report["claims"])
        assert not report.get("informed_start") or not any(line.is_best("bert") for line in asked)
