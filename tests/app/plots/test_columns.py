"""Every picture of rows of cells: its rows are said, walked, written, painted at any width, and chosen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.plots.agreement_rows import AgreementPlot, AgreementRow
from app.plots.answer_words import AnswerWordsPlot
from app.plots.attribution import AttributedBars, ScoredWord
from app.plots.bars import BarsPlot
from app.plots.before_now import AnswerBeforeNow, BeforeNow
from app.plots.claim_rows import ClaimRow, ClaimRowsPlot
from app.plots.class_scores import ClassRow, ClassScoresPlot
from app.plots.columns import ColumnsFigure
from app.plots.figure import save_figure
from app.plots.guesses import GuessesPlot, GuessRow
from app.plots.label_rows import CodebookPlot, LabelRow, SuggestedLabelsPlot
from app.plots.member_scores import MemberScoresPlot, ReachedRow
from app.plots.poolings import PoolingRow, PoolingsPlot
from app.plots.share_rows import ShareRow, ShareRowsPlot
from app.plots.slice_rows import SliceRow, SliceRowsPlot
from app.plots.tally import PlayedRound, TallyPlot
from app.plots.ways import WayRow, WaysPlot

LONG = "a name that is longer than any column that it could ever stand in"


def answer_words() -> ColumnsFigure:
    plot = AnswerWordsPlot("Scores")
    plot.set_scores({"who": [0.5, 0.75, 8], "other": [0.0, 0.1, 1]})
    return plot


def attributed() -> ColumnsFigure:
    plot = AttributedBars("Words")
    plot.set_words([ScoredWord("good", 0, 1.25), ScoredWord(LONG, 0, -0.5)])
    return plot


def bars() -> ColumnsFigure:
    plot = BarsPlot("Labels")
    plot.set_bars([("for", 30), (LONG, 10)], highlight="for")
    return plot


def before_now() -> ColumnsFigure:
    plot = BeforeNow("Answers")
    plot.set_outcomes((AnswerBeforeNow("bank", 0.5, 0.25), AnswerBeforeNow(LONG, 0.25, 0.5)), is_changed=True)
    return plot


def class_scores() -> ColumnsFigure:
    plot = ClassScoresPlot("Classes")
    plot.set_rows([ClassRow("sport", 0.5, 0.25, 0.375, 8, (0.25, 0.5))], ClassRow(LONG, 0.5, 0.25, 0.375, 8))
    return plot


def guesses() -> ColumnsFigure:
    plot = GuessesPlot("Guesses")
    plot.hint = "puts it in"
    plot.set_guesses([GuessRow("bank", 0.5, 1, "original")], [GuessRow(LONG, 0.001, 57, "yours")])
    return plot


def claims() -> ColumnsFigure:
    plot = ClaimRowsPlot("Claims")
    plot.show_rows(
        [
            ClaimRow("It helps", "accuracy", 0.5, 0.25, 0.75, "Confirmed", "fine", "It helps: 0.5."),
            ClaimRow(LONG, LONG, -0.1, -0.2, 0.0, "Inconclusive", "muted", LONG),
        ]
    )
    return plot


def member_scores() -> ColumnsFigure:
    plot = MemberScoresPlot("Scores")
    plot.show_scores(
        [
            ReachedRow("ELMo", "2018", 29.0, 25.0, 33.0, "29.0", "25.0 to 33.0", True, ("30",)),
            ReachedRow(LONG[:20], "2018", 13.0, 11.0, 17.0, "13.0", "11.0 to 17.0", False, ("20",)),
        ],
        is_less_better=False,
        chance=8.0,
        heads=("Weights",),
    )
    return plot


def poolings() -> ColumnsFigure:
    plot = PoolingsPlot("Poolings")
    plot.set_rows([PoolingRow("[CLS]", 0.5, 0.6, 0.9, 0.8, 0.85), PoolingRow(LONG, 0, 1, 0, 0, 0)], 0.2)
    return plot


def codebook() -> ColumnsFigure:
    plot = CodebookPlot("Codebook")
    plot.show_rows([LabelRow("1", "Price", "fares", 41), LabelRow("", LONG, LONG, 0)])
    return plot


def suggested() -> ColumnsFigure:
    plot = SuggestedLabelsPlot("Suggested labels")
    plot.show_rows([LabelRow("2", "Price", "fares", 41, 0.5), LabelRow("", LONG, LONG, 0, 0.25)])
    return plot


def narrow_shares() -> ColumnsFigure:
    return shares(is_narrow=True)


def shares(*, is_narrow: bool = False) -> ColumnsFigure:
    plot = ShareRowsPlot("Shares", is_narrow=is_narrow)
    plot.show_rows([ShareRow("Price", 0.25, 0.125, 0.5, 0.375), ShareRow(LONG, 0.75, 0.5, 0.875, 0.625)])
    return plot


def agreement() -> ColumnsFigure:
    plot = AgreementPlot("Labels")
    plot.set_names("me", "the language model")
    rows = (
        AgreementRow("good", 0.5, (0.25, 0.75), (8, 9), note="mostly bad"),
        AgreementRow(LONG, 1, None, (1, 0)),
    )
    plot.show_rows(rows)
    return plot


def slices() -> ColumnsFigure:
    plot = SliceRowsPlot("Slices")
    plot.show_rows([SliceRow("short", 8, 0.5, 0.25, 0.75, 0.9, "= 0.01"), SliceRow(LONG, 1, 1, 0.5, 1, 0.5)])
    return plot


def tally() -> ColumnsFigure:
    plot = TallyPlot("Rounds")
    plot.show_rows(
        [PlayedRound(1, "The [MASK] flows.", "river", "lake", False, "river", True, (0.5, 0.5))] * 2
    )
    return plot


def ways() -> ColumnsFigure:
    plot = WaysPlot("Ways")
    plot.set_rows([WayRow("whole", (0.5, 0.75), (0.4, 0.8)), WayRow(LONG, (0.25,))], "accuracy")
    return plot


ROUND = "The [MASK] flows. Masked: river. You: lake, wrong. The model: river, right."
EVERY = {  # what is said of the first row, and what is written of it
    agreement: ("good: 50.0 % (95 %: 25.0 % to 75.0 %). mostly bad", ["good", 8, 9, 0.5, 0.25, 0.75]),
    answer_words: ("who: F1 75.0 %, exact match 50.0 %, 8 questions", ["who", 0.5, 0.75, 8]),
    attributed: ("good: +1.250", ["good", 1.25]),
    bars: ("for 30 · 75.0 %", ["for", 30, 0.75]),
    before_now: ("", ["bank", 0.5, 0.25]),
    class_scores: (
        "sport: precision 50.0 %, recall 25.0 %, F1 37.5 %, 8 texts. F1 25.0 % to 50.0 % in 95 % of cases",
        ["sport", 0.5, 0.25, 0.375, 0.25, 0.5, 8],
    ),
    guesses: ("bank  50.00 %, rank 1; the original", ["bank", 0.5, 1, "original"]),
    claims: (
        "Confirmed: It helps: 0.5.",
        ["It helps", "It helps: 0.5.", "accuracy", 0.25, 0.75, 0.5, "Confirmed"],
    ),
    codebook: ("1 Price; fares; 41 texts", ["1", "Price", "fares", 41]),
    suggested: ("2 Price; fares; 50 %; 41 texts", ["2", "Price", "fares", 0.5]),
    narrow_shares: ("Price: 25.0 % (12.5 % to 50.0 %)", ["Price", 0.25, 0.125, 0.5, 0.375]),
    shares: ("Price: 25.0 % (12.5 % to 50.0 %)", ["Price", 0.125, 0.5, 0.375, 0.25]),
    member_scores: ("ELMo: 29.0 (25.0 to 33.0)", ["ELMo", "2018", 29.0, 25.0, 33.0, "", "30"]),
    poolings: ("[CLS]\nTexts whose nearest", ["[CLS]", 0.5, 0.6, 0.9, 0.8, 0.85]),
    slices: (
        "short: 50.0 % of 8 texts are right (25.0 % to 75.0 %), 90.0 % of the rest; p = 0.01",
        ["short", 8, 0.5, 0.25, 0.75, 0.9, "= 0.01"],
    ),
    tally: (ROUND, ["The [MASK] flows.", "river", "lake", 0, "river", 1, 0.5, 0.5]),
    ways: ("whole: 62.5 % (95 %: 40.0 % to 80.0 %)", ["whole", 0.625, 0.4, 0.8, 0.5, 0.75]),
}
every = pytest.mark.parametrize("make", EVERY, ids=lambda make: make.__name__)
walked = pytest.mark.parametrize(
    "make", [one for one in EVERY if EVERY[one][0]], ids=lambda make: make.__name__
)


def shown(qtbot: QtBot, make) -> ColumnsFigure:
    plot = make()
    qtbot.addWidget(plot)
    plot.resize(420, 200)
    plot.show()
    QApplication.processEvents()
    return plot


@every
def test_what_is_written_is_all_of_a_row_under_its_names(qtbot: QtBot, make) -> None:
    plot = shown(qtbot, make)
    header, first, *_rest = plot.numbers()
    assert first == EVERY[make][1] and len(header) == len(first) and not plot.is_empty
    plot.clear()
    assert plot.is_empty and plot.num_rows == 0
    plot.canvas().grab()


@walked
def test_keys_say_each_row_and_the_mouse_finds_it(qtbot: QtBot, make) -> None:
    plot = shown(qtbot, make)
    qtbot.keyClick(plot, Qt.Key.Key_Home)
    assert plot.current == 0 and plot.accessibleDescription().startswith(EVERY[make][0])
    assert plot.target_at(plot.rect_of(1).center()) == 1
    qtbot.keyClick(plot, Qt.Key.Key_Escape)
    assert plot.accessibleDescription() == plot.summary()


@every
def test_no_column_leaves_the_picture_and_none_lies_over_another(qtbot: QtBot, make) -> None:
    plot = shown(qtbot, make)
    for width in (160, 300, 420, 900):
        plot.resize(width, 200)
        QApplication.processEvents()
        plot.grab()
        spans = list(plot.spans())
        if width >= 420:
            ends = [end for _column, *ends in spans for end in ends]
            assert ends == sorted(ends) and ends[0] >= 0 and ends[-1] <= plot.canvas().width()


@walked
def test_a_saved_picture_shows_no_row_as_marked(qtbot: QtBot, make, tmp_path) -> None:
    plot = shown(qtbot, make)
    save_figure(plot, tmp_path / "before.png")
    qtbot.keyClick(plot, Qt.Key.Key_Home)
    save_figure(plot, tmp_path / "after.png")
    assert (tmp_path / "after.png").read_bytes() == (tmp_path / "before.png").read_bytes()


@pytest.mark.parametrize(("make", "place"), [(class_scores, 0), (slices, 1)])
def test_a_row_that_is_a_door_is_told_and_the_mean_is_none(qtbot: QtBot, make, place: int) -> None:
    plot, told = shown(qtbot, make), list[int]()
    plot.chosen.connect(told.append)
    for row in (place, 1):
        at = plot.rect_of(row).center().toPoint()
        qtbot.mouseClick(plot.canvas(), Qt.MouseButton.LeftButton, pos=at)
    assert told == ([0] if make is class_scores else [1, 1])
