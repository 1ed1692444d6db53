"""What members know before training: the same for all, asked with the same questions, and never a result."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from engine.errors import RunError, UserError
from engine.events import result_of
from engine.family.ask import Family
from engine.family.bert import BertMember
from engine.family.blanks import draw_blanks
from engine.family.card import lines
from engine.family.claims import both_sides, sentence_claims, two_in_a_row
from engine.family.curves import crossings, not_passed
from engine.family.layout import read_family
from engine.family.members import NUM_SPECIALS
from engine.family.neural import BertTraining, MemberTraining
from engine.family.reached import perplexities, shares
from engine.family.reading import VOCAB, as_pretraining, prepared, streams
from engine.family.starts import read_counts
from engine.family.train import member_config, read_report, resume, train_family
from engine.family.trainings import Trainings
from engine.family.verdicts import judged
from engine.settings.config import values_of
from engine.settings.family import FamilyConfig
from tests.engine.family.conftest import family_config
from tests.engine.typed import Engine

NETWORKS = ("nnlm", "elmo", "gpt", "bert")
OLD_RUNS = Path(__file__).parents[2] / "data" / "old_runs" / "runs.zip"


def begun(family: Path) -> Family:
    return Family.open(family).start


def test_before_training_all_networks_guess_words_by_frequency_alike(family: Path) -> None:
    start = begun(family)
    counts = read_counts(family, start.wordpiece.vocab_size)
    assert counts is not None and "ngram" not in start.members
    words = start.words("the [MASK] sees the sea .")
    frequency = (counts + 1.0)[NUM_SPECIALS:] / (counts + 1.0)[NUM_SPECIALS:].sum()
    for name in NETWORKS:
        given = start.scores(name, words, 1)[NUM_SPECIALS:]
        np.testing.assert_allclose(np.log(given / given.sum()), np.log(frequency), atol=0.6, err_msg=name)


def test_what_is_called_the_start_has_the_weights_with_which_training_begins(
    family: Path, store_root: Path
) -> None:
    config, start = read_family(family), begun(family)
    setup = result_of(prepared(config, family))
    text = streams(config, setup)
    for name in NETWORKS:
        member = start.members[name]
        if isinstance(member, BertMember):
            own: torch.nn.Module = member.subject.masked_head()
            settings = as_pretraining(config, family / VOCAB)
            training: Any = BertTraining(settings, streams=text, starts=config.family.starts)
        else:
            assert isinstance(member, torch.nn.Module)
            own, training = member, MemberTraining(member_config(config, name), setup)
        first, _ = result_of(training.model(setup, None))
        wanted = first.state_dict()
        for weight, value in own.state_dict().items():
            torch.testing.assert_close(value, wanted[weight], msg=f"{name}: {weight}")


@pytest.mark.slow
@pytest.mark.parametrize("starts", ["frequencies", "none"])
def test_a_family_that_has_learned_nothing_gives_no_verdict_and_has_no_best(
    tmp_path: Path, store_root: Path, text: Path, engine: Engine, starts: str
) -> None:
    config = family_config(text, learning_rate=1e-8, steps=1)
    usual = values_of(FamilyConfig())
    own = (item for item in values_of(config).items() if item[1] != usual[item[0]] and item[0] != "text")
    sets = [part for name, value in own for part in ("--set", f"{name}={value}")]
    members = ("--members", ",".join(NETWORKS), "--starts", starts)
    code, _, err = engine("family", "--text", text, *members, *sets, "--out", tmp_path / "family")
    assert code == 0, err
    assert read_family(tmp_path / "family").family.starts == starts
    report = read_report(tmp_path / "family")
    assert {one["verdict"] for one in report["claims"]} == {"no verdict"} and len(report["claims"]) == 3
    assert not any(line.is_best(name) for line in lines(report) for name in NETWORKS)
    of_blanks, before = lines(report)[:2]
    assert before.is_start and before.name == of_blanks.name
    assert set(of_blanks.unlearned) == set(NETWORKS)
    said = np.array([1.0, 4.0, 2.0, 5.0, 3.0])
    cosines = {name: said + shift for name, shift in (("bert", 0.0), ("cls", said[::-1]), ("nnlm", 9.0))}
    claims = sentence_claims([cosines], [cosines], said)
    assert len(claims) == 2 and {one.verdict for one in judged(claims, informed=False)} == {"no verdict"}


def test_nobody_is_best_who_was_as_good_before_training() -> None:
    rng = np.random.default_rng(0)
    hits = {"a": rng.random(300) < 0.8, "b": rng.random(300) < 0.6}
    found = shares(hits, 0.1, {"a": hits["a"], "b": np.zeros(300, bool)})
    assert (found["a"].is_best, found["a"].is_learned, found["a"].start) == (False, False, found["a"].value)
    assert found["b"].is_best and found["b"].start == 0.0
    logs = rng.normal(-3, 1, 300)
    for gain, is_learned in ((0.04, False), (0.06, True)):  # sure, both of them
        now = perplexities({"a": logs + gain}, np.arange(300), None, {"a": logs})
        assert now["a"].is_learned == is_learned


def test_several_trainings_make_one_verdict_over_texts_and_seeds(family: Path) -> None:
    """Each training is of one family here; what they answer differs by what is put in their place."""
    one = Family.open(family)
    blanks = draw_blanks(np.array([*one.words("the cat eats fish and milk ."), 3] * 30))
    single, threefold = (
        [*both_sides(found, blanks), *two_in_a_row(found, blanks)]
        for found in (Trainings((one,)), Trainings((one, one, one)))
    )
    assert [claim.trainings for claim in single] == [1] * len(single) and single
    for alone, three in zip(single, threefold, strict=True):
        assert three.trainings == 3 and three.first == pytest.approx(alone.first)
        assert three.difference == pytest.approx(alone.difference)
        assert three.low <= three.difference <= three.high


@pytest.mark.slow
def test_a_member_is_trained_from_several_seeds_and_each_is_kept_and_told(
    tmp_path: Path, store_root: Path, text: Path
) -> None:
    folder = tmp_path / "family"
    config = family_config(text, members="nnlm,bert", steps=2, trainings=3)
    list(train_family(config, folder))
    report = read_report(folder)
    assert report["trainings"] == 3 and {one["trainings"] for one in report["claims"]} == {3}
    assert all(len(one["trainings"]) == 3 for one in report["scores"]["blank_perplexity"].values())
    words = Family.open(folder).words("the [MASK] sees the sea .")
    given = [one.scores("nnlm", words, 1) for one in Trainings.open(folder).families]
    assert len(given) == 3 and not np.allclose(given[0], given[1]) and not np.allclose(given[1], given[2])
    with pytest.raises(UserError, match="third"):
        list(train_family(family_config(text, trainings=2), tmp_path / "other"))


@pytest.mark.slow
def test_equal_words_are_read_where_words_are_the_budget(
    tmp_path: Path, store_root: Path, text: Path
) -> None:
    config = family_config(text, members="ngram,nnlm,glove,gpt,bert", steps=0, tokens=512)
    list(train_family(config, tmp_path / "family"))
    report = read_report(tmp_path / "family")
    assert report["words_each"] == 512 and report["minutes"] == 0
    for name, reached in report["reached"].items():
        assert 512 <= reached["words_read"] < 512 + 64 + 16, name  # and no more than a step beyond


def looks(*shares_filled: float) -> list[dict[str, Any]]:
    return [
        {"words": 10 ** (place + 3), "seconds": place, "loss": 1.0, "blanks": share}
        for place, share in enumerate(shares_filled)
    ]


def report(bert: tuple[float, ...], count: int) -> dict[str, Any]:
    return {
        "members": ["gpt", "bert"],
        "reached": {name: {"words_read": 10**6} for name in ("gpt", "bert")},
        "curves": {"gpt": looks(0.2, 0.25, 0.3, 0.3), "bert": looks(*bert)},
        "scores": {"blanks": {"gpt": {"count": count}}},
    }


def test_that_bert_has_not_passed_another_is_told_only_where_it_is_surely_behind_at_the_end() -> None:
    found = not_passed(report((0.0, 0.1, 0.15, 0.2), 500))
    assert found is not None and (found.above, found.share, found.above_share) == ("gpt", 0.2, 0.3)
    assert found.words == 10**6
    assert not_passed(report((0.0, 0.1, 0.15, 0.2), 50)) is None  # of fifty blanks nobody can say it
    assert not_passed(report((0.0, 0.1, 0.2, 0.27), 500)) is None
    assert not_passed(report((0.0, 0.1, 0.4, 0.5), 500)) is None


def test_a_crossing_is_told_only_where_each_was_surely_ahead_once() -> None:
    (found,) = crossings(report((0.0, 0.1, 0.4, 0.5), 500))
    assert (found.above, found.below) == ("bert", "gpt")
    assert found.words == pytest.approx(10 ** (4 + 0.15 / 0.25)) and 0.25 < found.share < 0.3
    assert not crossings(report((0.0, 0.1, 0.4, 0.5), 10))  # of ten blanks nobody can say it
    assert not crossings(report((0.0, 0.1, 0.29, 0.31), 500))  # ahead at last, but hardly
    assert not crossings(report((0.0, 0.1, 0.2, 0.2), 500))
    turned = crossings(report((0.4, 0.4, 0.1, 0.1), 500))
    assert [(one.above, one.below) for one in turned] == [("gpt", "bert")]


def test_a_family_of_before_is_asked_and_not_continued(tmp_path: Path, text: Path) -> None:
    with zipfile.ZipFile(OLD_RUNS) as archive:
        for name in archive.namelist():
            if name.startswith("family/"):
                archive.extract(name, tmp_path)
    folder = tmp_path / "family"
    family = Family.open(folder)
    assert family.members and not family.start.members
    for begin in (lambda: resume(folder), lambda: train_family(family_config(text), folder)):
        with pytest.raises(RunError, match="Train a new one"):
            list(begin())
