"""One picture of each kind, with something on it: what all of them do is tested on these."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from app.plots.agreement_rows import AgreementPlot, AgreementRow
from app.plots.arcs import ArcsPlot
from app.plots.attention_image import compose, compose_mosaic
from app.plots.attribution import AttributedBars, AttributedText, ScoredWord
from app.plots.bars import BarsPlot
from app.plots.bins import BinsPlot, TextGroup
from app.plots.blank_curves import BlankCurvesPlot
from app.plots.claim_rows import ClaimRow, ClaimRowsPlot
from app.plots.confusion import ConfusionPlot
from app.plots.corrected_words import CorrectedWordsPlot
from app.plots.curve import CurvePlot
from app.plots.difference import DifferencePlot
from app.plots.family_columns import FamilyColumns
from app.plots.figure import Figure
from app.plots.guesses import GuessesPlot, GuessRow
from app.plots.heatmap import HeatmapPlot
from app.plots.hidden_word import HiddenWord, HiddenWordPlot
from app.plots.histogram import HistogramPlot
from app.plots.history import HistoryPlot
from app.plots.layer_lines import LayerLine, LayerLinesPlot
from app.plots.layer_slider import LayerSlider
from app.plots.layers import LayerGuesses, LayersPlot
from app.plots.learned import LearnedPlot
from app.plots.loss_curves import LossCurvesPlot
from app.plots.marks import PointClasses
from app.plots.member_column import (
    BLANK,
    SEEN_BAG,
    SEEN_FILL,
    UNSEEN,
    FamilyLabels,
    MemberColumn,
    SeenWord,
    WordEntry,
)
from app.plots.member_scores import MemberScoresPlot, ReachedRow
from app.plots.merges import MergesPlot
from app.plots.mosaic import MosaicPlot
from app.plots.passage import ANSWER, PassagePlot, ShadedWord
from app.plots.piece_flow import FlowPiece, PieceFlow
from app.plots.pieces import PiecesPlot
from app.plots.pieces_layout import PieceChip, WordColumn
from app.plots.plane import PlanePlot
from app.plots.query_key import QueryKeyPlot
from app.plots.run_curves import RunCurvesPlot, RunLine
from app.plots.sample_curve import SampleCurvePlot, SamplePoint
from app.plots.scatter import ScatterPlot
from app.plots.score_scale import ScoreLine, ScoreScalePlot
from app.plots.seen_rows import SeenRow, SeenRows
from app.plots.similarity import SimilarityPlot, picture_of
from app.plots.slope import SlopePlot
from app.plots.spelled_ways import WaysPlot
from app.plots.step_chips import StepChip, StepChips, StepGroups
from app.plots.tag_text import TagTextPlot
from app.plots.tagged_words import PREDICTED, TRUE, TaggedStretch, TaggedWordsPlot, tagged_words
from app.plots.tokens import HIDDEN, UNTOUCHED, MaskedExample, TokensPlot
from app.plots.word_chips import MaskableWord, WordChips
from app.plots.word_paths import WordPathsPlot, WordUse
from app.plots.word_strip import RatedWord, WordStrip
from app.plots.worked_sum import WorkedSum, WorkedTerms
from engine.inspect.attention.views import View, strongest, tiles, view
from engine.inspect.attention.weights import HeadAttention
from engine.text.merges import Merge, MergedBytes
from engine.text.ways import KnownPiece, SpelledWays
from tests.app.attention_scenes import look_at

LABELS = [
    "business",
    "entertainment",
    "politics",
    "sport",
    "tech",
    "arts",
    "law",
]  # 7: axes that are swapped fail
STEPS = np.arange(1.0, 20.0)
VALUES = np.array([[1, 0.2, 0.3], [0.2, 1, 0.5], [0.3, 0.5, 1]], np.float32)
TEXTS = ("good film", "bad film", "a dull one")


# Over axes


def curve() -> CurvePlot:
    plot = CurvePlot("Loss", kind="loss")
    plot.append(np.arange(1, 38), np.linspace(2.0, 0.2, 37))
    plot.append_validation([13, 37], [1.1, 0.3])
    plot.flush()
    return plot


def learned() -> LearnedPlot:
    plot = LearnedPlot("During training")
    plot.set_lines([0, 4, 30], {"bank": [0.0, 0.1, 0.6], "river": [0.0, 0.2, float("nan")]})
    plot.set_cursor(4)
    return plot


def run_curves(plot: RunCurvesPlot | None = None) -> RunCurvesPlot:
    plot = plot or RunCurvesPlot("Runs")
    first = RunLine("A", "tiny", STEPS, 1 / STEPS, 0.1 / STEPS)
    plot.set_lines([first, RunLine("B", "small", 2 * STEPS, 1.3 / STEPS, 0 * STEPS)], "loss")
    return plot


def loss_curves() -> RunCurvesPlot:
    return run_curves(LossCurvesPlot("Losses", "words read"))


def blank_curves() -> RunCurvesPlot:
    plot = BlankCurvesPlot("Blanks", "words read")
    read, none = 1000.0 * STEPS, 0 * STEPS
    lines = [RunLine("", "GPT", read, 0.3 + none, none), RunLine("", "BERT", read, 0.01 * STEPS, none)]
    plot.show_curves(lines, [(30_000.0, 0.3)], "blanks filled")
    return plot


def history() -> HistoryPlot:
    plot = HistoryPlot("History")
    plot.set_history([3, 9, 18], STEPS, 3 / STEPS, 1)
    return plot


def histogram() -> HistogramPlot:
    plot = HistogramPlot("Length", x_label="pieces")
    plot.set_values(np.concatenate([np.arange(10, 610), [5000]]), maximum=512)
    return plot


def bins() -> BinsPlot:
    plot = BinsPlot("Groups")
    shares = (0.2, 0.5, 0.9)
    plot.set_groups([TextGroup(f"{x}", f"of {x}", 9, x, x - 0.1, x + 0.1, 0.6) for x in shares], "sureness")
    return plot


def slope() -> SlopePlot:
    plot = SlopePlot("Slopes")
    values = np.array([[0.1, 0.4, 0], [0.3, 0.2, 0]])
    plot.set_values(["he", "she"], ["nurse", "doctor", "x"], values, in_percent=True)
    return plot


def layer_lines() -> LayerLinesPlot:
    plot = LayerLinesPlot("Layers")
    first = LayerLine("one sense", np.array([0.8, 0.7, np.nan]))
    plot.set_lines([first, LayerLine("two", np.array([0.8, 0.5, 0.4]))])
    return plot


def sample_curve() -> SampleCurvePlot:
    plot = SampleCurvePlot("Accuracy by labels")
    plot.set_points([SamplePoint(80, 20, 0.75, 0.5, 0.9, 0.7), SamplePoint(200, 50, 0.9, 0.78, 0.96, 0.82)])
    return plot


def layer_slider() -> LayerSlider:
    plot = LayerSlider("Layers")
    first = LayerLine("same meaning", np.array([1.0, 0.8, 0.7]))
    plot.set_lines([first, LayerLine("other meaning", np.array([1.0, 0.6, 0.4]))])
    return plot


def word_paths() -> WordPathsPlot:
    plot = WordPathsPlot("Paths")
    ends = np.array([[0.0, 0.1], [-0.3, 0.2], [0.4, -0.1]])
    maps = np.stack([np.stack([0 * ends, ends / 2, ends])] * 3)
    uses = [WordUse("The ", "bank", f" {end}.") for end in ("lends", "pays", "is wet")]
    plot.set_paths(maps, uses, PointClasses("meaning", ("money", "river"), np.array([0, 0, 1])), 1)
    plot.set_position(2)
    plot.set_notes({2: "nearest: “money”"})
    plot.set_chosen(0)
    return plot


def plane() -> PlanePlot:
    plot = PlanePlot("Precision and recall")
    points = np.array([[0.1, 0.9], [0.5, 0.8], [0.9, 0.3]])
    said, unit = ("first", "second", "third"), (0.0, 1.0)
    plot.set_points(points, said, ("recall", "precision"), (unit, unit), is_joined=True)
    return plot


def score_scale() -> ScoreScalePlot:
    plot = ScoreScalePlot("Scores")
    plot.set_lines([ScoreLine("this model", 0.87, 0.83, 0.91, "a note"), ScoreLine("words counted", 0.81)])
    return plot


def difference() -> DifferencePlot:
    plot = DifferencePlot("Difference")
    plot.set_difference(1.7, (-0.2, 3.4), (1.1, 2.2), ("A better", "B better"))
    return plot


def scatter() -> ScatterPlot:
    plot = ScatterPlot("Map")
    plot.set_points(np.array([[0, 0], [4, 3], [1, 2]]), TEXTS)
    return plot


# Matrices, and rows of cells


def confusion() -> ConfusionPlot:
    plot = ConfusionPlot("Confusion")
    counts = np.diag([99, 75, 82, 101, 76, 9, 3])
    counts[3, 4] = 12
    plot.set_confusion(LABELS, counts)
    return plot


def similarity() -> SimilarityPlot:
    plot = SimilarityPlot("Similarity")
    plot.set_matrix(picture_of(VALUES), VALUES, TEXTS)
    return plot


def heatmap() -> HeatmapPlot:
    plot, shown = HeatmapPlot("Attention"), view(look_at(9, 5), View())
    plot.set_picture(compose(shown.values), shown)
    return plot


def arcs(way: str = "columns") -> ArcsPlot:
    plot, shown = ArcsPlot("Arcs"), view(look_at(9, 5), View())
    plot.set_layout(way)
    plot.set_arcs(shown, strongest(shown, 300))
    return plot


def arcs_on_a_line() -> ArcsPlot:
    return arcs("line")


def mosaic() -> MosaicPlot:
    plot = MosaicPlot("Heads")
    plot.set_mosaic(compose_mosaic(tiles(look_at(9, 5), View(), 32)))
    return plot


def query_key() -> QueryKeyPlot:
    rng, plot = np.random.default_rng(6), QueryKeyPlot("Queries")
    query, keys, values = rng.normal(size=8), rng.normal(size=(6, 8)), rng.normal(size=(6, 8))
    scores = keys @ query / 8**0.5
    weights = np.exp(scores) / np.exp(scores).sum()
    found = (query, keys, keys * query, scores, weights, values, weights @ values)
    floats = (np.asarray(one, np.float32) for one in found)
    plot.set_detail(HeadAttention(1, 2, 3, ("the", "cat", "sat", "on", "a", "mat"), *floats))
    return plot


def layers() -> LayersPlot:
    plot = LayersPlot("Layers")
    plot.set_layers(
        [LayerGuesses((("the", 0.1),), 0.001, 90), LayerGuesses((("bank", 0.8), ("sea", 0.1)), 0.8, 1)],
        "bank",
    )
    return plot


def agreement() -> AgreementPlot:
    plot = AgreementPlot("Agreement")
    plot.show_rows(
        [
            AgreementRow("Cohen's kappa <b>", 0.8, (0.7, 0.9), is_share=False, limit=0.667),
            AgreementRow("b", None, None),
        ]
    )
    return plot


def bars() -> BarsPlot:
    plot = BarsPlot("Labels")
    plot.set_bars([("sport", 511), ("tech <b>", 401)])
    return plot


def claim_rows() -> ClaimRowsPlot:
    plot = ClaimRowsPlot("Claims")
    plot.show_rows(
        [
            ClaimRow("Both sides help", "accuracy", 0.438, 0.344, 0.535, "Confirmed", "fine", "It helps."),
            ClaimRow("Vectors help", "accuracy", -0.02, -0.05, 0.01, "Inconclusive", "muted", "Who knows."),
            ClaimRow("Order helps", "accuracy", 0.1, 0.05, 0.2, "No verdict", "muted", "Untold.", True),
        ]
    )
    return plot


def member_scores() -> MemberScoresPlot:
    plot = MemberScoresPlot("Scores")
    plot.unable = "n/a"
    plot.show_scores(
        [
            ReachedRow("n-gram", "1995", None, facts=("10",)),
            ReachedRow("GPT", "2018", 13.8, 11.1, 17.1, "13.8", "11.1 to 17.1", False, ("20",)),
            ReachedRow("ELMo", "2018", 29.0, 25.2, 33.1, "29.0", "25.2 to 33.1", True, ("30",)),
        ],
        is_less_better=False,
        chance=8.0,
        chance_words="by chance 8.0 %",
        heads=("Weights",),
    )
    return plot


SEEN_WORDS = (
    SeenWord("the", SEEN_FILL),
    SeenWord("", BLANK),
    SeenWord("runs", SEEN_BAG),
    SeenWord(".", UNSEEN),
)


def seen_rows() -> SeenRows:
    plot = SeenRows("What may each see?")
    plot.show_members([SeenRow(name, "2018", "all", "It reads all.", SEEN_WORDS) for name in ("GPT", "BERT")])
    return plot


def family_columns() -> FamilyColumns:
    plot = FamilyColumns("Family")
    column = MemberColumn(
        "BERT", "2018", "Places", words=SEEN_WORDS, entries=(WordEntry("dog", 0.008, True),)
    )
    plot.set_columns([column] * 2, FamilyLabels(seen=("May see", ""), says=("Guesses", "")))
    return plot


def guesses() -> GuessesPlot:
    plot = GuessesPlot("Gap 1")
    top = [GuessRow("river", 0.5, 1), GuessRow("bank", 0.25, 2, "original"), GuessRow("sea", 0.1, 3)]
    plot.set_guesses(top, [GuessRow("lake", 0.001, 57, "yours")])
    return plot


def worked_sum() -> WorkedSum:
    plot = WorkedSum("Sum")
    plot.set_sum(WorkedTerms(["first", "second"], [0.5, -0.2], total=0.3, can_click=True))
    return plot


# Words


def word_chips() -> WordChips:
    plot = WordChips("Sentence")
    plot.set_chips([MaskableWord("good", 0), MaskableWord("film", 0, gap=1), MaskableWord("bad", 1)])
    return plot


def word_strip() -> WordStrip:
    plot = WordStrip("Surprisal", what="bits")
    values = {"good": 1.0, "film": 7.0, "!": 0.0}
    plot.set_words([RatedWord(text, 0, value, f"{value:.1f}") for text, value in values.items()])
    return plot


def passage() -> PassagePlot:
    plot = PassagePlot("Passage")
    plot.set_words([ShadedWord("from"), ShadedWord("France", value=0.9, marks=frozenset([ANSWER]))])
    return plot


def tagged() -> TaggedWordsPlot:
    plot, text = TaggedWordsPlot("Tags"), "Mary lives in New York"
    words = tagged_words(text, [TaggedStretch(0, 4, "PER")], [TaggedStretch(14, 22, "LOC")])
    plot.set_text(words, ("PER", "LOC"), (TRUE, PREDICTED))
    return plot


def corrected() -> CorrectedWordsPlot:
    plot, text = CorrectedWordsPlot("Changes"), "我跟朋唷去"
    words = tagged_words(text, [TaggedStretch(3, 4, "友")], [TaggedStretch(3, 4, "有", "0.97")])
    plot.set_text(words, (), (TRUE, PREDICTED))
    return plot


def tag_text() -> TagTextPlot:
    plot, text = TagTextPlot("A text to tag"), "Mary lives in York"
    pieces = ((0, 4), (5, 10), (11, 13), (14, 18))
    plot.show_text(text, pieces, [TaggedStretch(0, 4, "PER")], ("PER", "LOC"))
    return plot


def attributed_text() -> AttributedText:
    plot = AttributedText("What each word adds")
    plot.set_words([ScoredWord("good", 0, 0.5), ScoredWord("film", 0, -0.2)])
    return plot


def attributed_bars() -> AttributedBars:
    plot = AttributedBars("What each word adds")
    plot.set_words([ScoredWord("good", 0, 0.5), ScoredWord("film", 0, -0.2)])
    return plot


def tokens() -> TokensPlot:
    plot = TokensPlot("Examples")
    words, shown = ("the", "cat"), ("the", "[MASK]")
    plot.set_strips([MaskedExample("Example 1", "", None, words, shown, (UNTOUCHED, HIDDEN), (0, 0))])
    return plot


def pieces() -> PiecesPlot:
    plot = PiecesPlot("Pieces")
    chips = (PieceChip("play", 7, 0, "piece", 0, 4), PieceChip("##ing", 8, 1, "piece", 4, 7))
    plot.set_columns([WordColumn("playing", 0, 0, chips)])
    return plot


def merges() -> MergesPlot:
    plot = MergesPlot("Merges")
    first, second = Merge(8, 1, ("Ġ", "go", "d")), Merge(11, 0, ("Ġgo", "d"))
    plot.set_merges(MergedBytes(("Ġ", "g", "o", "d"), (first, second), 17))
    return plot


def spelled_ways() -> WaysPlot:
    plot = WaysPlot("Ways")
    known = (
        KnownPiece("▁play", 0, -5.0),
        KnownPiece("ing", 5, -5.5),
        KnownPiece("in", 5, -6.0),
        KnownPiece("g", 7, -8.0),
    )
    plot.set_ways(
        SpelledWays(("▁play", "ing"), (-5.0, -5.5), ("▁play", "in", "g"), (-5.0, -6.0, -8.0), known)
    )
    return plot


def piece_flow() -> PieceFlow:
    plot = PieceFlow("Pieces")
    plot.set_words(
        (FlowPiece("play", span="play", id=7), FlowPiece("[UNK]", span="é", id=1, is_unknown=True))
    )
    return plot


def step_chips() -> StepChips:
    plot = StepChips("Steps")
    plot.set_steps((StepChip("Pieces", "In"), StepChip("Add", "Layer 1", is_off=True)), 1)
    return plot


def hidden_word() -> HiddenWordPlot:
    plot = HiddenWordPlot("A hidden word")
    plot.set_hidden_word(
        HiddenWord(("the", "cat", "."), 1, (("cat", 0.5), ("dog", 0.25)), (0.25, 0.5, 0.125))
    )
    return plot


def step_groups() -> StepGroups:
    plot = StepGroups("Groups of steps")
    plot.set_steps((StepChip("Pieces", "In"), StepChip("Add", "Layer 1", is_changed=True)), 1)
    return plot


OVER_AXES: tuple[Callable[[], Figure], ...] = (
    *(curve, learned, run_curves, loss_curves, blank_curves, history, histogram, bins, slope),
    *(layer_lines, plane),
    *(score_scale, difference, scatter, layer_slider, word_paths, claim_rows, member_scores),
    sample_curve,
)
MATRICES: tuple[Callable[[], Figure], ...] = (
    *(confusion, similarity, heatmap, arcs, arcs_on_a_line, mosaic, query_key, layers, bars, guesses),
    worked_sum,
    agreement,
)
WORDS: tuple[Callable[[], Figure], ...] = (
    *(word_chips, word_strip, passage, tagged, tag_text, attributed_text, attributed_bars, tokens, pieces),
    *(merges, spelled_ways, piece_flow, corrected),
    *(step_chips, step_groups, hidden_word, seen_rows, family_columns),
)
ALL = (*OVER_AXES, *MATRICES, *WORDS)
NEVER_EMPTIED = (
    run_curves,
    loss_curves,
    blank_curves,
    history,
    bins,
    score_scale,
    difference,
    step_chips,
    step_groups,
    hidden_word,
)
