"""The family in the box: all eight, in little room, answering at once."""

from __future__ import annotations

import pytest

from app.shipped import shipped_family
from engine.family.ask import Family
from engine.family.members import ABOUT, PROBABILITY
from engine.family.train import read_family, read_report
from engine.settings.family import MEMBERS

MOST_BYTES = 40e6


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
