"""Of a text as much is shown as fits, and how long it is costs nothing."""

from __future__ import annotations

import time

import pytest
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QApplication

from app.look.labels import PART, ElidedLabel, fitting


@pytest.mark.parametrize("num_parts", [1, 2, 3, 7])
def test_the_last_parts_are_left_out_until_the_others_fit(qapp: QApplication, num_parts: int) -> None:
    metrics = QFontMetrics(QFont())
    parts = [f"part {number}" for number in range(7)]
    shown = PART.join(parts[:num_parts])
    assert fitting(PART.join(parts), metrics, metrics.horizontalAdvance(shown) + 1) == shown


def test_what_fits_nowhere_ends_in_an_ellipsis(qapp: QApplication) -> None:
    metrics = QFontMetrics(QFont())
    for text in ("a long text without parts", "x" * 100_000, f"{'x' * 3000}{PART}b"):
        shown = fitting(text, metrics, 60)
        assert shown.endswith("…") and metrics.horizontalAdvance(shown) <= 60


def test_a_text_of_a_megabyte_in_200000_parts_takes_no_time(qapp: QApplication) -> None:
    text, whole = PART.join(["a·b"] * 200_000), "x" * 1_000_000
    label = ElidedLabel()
    label.resize(300, 20)
    began = time.process_time()
    for one in (text, whole):
        fitting(one, label.fontMetrics(), 300)
    assert time.process_time() - began < 1.0
