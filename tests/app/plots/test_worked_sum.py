"""A sum as on paper: what is shown adds up as it is shown, whatever is rounded and left to the others."""

from __future__ import annotations

import numpy as np
import pytest
from pytestqt.qtbot import QtBot

from app.plots.worked_sum import WorkedSum, WorkedTerms


def number(written: str) -> float:
    return float(written.replace("−", "-").replace(",", ""))


@pytest.mark.parametrize("height", [90, 200, 400])
def test_shown_terms_and_the_others_add_up_to_the_shown_total(height: int, qtbot: QtBot) -> None:
    rng = np.random.default_rng(height)
    for scale in (1e-4, 0.03, 1.0, 250.0):
        terms = (rng.normal(size=384) * scale).tolist()
        bias = float(rng.normal() * scale)
        plot = WorkedSum("Sum")
        qtbot.addWidget(plot)
        plot.resize(300, height)
        plot.set_sum(
            WorkedTerms(
                [str(i) for i in range(384)], terms, starts=(("bias", bias),), total=sum(terms) + bias
            )
        )
        *parts, total = [number(line[3]) for line in plot.lines()]
        assert sum(parts) == pytest.approx(total, abs=1e-9 * max(1.0, scale))
        assert total == pytest.approx(sum(terms) + bias, abs=10**-plot.digits)
        assert plot.lines()[-2][0] == f"{plot.others} others"
        for count in (2, 3, 9):  # without others there is nothing to hide a slip of the last digit in
            few = terms[:count]
            plot.set_sum(WorkedTerms([str(i) for i in range(count)], few, total=sum(few)))
            *parts, total = [number(line[3]) for line in plot.lines()]
            if not plot.others:
                assert sum(parts) == pytest.approx(total, abs=1e-9 * max(1.0, scale))
    halves = [0.015625, 0.390625, 0.765625]  # as weights of 16 bits often are: rounding meets ties
    plot.set_sum(WorkedTerms(["w", "s", "p"], halves, total=sum(halves)))
    *parts, total = [number(line[3]) for line in plot.lines()]
    assert sum(parts) == pytest.approx(total, abs=1e-9)
