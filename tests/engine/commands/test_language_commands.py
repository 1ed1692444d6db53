"""The commands of language models as typed: answers on stdout, the rest on stderr, mistakes in a sentence."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from engine.commands.language import pretrain_command
from engine.model.weights import save_model
from engine.settings.config import values_of
from engine.text.wordpiece import WordPiece
from engine.train.pretrain import pretrain
from engine.train.pretraining import setup as pretraining_setup
from engine.train.run.runs import read_config, read_metrics, read_status
from tests.engine.tiny_texts import SPECIALS, encoder_folder, promised, text_config, word_vocabulary, words_of
from tests.engine.typed import Engine, is_one_sentence
from tests.fakes import TOKENS, model_folder, tiny_pretraining, tiny_wordpiece


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with text.txt and the model folder start/, which has the heads of pretraining."""
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")
    monkeypatch.chdir(tmp_path)
    text_config(tmp_path)
    save_model(tmp_path / "start", tiny_pretraining(), tiny_wordpiece())
    return tmp_path


SETTINGS = {
    "layout": "sentences",
    "batch_tokens": "128",
    "max_length": "24",
    "device": "cpu",
    "num_threads": "1",
    "validation_share": "0.1",
}
SET = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
NEW = ("--text", "text.txt", "--vocab-size", "200", "--size", "1x12x3", "--steps", "3")


# pretrain and resume


@pytest.mark.slow
def test_a_text_becomes_a_model_that_fill_mask_and_next_sentence_ask(place: Path, engine: Engine) -> None:
    code, out, err = engine("pretrain", *NEW, *SET, "--pin", "the [cat] eats fish .", "--run", "run")
    assert (code, out) == (0, ""), err
    assert "training and" in err and "validation loss" in err and "the [cat] eats fish ." in err
    assert "step 3/3" in err and "done in " in err
    model = place / "run" / "model"
    code, out, _ = engine("fill-mask", "--model", model, "the [MASK] eats [MASK] .", "--top-k", "3", "--json")
    masks = json.loads(out)
    assert code == 0 and [len(mask) for mask in masks] == [3, 3] and out.count("\n") == 1
    pieces = WordPiece.from_folder(model)
    for mask in masks:
        assert [list(guess) for guess in mask] == [["token", "id", "probability"]] * 3
        assert all(pieces.tokens[guess["id"]] == guess["token"] for guess in mask)
        shares = [guess["probability"] for guess in mask]
        assert shares == sorted(shares, reverse=True) and 0 < sum(shares) <= 1
    code, out, _ = engine("next-sentence", "--model", model, "the cat eats .", "the dog eats .", "--json")
    said = json.loads(out)
    assert code == 0 and list(said) == ["is_next", "probability"]
    assert said["is_next"] == (said["probability"] >= 0.5) and 0 < said["probability"] < 1


@pytest.mark.slow
def test_flags_settings_and_a_file_say_what_is_run(place: Path, engine: Engine) -> None:
    (place / "mine.toml").write_text(
        "[budget]\nsteps = 9\nseed = 1\nevaluations = 2\n[text]\ntext = 'none'\n"
    )
    words = (
        "--config",
        "mine.toml",
        "--set",
        "seed=2",
        "--set",
        "mask_unit=word",
        "--set",
        "next_sentence=no",
    )
    code, _, err = engine(
        "pretrain", *NEW, *SET, *words, "--set", "dynamic_masking=False", "--run-dir", "run"
    )
    assert code == 0, err
    used = values_of(read_config(place / "run"))
    assert used["text"] == str(place / "text.txt") and used["model"] == "new:1x12x3"
    assert (used["steps"], used["seed"], used["evaluations"], used["mask_unit"]) == (3, 2, 2, "word")
    assert used["next_sentence"] is False and used["dynamic_masking"] is False and used["mask_rate"] == 0.15


@pytest.mark.slow
def test_a_copied_line_does_the_same_run(place: Path, engine: Engine) -> None:
    changes = {
        "pins": "the [cat] eats .\nit's $HOME [MASK]",
        "next_sentence": False,
        "learning_rate": 5e-4,
        "vocab": str(word_vocabulary(place / "my vocab.txt")),
        "minutes": 0.001,
        "text": f"{place / 'text.txt'}\n{place / 'text.txt'}",
    }
    config = text_config(place, **changes)
    line = pretrain_command(config, place / "run")
    assert line.startswith("python -m engine pretrain --text ")
    assert engine(*shlex.split(line)[3:])[0] == 0
    assert read_config(place / "run") == config
    further = text_config(place, model=str(encoder_folder(place / "encoder")), trim_vocab=90, tokens=200)
    assert engine(*words_of(further, place / "further"))[0] == 0
    assert read_config(place / "further") == further


