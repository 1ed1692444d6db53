"""What a family is asked beside blanks: each answer against one worked out here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from engine.errors import UserError
from engine.events import result_of
from engine.family.ask import Family, rank_of
from engine.family.bert import BertMember
from engine.family.blanks import draw_blanks, sentences
from engine.family.claims import two_in_a_row
from engine.family.limits import limits
from engine.family.members import NUM_SPECIALS, SEP, HasVectors
from engine.family.reached import correlations, perplexities, perplexity, rank_score, shares
from engine.family.scores import draw_pairs, known_log, pseudo_logs, scores
from engine.family.senses import MemberSenses, read_groups, senses, told_apart, turned
from engine.family.tasks import LabelledTexts, add_tuned_hits, frozen_hits
from engine.family.train import read_report
from engine.family.trainings import Trainings
from engine.family.verdicts import BOTH_SIDES, IN_A_ROW, Claim, ClaimStart, judged, judged_of
from engine.family.words import analogies, nearest, similarities
from engine.family.writing import go_on
from engine.inspect.masked.perplexity import pseudo_perplexity
from tests.engine.typed import Engine, is_one_sentence

LEFT = {"ngram", "nnlm", "elmo", "gpt"}


@pytest.fixture(scope="module")
def opened(family: Path) -> Family:
    return Family.open(family)


def test_those_that_read_from_the_left_go_on_and_no_other_does(opened: Family) -> None:
    found = go_on(opened, "the cat", 6, 0.0, 1)
    assert set(found) == LEFT
    assert all(len(text.split()) <= 6 and "[" not in text for text in found.values())
    assert go_on(opened, "the cat", 6, 0.0, 2) == found  # nothing is drawn
    drawn = [go_on(opened, "the cat", 6, 1.0, seed) for seed in (1, 2)]
    assert go_on(opened, "the cat", 6, 1.0, 1) == drawn[0] != drawn[1]


def test_the_nearest_words_are_by_cosine_and_a_word_is_not_its_own_neighbour(opened: Family) -> None:
    found = nearest(opened, "cat", 3)
    assert "ngram" not in found and {"nnlm", "glove", "bert"} <= set(found)
    for name, guesses in found.items():
        member = opened.members[name]
        assert isinstance(member, HasVectors)
        v = member.vectors().astype(np.float64)
        cat, other = (v[opened.word(word)] for word in ("cat", guesses[0].word))
        cosine = cat @ other / np.linalg.norm(cat) / np.linalg.norm(other)
        assert guesses[0].word != "cat"
        assert guesses[0].value == pytest.approx(cosine, abs=1e-5)
    with pytest.raises(UserError, match="xylophone"):
        nearest(opened, "xylophone")


def test_analogies_are_counted_right_where_the_vectors_make_them_right(opened: Family) -> None:
    class Made:
        def vectors(self) -> np.ndarray:
            v = np.tile([0.0, 0.0, 0.0, 1.0], (opened.wordpiece.vocab_size, 1))
            v[[opened.word(word) for word in ("cat", "dog", "king")]] = np.eye(4)[:3]
            v[opened.word("queen")] = (-1, 1, 1, 0)
            return v

    asked = [
        ("cat", "dog", "king", "queen"),
        ("cat", "dog", "king", "ship"),
        ("cat", "dog", "king", "xylophone"),
    ]
    found = analogies(Family(opened.folder, opened.wordpiece, {"nnlm": Made()}), asked)  # type: ignore[dict-item]
    score = found["nnlm"].score
    assert score is not None and (score.value, score.count, found["nnlm"].left_out) == (0.5, 2, 1)


def test_similarity_is_spearmans_correlation_and_unknown_words_are_left_out(opened: Family) -> None:
    pairs = [("cat", "dog", 9.0), ("cat", "ship", 1.0), ("king", "queen", 8.0), ("cow", "xylophone", 5.0)]
    for one in similarities(opened, pairs).values():
        assert one.left_out == 1 and one.score is not None and one.score.count == 3
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40))
    score = rank_score(x, x + y)
    assert score is not None and score.value == pytest.approx(spearmanr(x, x + y).statistic)
    assert score.low < score.value < score.high


def test_a_word_is_one_point_for_some_and_moves_with_its_sentence_for_others(opened: Family) -> None:
    found = senses(opened, "cat", ["the cat eats fish .", "the dog sees the cat and the cow ."])
    assert found["glove"].likeness == (pytest.approx(1.0),) and found["glove"].states.shape[:2] == (1, 2)
    for name in ("elmo", "gpt", "bert"):
        assert found[name].likeness[-1] < 0.999 and found[name].points.shape == (3, 2, 2)
    for texts in (["the cat eats fish ."], ["the cat eats .", "the dog eats ."]):
        with pytest.raises(UserError):
            senses(opened, "cat", texts)


def test_points_are_turned_so_that_a_word_moves_little_from_layer_to_layer() -> None:
    rng = np.random.default_rng(3)
    points = rng.normal(size=(7, 2))
    angle = 2.0
    rotation = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    np.testing.assert_allclose(turned(points @ rotation, points), points, atol=1e-12)


def test_senses_are_told_apart_by_the_nearest_sentence() -> None:
    assert read_groups("\na\nb\n\n\nc\n") == [("a", 0), ("b", 0), ("c", 1)]
    last = np.array([[1.0, 0.0], [1.0, 0.1], [0.0, 1.0], [0.1, 1.0], [1.0, 0.05]])
    made = MemberSenses(np.stack([last, last]), (1.0, 0.5), np.zeros((2, 5, 2)))
    apart = told_apart(made, (0, 0, 1, 1, 1))
    assert apart is not None and apart.hits == (False, False, True, True, False)
    assert told_apart(MemberSenses(last[None], (1.0,), np.zeros((1, 5, 2))), (0, 0, 1, 1, 1)) is None
    assert told_apart(made, (0, 0, 0, 0, 0)) is None


def test_what_a_member_cannot_is_asked_of_it_before_it_is_told(opened: Family) -> None:
    found = limits(opened, "the [MASK] eats fish .")
    assert set(opened.members) - set(found) <= {"bert"}
    assert str(found["gpt"]).startswith("Without “eats fish”")
    words = opened.words("the [MASK] eats fish .")
    first = opened.token(5 + int(opened.scores("gpt", words, 1)[5:].argmax()))
    assert f"“{first}”" in str(found["gpt"])
    assert "gpt" not in limits(opened, "the cat eats [MASK]")  # nothing stands there that it could miss
    assert "gpt" not in limits(opened, "the cat eats [MASK] .")  # nor does a stop alone tell anything


def test_half_of_the_pairs_of_sentences_follow_one_another() -> None:
    words = np.concatenate([[*range(5 + 7 * n, 12 + 7 * n), SEP] for n in range(30)])
    pairs = draw_pairs(words, 20)
    assert len(pairs) == 20 and sum(does for *_, does in pairs) in (10, 11, 12)
    for a, b, does in pairs:
        assert (b[0] == a[-1] + 1) == does
    assert draw_pairs(words[:8]) == []


def test_of_equal_scores_the_commoner_word_stands_first() -> None:
    scores = np.array([0.9, 0.9, 0.9, 0.9, 0.9, 0.1, 0.2, 0.2, 0.1])
    assert [rank_of(scores, word) for word in (5, 6, 7, 8)] == [3, 1, 2, 4]


def test_perplexity_is_exp_of_the_mean_and_sentences_are_drawn_anew_for_its_interval() -> None:
    logs = np.log(np.array([0.5, 0.25, 0.125, 0.5, 0.5, 0.25]))
    score = perplexity(logs, np.array([0, 0, 1, 1, 2, 2]))
    assert score.value == pytest.approx(np.exp(-logs.mean())) and score.low < score.value < score.high


def test_pseudo_perplexity_hides_each_word_alone_as_the_rest_of_the_program_does(opened: Family) -> None:
    bert = opened.members["bert"]
    assert isinstance(bert, BertMember)
    text = "the cat eats fish and milk ."
    stream = np.array([*opened.words(text), SEP])
    logs, _ = pseudo_logs(bert, draw_blanks(stream))
    theirs = result_of(pseudo_perplexity(bert.subject, text))
    np.testing.assert_allclose(logs.sum(), theirs.log_likelihood, rtol=1e-4)
    assert len(sentences(stream)) == 1


def test_a_report_keeps_the_two_perplexities_apart_and_says_who_cannot(family: Path) -> None:
    report = read_report(family)
    for kind in ("perplexity", "perplexity_known", "perplexity_unknown", "perplexity_ends"):
        assert set(report["scores"][kind]) <= LEFT, kind
    assert set(report["scores"]["perplexity_known"]) == LEFT
    assert set(report["scores"]["blank_perplexity"]) == LEFT | {"bert"}
    assert set(report["scores"]["pseudo_perplexity"]) == {"bert"}
    assert set(report["scores"]["blanks"]) == set(report["members"])
    for one in report["claims"]:
        assert one["first"] - one["second"] == pytest.approx(one["difference"], abs=1e-9)


def test_known_words_unknown_ones_and_ends_make_up_all_that_is_foreseen(opened: Family) -> None:
    text = np.array([*opened.words("the cat xylophone fish ."), SEP] * 4)
    counts = np.bincount(text, minlength=opened.wordpiece.vocab_size)
    found = result_of(scores(Trainings((opened,)), text, counts)).by_name
    for name in LEFT:
        parts = [found[f"perplexity_{kind}"][name] for kind in ("known", "unknown", "ends")]
        assert [one.count for one in parts] == [16, 4, 4]
        logs = sum(np.log(one.value) * one.count for one in parts)
        assert np.exp(logs / 24) == pytest.approx(found["perplexity"][name].value)
    words, place = opened.words("the cat eats fish ."), 2
    given = opened.scores("gpt", words, place)
    among = given[NUM_SPECIALS:] / given[NUM_SPECIALS:].sum()
    assert known_log(given, words[place]) == pytest.approx(np.log(among[words[place] - NUM_SPECIALS]))


def _claim(said: str, difference: float, low: float, high: float, p: float = 0.001) -> Claim:
    none = ClaimStart(0.0, -0.05, 0.05, ())
    return Claim(said, "share of blanks filled", 0.5, 0.5 - difference, difference, low, high, 9, p, none)


def test_a_verdict_wants_an_interval_beyond_nothing_a_size_and_a_p_among_all_claims() -> None:
    for difference, low, high, p, wanted in (
        (0.2, 0.1, 0.3, 0.001, "holds"),
        (-0.2, -0.3, -0.1, 0.001, "does not hold"),
        (0.0, -0.1, 0.1, 0.9, "cannot be told"),
        (-0.001, -0.0015, -0.0005, 0.001, "cannot be told"),  # sure, and too small to speak of
        (0.2, 0.01, 0.39, 0.03, "cannot be told"),  # one of two claims
    ):
        claims = [_claim(IN_A_ROW.text, difference, low, high, p), _claim("x", 0.0, -1, 1, 1.0)]
        assert judged(claims, informed=False)[0].verdict == wanted, difference
        if p == 0.03:
            assert judged(claims[:1], informed=False)[0].verdict == "holds"


def test_neither_a_head_start_nor_a_member_that_learned_nothing_makes_a_verdict() -> None:
    claims = [_claim(one.text, 0.2, 0.1, 0.3) for one in (*BOTH_SIDES, IN_A_ROW)]

    def verdicts(informed: bool, *at_start: str) -> list[str]:
        return [one.verdict for one in judged(claims, informed=informed, at_start=at_start)]

    assert verdicts(False) == ["holds"] * 3
    assert verdicts(True) == ["no verdict", "no verdict", "holds"]
    assert verdicts(False, "gpt") == ["holds", "no verdict", "holds"]
    assert verdicts(False, "bert") == ["no verdict"] * 3
    for start, wanted in (
        (ClaimStart(0.1, 0.05, 0.15, ()), "no verdict"),  # the start alone gives it
        (ClaimStart(-0.1, -0.15, -0.05, ()), "holds"),  # the contrary is there at first
        (ClaimStart(0.1, -0.02, 0.22, ()), "holds"),
        (ClaimStart(0.0, -0.05, 0.05, ("gpt",)), "no verdict"),  # no better than before training
        (None, "no verdict"),  # nobody knows
    ):
        assert judged([replace(claims[1], start=start)], informed=False)[0].verdict == wanted, start
    old = [{"claim": BOTH_SIDES[0].text, "measure": "m", "first": 0.3, "second": 0.1, "difference": 0.2}]
    old[0] |= {"low": 0.1, "high": 0.3, "count": 500, "verdict": "holds"}  # as it was written before
    for informed in (True, False):
        report = {"informed_start": informed, "claims": old}
        assert [one.verdict for one in judged_of(report)] == ["no verdict"]


def test_who_guesses_by_frequency_alone_is_said_to_be_at_its_start(opened: Family) -> None:
    rng, size = np.random.default_rng(0), opened.wordpiece.vocab_size
    text = np.concatenate(
        [[*rng.choice(np.arange(5, 25), 8, p=np.arange(20, 0, -1) / 210), SEP] for _ in range(60)]
    )
    counts = np.bincount(text, minlength=size)

    class Frequent:
        def blank(self, words: object, place: int) -> np.ndarray:
            return (counts + 1.0) / (counts + 1.0).sum()

    nowhere = opened.folder / "nowhere"  # of which no start is known
    made = Family(nowhere, opened.wordpiece, {"nnlm": Frequent()})  # type: ignore[dict-item]
    assert result_of(scores(Trainings((made,)), text, counts)).at_start == ("nnlm",)


@pytest.mark.slow
def test_the_best_are_told_by_a_paired_test_and_nobody_at_chance_is_one() -> None:
    rng = np.random.default_rng(1)
    hard = rng.random(400) < 0.5
    better = np.where(rng.random(400) < 0.06, True, hard)  # right wherever the other is, and at times else
    found = shares({"a": hard, "b": better, "c": rng.random(400) < 0.1}, 0.2)
    assert found["a"].high > found["b"].low  # by the intervals nobody could tell them apart
    assert [name for name, one in found.items() if one.is_best] == ["b"]
    assert not any(one.is_best for one in shares({"a": hard, "b": better}, 0.6).values())
    people = np.arange(9.0)
    few = {
        "a": np.array([4, 5, 2, 6, 0, 3, 1, 8, 7.0]),
        "b": -people,
        "c": people + [0, 3, 0, 0, 0, 0, 0, 0, 0],
    }
    assert [name for name, one in correlations(few, people).items() if one.is_best] == ["c"]
    logs = rng.normal(-3, 1, 400)
    told = perplexities({"a": logs, "b": logs + 0.1, "c": logs + 0.1}, np.arange(400), np.full(400, -4.0))
    assert [name for name, one in told.items() if one.is_best] == ["b", "c"]


def test_intervals_of_correlations_stay_within_one_and_cover() -> None:
    rng, covered = np.random.default_rng(2), 0
    truth = 6 / np.pi * np.arcsin(0.6 / 2)  # of ranks, where that of the normal numbers is 0.6
    for _ in range(1000):
        x = rng.normal(size=9)
        one = rank_score(x, 0.6 * x + 0.8 * rng.normal(size=9))
        assert one is not None and -1 <= one.low <= one.value <= one.high <= 1
        covered += one.low <= truth <= one.high
    assert 0.92 <= covered / 1000 <= 0.985


def test_two_blanks_in_a_row_are_asked_together_and_one_after_the_other(opened: Family) -> None:
    bert = opened.members["bert"]
    assert isinstance(bert, BertMember)
    blanks = draw_blanks(np.array([*opened.words("the cat eats fish and milk ."), SEP]))
    words, place = blanks[0].words, blanks[0].place
    claims = two_in_a_row(Trainings((opened,)), blanks)
    if place + 1 < len(words):
        both = bert.blanks([(words, (place, place + 1))])[0][1][words[place + 1]]
        assert claims[0].second == pytest.approx(np.log(both), rel=1e-4)
        assert claims[0].first == pytest.approx(
            np.log(bert.blank(words, place + 1)[words[place + 1]]), rel=1e-4
        )


@pytest.mark.slow
def test_the_same_task_is_learned_by_all_frozen_and_by_those_with_weights_fine_tuned(opened: Family) -> None:
    rng = np.random.default_rng(0)
    kinds = [
        [opened.word(word) for word in words] for words in (("cat", "dog", "fish"), ("ship", "port", "sea"))
    ]
    labels = np.arange(60) % 2
    words = [tuple(int(one) for one in rng.choice(kinds[label], 4)) for label in labels]
    learned, asked = LabelledTexts(words[:40], labels[:40]), LabelledTexts(words[40:], labels[40:])
    hits = result_of(frozen_hits(opened, learned, asked))
    for name in opened.members:
        result_of(add_tuned_hits(opened, hits, name, learned, asked))
    frozen, fine_tuned, naive_bayes = hits.scores()
    assert {*frozen, *naive_bayes} == set(opened.members) and "ngram" not in {*frozen, *fine_tuned}
    assert [*naive_bayes] == ["ngram"] and naive_bayes["ngram"].value > 0.9
    for name in ("elmo", "gpt", "bert", "nnlm"):
        assert frozen[name].value > 0.9 and fine_tuned[name].count == 20
    before = opened.members["gpt"].blank(words[0], 1)
    np.testing.assert_array_equal(
        before, Family.open(opened.folder, ("gpt",)).members["gpt"].blank(words[0], 1)
    )


@pytest.mark.slow
def test_questions_as_typed(family: Path, engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "pairs.txt").write_text("cat dog 9\ncat ship 1\nking queen 8\ncow sea 2\n", encoding="utf-8")
    (tmp_path / "four.txt").write_text(": kinds\ncat dog king queen\n", encoding="utf-8")
    ask = ("family-ask", "--family", family, "--json")
    for words, kept in (
        (("--go-on", "4", "the cat"), LEFT),
        (("--nearest", "cat"), None),
        (("--analogy", "cat", "dog", "king"), None),
        (("--similarity", tmp_path / "pairs.txt"), None),
        (("--analogies", tmp_path / "four.txt"), None),
        (("--senses", "cat", "the cat eats .", "a cat sees ."), None),
        (("--follows", "the cat eats .", "the dog sees ."), {"bert"}),
    ):
        code, out, err = engine(*ask, *words)
        answers = json.loads(out)
        assert code == 0, err
        can = {name for name, answer in answers.items() if answer is not None} - {"about"}
        assert can == (set(answers) - {"about", "ngram"} if kept is None else kept)
    for words in (("--go-on", "4"), ("--nearest", "xylophone"), ("--similarity", tmp_path / "four.txt")):
        code, out, err = engine("family-ask", "--family", family, *words)
        assert (code, out) == (2, "") and is_one_sentence(err), err
    code, out, err = engine("family-ask", "--family", family, "--scores")
    assert code == 0 and "n/a" in out and "Perplexity, known words from the left" in out
