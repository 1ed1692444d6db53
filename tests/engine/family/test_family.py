"""A family is trained as one piece of work: refused before time is spent, stopped, gone on with, asked."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.errors import ModelError, UserError
from engine.events import Evaluated, Noted, Started, Step
from engine.family import train, word2vec
from engine.family.ask import Family
from engine.family.curves import looks
from engine.family.members import ABOUT, PROBABILITY
from engine.family.train import read_report, train_family
from engine.model.tensor_files import load_tensors, save_tensors
from engine.runs.facts import read_facts
from engine.settings.family import MEMBERS
from engine.train.run.runs import read_metrics, read_status, run_info
from tests.engine.family.conftest import family_config
from tests.engine.typed import Engine, is_one_sentence

OWN = tuple(name for name in MEMBERS if name not in ("cbow", "skipgram"))


def test_each_member_is_a_run_with_curves_and_a_folder_of_its_own(family: Path) -> None:
    report = read_report(family)
    assert set(OWN) <= set(report["members"]) <= set(MEMBERS)
    for name in report["members"]:
        assert read_status(family / name)["state"] == "finished"
        kinds = {record["event"] for record in read_metrics(family / name)}
        assert {"started", "step", "evaluated", "finished"} <= kinds
        assert (family / name / "model" / "config.json").is_file()
        assert not (family / name / "checkpoints").exists()
        assert report["reached"][name]["weights"] > 0 and report["reached"][name]["words_read"] > 0
        facts = read_facts(family / name, family)
        assert facts.kind == ("pretrain" if name == "bert" else "family") and facts.problem is None


def test_all_members_know_the_same_words_and_probabilities_sum_to_one(family: Path) -> None:
    opened = Family.open(family)
    words = opened.words("the [MASK] sees the sea .")
    for name in opened.members:
        scores = opened.scores(name, words, 1)
        assert scores.shape == (opened.wordpiece.vocab_size,)
        if ABOUT[name].says == PROBABILITY:
            assert scores.min() >= 0.0 and scores.sum() == pytest.approx(1.0, abs=1e-4)
        else:
            assert abs(scores).max() <= 1.0 + 1e-6


def test_who_looks_left_alone_does_not_see_what_follows_a_blank(family: Path) -> None:
    opened = Family.open(family)
    one, other = (opened.words(f"the [MASK] {rest}") for rest in ("sees the sea .", "eats milk ."))
    for name in opened.members:
        is_same = np.allclose(opened.scores(name, one, 1), opened.scores(name, other, 1), atol=1e-7)
        assert is_same == (ABOUT[name].sees == "left"), name


def test_a_guess_is_a_word_and_the_rank_of_the_answer_is_told(family: Path) -> None:
    for one in Family.open(family).fill("the [MASK] eats fish .", 3, answer="cat").values():
        assert len(one.guesses) == 3 and not any(guess.word.startswith("[") for guess in one.guesses)
        assert one.guesses[0].value >= one.guesses[2].value
        assert one.rank is not None and (one.rank == 1) == (one.guesses[0].word == "cat")


def test_a_question_that_cannot_be_answered_is_refused_in_a_sentence(family: Path, tmp_path: Path) -> None:
    opened = Family.open(family)
    for question, answer in (("the cat", ""), ("[MASK] [MASK]", ""), ("", ""), ("the [MASK]", "xylophone")):
        with pytest.raises(UserError) as refused:
            opened.fill(question, answer=answer)
        assert is_one_sentence(f"{refused.value}\n")
    with pytest.raises(ModelError, match="no trained member"):
        Family.open(tmp_path)


def test_a_damaged_member_is_refused_in_a_sentence(family: Path, tmp_path: Path) -> None:
    for name, file in (("gpt", "weights.safetensors"), ("ngram", "counts.npz"), ("glove", "config.json")):
        place = tmp_path / name / "model"
        shutil.copytree(family / name / "model", place)
        data = (place / file).read_bytes()
        (place / file).write_bytes(data[: len(data) // 2])
        with pytest.raises(ModelError):
            Family.open(tmp_path, (name,))


@pytest.mark.slow
def test_a_family_that_was_stopped_goes_on_and_ends_as_one_that_was_not(
    family: Path, tmp_path: Path, store_root: Path, text: Path
) -> None:
    config, folder = family_config(text, members=",".join(OWN)), tmp_path / "stopped"
    names = iter(OWN)
    stopped_in = set[str]()
    while True:  # stop once in each member, in its third step
        events, wanted = train_family(config, folder), next(names, None)
        for event in events:
            if (
                isinstance(event, Step)
                and event.step == 3
                and not (folder / (wanted or "") / "model").exists()
            ):
                stopped_in.add(wanted or "")
                break
        else:
            break
        events.close()  # type: ignore[attr-defined]
        assert wanted is None or run_info(folder / wanted).state in ("stopped", "finished")
    assert stopped_in
    one, other = Family.open(family, OWN), Family.open(folder, OWN)
    words = one.words("the [MASK] sees the sea .")
    for name in OWN:
        np.testing.assert_array_equal(one.scores(name, words, 1), other.scores(name, words, 1), err_msg=name)


def test_bad_input_is_refused_before_a_folder_is_made(tmp_path: Path, text: Path) -> None:
    folder = tmp_path / "family"
    wrong: tuple[dict[str, Any], ...] = (
        {"members": "ngram,gtp"},
        {"members": ""},
        {"steps": 0},
        {"steps": 0, "minutes": 0.001},
        {"width": 20},
        {"column": "text"},
    )
    for settings in wrong:
        with pytest.raises(UserError) as refused:
            for _ in train_family(family_config(text, **settings), folder):
                pass
        assert str(refused.value).endswith((".", "}"))
        assert not folder.exists(), settings


def test_without_gensim_its_two_members_are_left_out_and_that_is_said(
    tmp_path: Path, store_root: Path, text: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> None:
        raise UserError("gensim is not installed.")

    monkeypatch.setattr(train, "import_gensim", missing)
    config = family_config(text, members="ngram,cbow", steps=1)
    events = list(train_family(config, tmp_path / "family"))
    assert any("gensim" in str(one.sentence) for one in events if isinstance(one, Noted))
    assert read_report(tmp_path / "family")["members"] == ["ngram"]
    with pytest.raises(UserError, match="gensim"):
        list(train_family(family_config(text, members="cbow", steps=1), tmp_path / "other"))
    monkeypatch.setattr("builtins.__import__", _no_gensim(__import__))
    with pytest.raises(UserError, match="pip install"):
        word2vec.import_gensim()


def _no_gensim(imported: object) -> object:
    def importing(name: str, *args: object, **kwargs: object) -> object:
        if name.startswith("gensim"):
            raise ImportError(name)
        return imported(name, *args, **kwargs)  # type: ignore[operator]

    return importing


@pytest.mark.slow
def test_minutes_are_shared_and_the_clock_ends_a_member(tmp_path: Path, store_root: Path, text: Path) -> None:
    config = family_config(text, members="ngram,nnlm", steps=0, minutes=0.02)
    events = list(train_family(config, tmp_path / "family"))
    assert len([one for one in events if isinstance(one, Started)]) == 2
    assert any(isinstance(one, Evaluated) for one in events)
    report = read_report(tmp_path / "family")
    assert report["minutes"] == pytest.approx(0.01)
    assert all(one["seconds"] < 3.0 for one in report["reached"].values())


def test_as_typed(family: Path, engine: Engine) -> None:
    code, out, err = engine("family-ask", "--family", family, "the [MASK] eats fish .", "--json")
    answers = json.loads(out)
    assert code == 0 and set(OWN) <= set(answers), err
    for name in OWN:
        kind = answers["about"][name]["says"]
        assert [list(guess) for guess in answers[name]] == [["word", kind]] * 5
    assert answers["about"]["gpt"]["sees"] == "left"
    code, out, err = engine("family-ask", "--family", family, "no blank")
    assert (code, out) == (2, "") and "[MASK]" in err and is_one_sentence(err)


@pytest.mark.slow
def test_a_packed_family_answers_alike_in_half_the_room(family: Path, tmp_path: Path, engine: Engine) -> None:
    whole, out = tmp_path / "whole", tmp_path / "packed"
    shutil.copytree(family, whole, ignore=shutil.ignore_patterns("text"))
    weights = whole / "elmo" / "model" / "weights.safetensors"
    tensors = load_tensors(weights)
    tensors["unigram"][0] = 1e-9  # of a long text, what no half can tell from nothing
    save_tensors(weights, tensors)
    family = whole
    code, _, err = engine("family-pack", "--family", family, "--out", out)
    assert code == 0, err
    one, other = Family.open(family), Family.open(out)
    words = one.words("the [MASK] sees the sea .")
    assert list(one.members) == list(other.members)
    assert list(one.start.members) == list(other.start.members) == [n for n in one.members if n != "ngram"]
    for name in one.members:
        np.testing.assert_allclose(one.scores(name, words, 1), other.scores(name, words, 1), atol=2e-3)
    assert read_report(out)["scores"] == read_report(family)["scores"]
    assert str(tmp_path) not in (out / "family.toml").read_text("utf-8")
    code, _, err = engine("family-pack", "--family", family, "--out", out)
    assert code == 2 and is_one_sentence(err)


def test_the_report_tells_how_each_learned_by_words_and_by_seconds_and_the_card_says_it_all(
    family: Path,
) -> None:
    report = read_report(family)
    for name in report["members"]:
        points = report["curves"][name]
        assert len(points) > 1 and points == sorted(points, key=lambda point: point["words"])
        assert all(a["seconds"] <= b["seconds"] for a, b in pairwise(points))
        assert all(point.words <= report["reached"][name]["words_read"] for point in looks(report, name))
    card = (family / "card.md").read_text("utf-8")
    assert "cannot be compared" in card and all(ABOUT[name].paper in card for name in report["members"])


@pytest.mark.slow
def test_a_card_made_anew_asks_all_questions_of_a_packed_family_too(
    family: Path, tmp_path: Path, engine: Engine, store_root: Path, text: Path
) -> None:
    packed = tmp_path / "packed"
    assert engine("family-pack", "--family", family, "--out", packed)[0] == 0
    before = read_report(packed)
    (tmp_path / "pairs.txt").write_text("cat dog 9\ncat ship 1\nking queen 8\ncow sea 2\n", encoding="utf-8")
    kinds = ("cat", "dog", "fish"), ("ship", "port", "sea")
    rows = [f"the {kinds[n % 2][n // 2 % 3]} sees,{n % 2}" for n in range(40)]
    (tmp_path / "task.csv").write_text("\n".join(["text,label", *rows]) + "\n", encoding="utf-8")
    pairs = "the cat eats,a dog eats,4\nthe ship,the cat,1\nthe sea,the port,3\nthe dog,the king,2\n"
    (tmp_path / "sentences.csv").write_text(f"a,b,score\n{pairs}", encoding="utf-8")
    asked = ("--words", tmp_path / "pairs.txt", "--sentences", tmp_path / "sentences.csv")
    task = ("--task", tmp_path / "task.csv", "--learned-from", text, "--note", "a machine of tests")
    unread = ("--unread", text, "--bert", packed / "bert" / "model")
    code, out, err = engine("family-card", "--family", packed, *asked, *task, *unread)
    assert code == 0, err
    report = read_report(packed)
    names = [one["name"] for one in report["questions"]]
    assert {"Similarity of words", "Similarity of sentences", "Same task, fine-tuned"} <= set(names)
    given, in_practice = (
        {key: one["value"] for key, one in row["scores"].items()}
        for row in report["questions"]
        if row["name"].startswith("Blanks filled in another text")
    )
    assert given == in_practice and given.keys() == before["scores"]["blanks"].keys()  # it is the same BERT
    kept = {name: one["value"] for name, one in before["scores"]["blanks"].items()}
    again = {name: one["value"] for name, one in report["scores"]["blanks"].items()}
    assert again == pytest.approx(kept, abs=0.1)  # the same text kept apart, weights in half precision
    card = (packed / "card.md").read_text("utf-8")
    assert (
        card == out
        and "a machine of tests" in card
        and "| Pseudo-perplexity, known words, both sides (" in card
    )
    said = {one["claim"] for one in report["claims"]}
    assert len(said) == len(report["claims"]) > len(before["claims"]) and all(one in card for one in said)
    assert all(f"| {ABOUT[name].said} |" in card for name in report["members"])
    assert engine("family-card", "--family", packed, *asked)[0] == 0  # what is not asked again stays
    assert read_report(packed)["questions"] == report["questions"]