@pytest.mark.slow
def test_resume_goes_on_with_a_stopped_run_from_anywhere(
    place: Path, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = text_config(place)
    list(pretrain(config, place / "whole"))
    events = pretrain(config, place / "run")
    next(event for event in events if getattr(event, "step", 0) == 5)
    events.close()  # type: ignore[attr-defined]
    (place / "elsewhere").mkdir()
    monkeypatch.chdir(place / "elsewhere")
    code, out, err = engine("resume", place / "run")
    assert (code, out) == (0, "") and "step 12/12" in err
    assert promised(place / "run") == promised(place / "whole")
    code, _, err = engine("resume", place / "run")
    assert code == 2 and "is finished" in err and is_one_sentence(err)


@pytest.mark.slow
def test_a_budget_may_be_given_in_minutes_or_tokens(place: Path, engine: Engine) -> None:
    for name, value in (("minutes", "0.002"), ("tokens", "300")):
        words = [*NEW[:-2], *SET, f"--{name}", value, "--run", name]
        assert engine("pretrain", *words)[0] == 0
        assert read_status(place / name)["state"] == "finished"
    steps = [record for record in read_metrics(place / "tokens") if record["event"] == "step"]
    assert sum(step["num_tokens"] for step in steps) >= 300 > sum(step["num_tokens"] for step in steps[:-1])


# vocab


def test_vocab_writes_the_same_vocabulary_each_time_and_pretrain_takes_it(
    place: Path, engine: Engine
) -> None:
    for name in ("a.txt", "b.txt"):
        code, out, err = engine("vocab", "--text", "text.txt", "--size", "170", "--out", name)
        assert (code, out) == (0, "") and "WordPieces made from" in err and f": {name}\n" in err
    tokens = (place / "a.txt").read_text().split("\n")
    assert (place / "a.txt").read_bytes() == (place / "b.txt").read_bytes()
    assert tokens[:5] == list(SPECIALS) and tokens[-1] == "" and 150 < len(tokens) <= 171
    (place / "c.txt").write_text("The KING rules .\n" * 9)
    assert engine("vocab", "--text", "c.txt", "--size", "230", "--cased", "--out", "c.vocab")[0] == 0
    assert {"K", "##G"} <= set((place / "c.vocab").read_text().split("\n"))
    words = ("--text", "text.txt", "--vocab", "a.txt", "--size", "1x12x3", "--steps", "1", "--run", "run")
    assert engine("pretrain", *words, *SET)[0] == 0
    assert WordPiece.from_folder(place / "run" / "model").tokens == tuple(tokens[:-1])


# fill-mask and next-sentence


def test_answers_are_for_people_without_json(place: Path, engine: Engine) -> None:
    code, out, err = engine("fill-mask", "--model", "start", "good [MASK]", "bad film", "--top-k", "2")
    lines = out.splitlines()
    assert (code, err) == (0, "") and lines[0] == "[MASK] 1" and len(lines) == 3
    assert lines[1].split()[0] in TOKENS and 0 < float(lines[1].split()[1]) < 1
    code, out, _ = engine("next-sentence", "--model", "start", "good film", "bad film")
    assert code == 0 and out.startswith("B ") and out.rstrip().endswith("% that it does")


def test_a_second_text_is_read_as_a_pair(place: Path, engine: Engine) -> None:
    alone = json.loads(engine("fill-mask", "--model", "start", "good [MASK]", "--json")[1])
    paired = json.loads(engine("fill-mask", "--model", "start", "good [MASK]", "bad [MASK]", "--json")[1])
    assert (len(alone), len(paired)) == (1, 2) and alone[0] != paired[0]
    assert len(alone[0]) == 5
    everything = json.loads(engine("fill-mask", "--model", "start", "[MASK]", "--top-k", "99", "--json")[1])
    assert len(everything[0]) == 37
    assert sum(guess["probability"] for guess in everything[0]) == pytest.approx(1.0, abs=1e-5)


def test_a_head_that_never_learned_to_tell_does_not_tell(place: Path, engine: Engine) -> None:
    config = text_config(place, next_sentence=False, steps=1)
    list(pretrain(config, place / "run"))
    code, out, err = engine("next-sentence", "--model", place / "run" / "model", "the cat .", "the dog .")
    assert (code, out) == (2, "") and "was not trained on next sentences" in err and is_one_sentence(err)
    assert engine("fill-mask", "--model", place / "run" / "model", "the [MASK] .")[0] == 0


# Mistakes


MISTAKES: dict[str, tuple[list[str], str]] = {
    "no budget": (
        ["pretrain", *NEW[:-2], "--run", "run"],
        "give one of minutes, steps and tokens (given: -)",
    ),
    "two budgets": (["pretrain", *NEW, "--tokens", "5", "--run", "run"], "(given: steps, tokens)"),
    "no text": (["pretrain", *NEW[2:], "--run", "run"], "No text was chosen"),
    "a text that is not there": (["pretrain", *NEW, "--text", "no.txt", "--run", "run"], "no.txt"),
    "a size and a model": (
        ["pretrain", *NEW, "--model", "start", "--run", "run"],
        "Give --size for a new model",
    ),
    "an unknown size": (["pretrain", *NEW, "--size", "huge", "--run", "run"], "after new: use one of tiny"),
    "an unknown setting": (["pretrain", *NEW, "--set", "lr=1", "--run", "run"], "no setting named lr"),
    "a setting of fine-tuning": (
        ["pretrain", *NEW, "--set", "label=a", "--run", "run"],
        "no setting named label",
    ),
    "no value": (["pretrain", *NEW, "--set", "seed", "--run", "run"], "--set expects name=value, not 'seed'"),
    "no number": (
        ["pretrain", *NEW, "--steps", "many", "--run", "run"],
        "steps is 'many'; it must be a whole",
    ),
    "not true or false": (
        ["pretrain", *NEW, "--set", "next_sentence=maybe", "--run", "run"],
        "true or false",
    ),
    "a run that is not empty": (["pretrain", *NEW, *SET, "--run", "start"], "is not empty"),
    "a file as a run": (["pretrain", *NEW, *SET, "--run", "text.txt/run"], "could not be written"),
    "a model without weights": (
        ["pretrain", "--text", "text.txt", "--model", "cache0", "--steps", "1", "--run", "run"],
        "cache0",
    ),
    "a small vocabulary": (
        ["vocab", "--text", "text.txt", "--size", "9", "--out", "v.txt"],
        "characters of this",
    ),
    "a vocabulary of nothing": (
        ["vocab", "--text", "no.txt", "--out", "v.txt"],
        "There is no file or folder",
    ),
    "no mask": (["fill-mask", "--model", "start", "good film"], "The text has no [MASK]"),
    "no guesses": (["fill-mask", "--model", "start", "[MASK]", "--top-k", "0"], "Ask for 1 or more"),
    "fewer than none": (["fill-mask", "--model", "start", "[MASK]", "--top-k", "-3"], "Ask for 1 or more"),
    "a long text": (["fill-mask", "--model", "start", "[MASK]" + " a" * 60], "this model reads at most 41"),
    "no model": (["fill-mask", "--model", "nowhere", "[MASK]"], "nowhere"),
    "no masked-word head": (["fill-mask", "--model", "labels", "[MASK]"], "has no trained masked-word head"),
    "no next-sentence head": (
        ["next-sentence", "--model", "labels", "a", "b"],
        "was not trained on next sentences",
    ),
    "no run": (["resume", "nowhere"], "is not a run folder"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_costs_one_sentence_and_exit_code_2(place: Path, engine: Engine, name: str) -> None:
    words, says = MISTAKES[name]
    model_folder(place / "labels")
    before = sorted(place.rglob("*"))
    code, out, err = engine(*words)
    assert (code, out) == (2, "") and says in err and is_one_sentence(err), err
    assert sorted(place.rglob("*")) == before


def test_a_wrong_flag_costs_a_sentence_and_help_lists_every_setting(engine: Engine) -> None:
    for words in (
        ("pretrain",),
        ("pretrain", "--run", "x", "--speed", "9"),
        ("vocab",),
        ("fill-mask",),
        ("next-sentence", "a"),
    ):
        code, out, err = engine(*words)
        assert (code, out) == (2, "") and err.count("\n") == 1 and "--help" in err, err
    code, out, err = engine("pretrain", "--help")
    assert code == 0 and err == "" and "mask_rate=0.15" in out and "growth_share=0.3" in out
