"""The commands as typed: answers on stdout, the rest on stderr, one sentence and 2 for mistakes."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from engine.commands.command_line import finetune_command
from engine.commands.screen import Screen
from engine.events import Progress
from engine.model.model_name import ModelName
from engine.questions.how_read import ReadSettings
from engine.questions.predict import PredictionQuestion
from engine.settings.config import values_of, with_values
from engine.settings.finetune import FineTuneConfig
from engine.text.table import read_table
from engine.train.finetune import fine_tune
from engine.train.run.runs import read_config, read_status
from tests.engine.tiny_runs import (
    ROOT,
    command_of,
    outcome,
    reviews,
    run_engine,
    start_engine,
    tiny_config,
    write_table,
)
from tests.engine.typed import Engine, is_one_sentence
from tests.fakes import TOKENS, model_folder, tiny_wordpiece

QUICK = ("--set", "num_epochs=1", "--set", "max_length=23", "--set", "num_threads=1", "--set", "device=cpu")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with reviews.csv and the model folder start/."""
    tiny_config(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_model_that_ships_is_called_by_its_name_and_a_folder_of_that_name_comes_first(
    place: Path, engine: Engine
) -> None:
    code, out, err = engine("tokenize", "--model", "starter", "the river flows")
    assert code == 0 and "river" in out, err
    (place / "start").rename(place / "starter")
    code, out, _ = engine("tokenize", "--model", "starter", "the river flows")
    assert code == 0 and "[UNK]" in out


FINETUNE = (
    "finetune",
    "--data",
    "reviews.csv",
    "--text",
    "text",
    "--label",
    "label",
    "--model",
    "start",
    *QUICK,
)


# finetune


@pytest.mark.slow
def test_finetune_makes_a_model_that_evaluate_predict_and_tokenize_use(place: Path, engine: Engine) -> None:
    code, out, err = engine(*FINETUNE, "--run", "run")
    assert (
        (code, out) == (0, "") and "42 training rows, 11 validation rows" in err and "validation loss" in err
    )
    model = place / "run" / "model"
    code, out, err = engine("evaluate", "--model", model, "--data", "reviews.csv", "--json")
    figures = json.loads(out)
    assert code == 0 and figures["labels"] == ["bad", "good"] and figures["num_examples"] == 53
    assert (
        sum(map(sum, figures["confusion"])) == 53 and sum(figures["confusion"][0]) == 27
    )  # a row a true label
    right = figures["confusion"][0][0] + figures["confusion"][1][1]
    assert figures["accuracy"] == pytest.approx(right / 53) and 0 <= figures["macro_f1"] <= 1
    assert "loss" in err
    low, high = figures["accuracy_interval"]
    assert 0 <= low < figures["accuracy"] < high <= 1 or figures["accuracy"] in (low, high)
    assert figures["majority_baseline"] == {"label": "bad", "accuracy": pytest.approx(27 / 53)}
    said = [sum(row[place] for row in figures["confusion"]) for place in range(2)]
    assert figures["predicted_labels"] == sum(count > 0 for count in said)
    assert [figures["per_label"][name]["predicted"] for name in ("bad", "good")] == said
    assert {
        f"{kind}_{name}" for kind in ("macro", "weighted") for name in ("precision", "recall", "f1")
    } <= set(figures)
    assert isinstance(figures["notes"], list) and all(note in err for note in figures["notes"])
    code, out, err = engine("evaluate", "--model", model, "--data", "reviews.csv")
    assert (
        (code, out) == (0, "") and "(weighted average)" in err and "Always answering bad would score" in err
    )
    code, out, err = engine("predict", "--model", model, "--data", "reviews.csv", "--out", "answers.csv")
    assert (code, out) == (0, "")
    answers = read_table(place / "answers.csv")
    assert answers.columns == ("text", "label", "prediction", "probability: bad", "probability: good")
    counted = sum((answers.frame["prediction"] == "bad") & (answers.frame["label"] == "bad"))
    assert counted == figures["confusion"][0][0]


@pytest.mark.slow
def test_a_program_reads_the_scores_of_a_training_and_that_its_model_knew_the_rows(
    place: Path, engine: Engine
) -> None:
    code, out, _ = engine(*FINETUNE, "--run", "run", "--json")
    first = json.loads(out)
    assert code == 0 and first["model"] == str(place / "run" / "model")
    assert sum(map(sum, first["validation"]["confusion"])) == first["validation"]["num_examples"] == 11
    assert not any("already trained on" in note for note in first["notes"])
    again = FINETUNE[: -len(QUICK) - 1] + (first["model"], *QUICK, "--set", "split_seed=7")
    code, out, _ = engine(*again, "--run", "again", "--json")
    assert code == 0
    assert any("was already trained on" in note and "validation" in note for note in json.loads(out)["notes"])


@pytest.mark.slow
def test_columns_go_by_name_by_number_and_by_a_guess_that_is_told(place: Path, engine: Engine) -> None:
    write_table(place / "bare.csv", reviews(), header="")
    for run, words in {
        "a": ("--data", "reviews.csv", "--text", "text", "--label", "label"),
        "b": ("--data", "reviews.csv", "--text", "1", "--label", "2"),
        "c": ("--data", "bare.csv", "--text", "1", "--label", "2", "--no-header"),
        "d": ("--data", "reviews.csv"),
    }.items():
        code, _, err = engine("finetune", *words, "--model", "start", "--run", run, *QUICK)
        assert code == 0, err
        assert ("detected" in err) == (run == "d"), err
    assert "text = text, label = label." in err and 'label = "label"' in (place / "d/config.toml").read_text()
    runs = [(place / run / "model" / "model.safetensors").read_bytes() for run in "abcd"]
    assert runs[0] == runs[1] == runs[2] == runs[3]
    code, out, _ = engine("evaluate", "--model", "c/model", "--data", "bare.csv", "--no-header", "--json")
    assert code == 0 and json.loads(out)["num_examples"] == 53


@pytest.mark.slow
def test_a_flag_wins_over_set_set_over_the_file_and_the_file_over_defaults(
    place: Path, engine: Engine
) -> None:
    (place / "mine.toml").write_text(
        '[training]\nseed = 1\nbatch_size = 4\nnum_epochs = 1\n[data]\ntext = "nothing"\n'
    )
    words = [*FINETUNE, "--config", "mine.toml", "--set", "seed=2", "--set", "text=nothing", "--run", "run"]
    code, _, err = engine(*words)
    assert code == 0, err
    used = values_of(read_config(place / "run"))
    assert (used["text"], used["seed"], used["batch_size"], used["weight_decay"]) == ("text", 2, 4, 0.01)


def test_a_run_remembers_its_files_wherever_it_is_resumed_from(place: Path, engine: Engine) -> None:
    engine(*FINETUNE, "--run", "run")
    used = values_of(read_config(place / "run"))
    assert used["data"] == str(place / "reviews.csv") and used["model"] == str(place / "start")
    assert used["validation_data"] == "" and used["vocab"] == ""


@pytest.mark.slow
def test_pairs_separate_files_and_a_new_model_work(place: Path, engine: Engine) -> None:
    (place / "words").mkdir()
    tiny_wordpiece().save(place / "words")
    rows = [(a, b, label) for (a, label), (b, _) in zip(reviews(30), reviews(30, 5), strict=True)]
    for name in ("train", "dev", "test"):
        write_table(place / f"{name}.csv", rows, header="one,two,same")
    code, _, err = engine(
        *("finetune", "--data", "train.csv", "--validation-data", "dev.csv", "--test-data", "test.csv"),
        *("--text", "one", "--text-pair", "two", "--label", "same"),
        *("--model", "new:tiny", "--vocab", "words/vocab.txt", "--run", "run", *QUICK),
    )
    assert code == 0 and "30 training rows, 30 validation rows, 30 test rows" in err and "test loss" in err
    code, out, _ = engine("evaluate", "--model", "run/model", "--data", "test.csv", "--json")
    assert code == 0 and json.loads(out)["num_examples"] == 30


@pytest.mark.slow
def test_a_separator_can_be_given_as_a_word_or_as_itself(place: Path, engine: Engine) -> None:
    (place / "t.tsv").write_text("text\tlabel\n" + "".join(f"{a}\t{b}\n" for a, b in reviews(20)))
    for number, given in enumerate(("tab", "\\t", "\t")):
        words = ("--data", "t.tsv", "--text", "1", "--label", "2", "--model", "start", "--run", str(number))
        assert engine("finetune", *words, "--separator", given, *QUICK)[0] == 0
    assert engine(*FINETUNE, "--data", "t.tsv", "--run", "x", "--set", "separator=\t")[0] == 0


# Mistakes


MISTAKES: dict[str, tuple[list[str], str]] = {
    "a missing column": (["--text", "review"], "has no column review. Its columns are: text, label"),
    "no such file": (["--data", "none.csv"], "There is no file"),
    "no such model": (["--model", "none"], "There is no folder"),
    "a model that is a file": (["--model", "reviews.csv"], "is a file. A model is a folder"),
    "a max_length beyond the model": (
        ["--set", "max_length=42"],
        "the model has positions for 41 pieces",
    ),
    "an unknown setting": (["--set", "lr=1"], "There is no setting named lr"),
    "no value": (["--set", "seed"], "--set expects name=value, not 'seed'"),
    "a value that is no number": (
        ["--set", "learning_rate=nan"],
        "learning_rate is nan; it must lie between",
    ),
    "a file of settings that is none": (["--config", "reviews.csv"], "cannot be read as settings"),
    "a setting of the wrong kind": (["--config", "bad.toml"], "data is 5; it must be text"),
    "a folder that is not empty": (["--run", "start"], "is not empty"),
    "a folder below a file": (["--run", "reviews.csv/run"], "could not be written"),
    "an unknown encoding": (["--encoding", "utf-99"], "utf-99"),
    "a separator of two letters": (["--separator", "::"], "separator is '::'; it can be one of"),
    "one class only": (["--data", "one.csv"], "Every row has the same label"),
    "empty texts": (["--data", "empty.csv"], "None of the 9 rows can be used"),
    "labels that appear once": (["--data", "once.csv"], "It looks like free text or a number, not a label"),
    "no weights": (["--model", "no_weights"], "holds no weights"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_costs_one_sentence_and_exit_code_2(place: Path, engine: Engine, name: str) -> None:
    words, says = MISTAKES[name]
    (place / "bad.toml").write_text("data = 5\n")
    write_table(place / "one.csv", [("good film", "good")] * 9)
    write_table(place / "empty.csv", [(" ", "bad"), ("", "good")] * 4 + [("", "bad")])
    write_table(place / "once.csv", [(f"film {number}", f"l{number}") for number in range(9)])
    model_folder(place / "no_weights", labels=("bad", "good"))
    (place / "no_weights" / "model.safetensors").unlink()
    before = sorted(path for path in place.rglob("*"))
    base = (
        [word for word in FINETUNE if word not in ("--data", "reviews.csv")]
        if "--config" in words
        else FINETUNE
    )
    code, out, err = engine(*base, "--run", "run", *words)
    assert (code, out) == (2, "") and says in err and is_one_sentence(err), err
    assert sorted(path for path in place.rglob("*")) == before


@pytest.mark.slow
def test_mistakes_of_other_commands_are_sentences_too(place: Path, engine: Engine) -> None:
    (place / "unlike.csv").write_text("a,b\n" + "what is said here,never a label\n" * 3)
    for words, says in (
        (("resume", "none"), "is not a run folder"),
        (("resume", "start"), "is not a run folder"),
        (
            ("evaluate", "--model", "start", "--data", "unlike.csv", "--text", "a"),
            "Which column holds the label?",
        ),
        (
            ("evaluate", "--model", "start", "--data", "reviews.csv", "--text", "text", "--label", "9"),
            "has no column 9",
        ),
        (
            ("predict", "--model", "start", "--data", "reviews.csv", "--out", "o.csv", "--text", "9"),
            "has no column 9",
        ),
        (
            ("predict", "--model", "start", "--data", "reviews.csv", "--text", "1", "--out", "reviews.csv"),
            "is the data",
        ),
        (("tokenize", "--model", "none", "good"), "There is no folder none"),
        (("tokenize", "--model", "start", "good", "--max-length", "1"), "the special tokens alone take 2"),
        (("tokenize", "--model", "start", "good", "--max-length", "-4"), "the special tokens alone take 2"),
    ):
        code, out, err = engine(*words)
        assert (code, out) == (2, "") and says in err and is_one_sentence(err), err
    assert read_table(place / "reviews.csv").num_rows == 53 and not (place / "o.csv").exists()


def test_a_wrong_flag_costs_a_sentence_and_no_page_of_usage(engine: Engine) -> None:
    for words in (
        ("finetune",),
        ("finetune", "--run", "x", "--speed", "9"),
        (),
        ("dance",),
        ("predict", "--raw=1"),
    ):
        code, out, err = engine(*words)
        assert (code, out) == (2, "") and err.count("\n") == 1 and "--help" in err, err
    code, out, err = engine("finetune", "--help")
    assert code == 0 and err == "" and "learning_rate=by model size" in out


# predict and tokenize


def test_predict_guards_cells_and_raw_leaves_them(place: Path, engine: Engine) -> None:
    write_table(place / "sheet.csv", [("=1+1", "good"), ("x", " "), ("y", "bad")], header="note,text")
    words = ("predict", "--model", "start", "--data", "sheet.csv", "--text", "text", "--header", "--out")
    code, _, err = engine(*words, "guarded.csv")
    assert code == 0 and "Line 3 has no text in column text." in err
    assert engine(*words, "raw.csv", "--raw")[0] == 0
    guarded, raw = ((place / f"{name}.csv").read_text().splitlines() for name in ("guarded", "raw"))
    assert guarded[1].startswith("'=1+1,good,") and raw[1].startswith("=1+1,good,")
    assert guarded[2] == "x, ,,,"
    code, _, err = engine(
        "predict", "--model", "start", "--data", "raw.csv", "--text", "text", "--out", "again.csv"
    )
    assert code == 2 and "already has a column named prediction" in err and is_one_sentence(err)


def test_tokenize_gives_the_ids_the_model_reads(engine: Engine, place: Path) -> None:
    code, out, err = engine("tokenize", "--model", "start", "Good filming", "bad!", "--json")
    said = json.loads(out)
    assert (code, err) == (0, "")
    treatment = said.pop("treatment")
    assert treatment == [
        {"pieces": 3, "unknown": 0, "capitals": "Made lower case.", "restored": "Not exactly."},
        {"pieces": 2, "unknown": 0, "restored": "Not exactly."},
    ]
    assert list(said) == ["tokens", "input_ids", "token_type_ids", "attention_mask", "offsets"]
    assert said["tokens"] == ["[CLS]", "good", "film", "##ing", "[SEP]", "bad", "!", "[SEP]"]
    assert said["input_ids"] == [TOKENS.index(token) for token in said["tokens"]]
    assert said["token_type_ids"] == [0, 0, 0, 0, 0, 1, 1, 1] and said["attention_mask"] == [1] * 8
    assert said["offsets"][1:4] == [[0, 4], [5, 9], [9, 12]] and said["offsets"][5] == [0, 3]
    code, out, _ = engine("tokenize", "--model", "start", "good film")
    assert code == 0 and "[CLS]" in out and "good" in out
    assert out.endswith("A: 2 pieces, 0 unknown\n   restored: Exactly.\n")


# In a process of their own


@pytest.mark.slow
def test_only_the_answer_goes_to_stdout_whatever_the_terminal_can_show(place: Path) -> None:
    write_table(place / "zh.csv", [(text, {"bad": "坏", "good": "好"}[label]) for text, label in reviews(20)])
    model_folder(place / "zh", labels=("坏", "好"))
    words = ("evaluate", "--model", "zh", "--data", "zh.csv", "--text", "text", "--label", "label", "--json")
    code, out, err = run_engine(*words, environment={"PYTHONIOENCODING": "ascii"})
    assert code == 0, err
    assert json.loads(out)["labels"] == ["坏", "好"] and "test loss" in err and out.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="signals are not of this system")
def test_ctrl_c_stops_and_keeps_and_says_how_to_go_on(place: Path) -> None:
    config = tiny_config(place, num_epochs=400)
    process = start_engine(*command_of(config, place / "run"))
    while read_status(place / "run").get("step", 0) < 10 and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err
    assert f"resume {place / 'run'}" in err.splitlines()[-1]
    assert read_status(place / "run")["state"] == "stopped"
    assert (place / "run" / "model" / "model.safetensors").is_file()


@contextmanager
def disk_with_room_for(size: int) -> Iterator[None]:
    """Let no file grow beyond `size` bytes, as on a full disk."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.slow
@pytest.mark.parametrize("size", [10, 700, 3000, 17000, 19000, 40000])
def test_a_full_disk_costs_a_sentence_and_harms_nothing(place: Path, engine: Engine, size: int) -> None:
    config = tiny_config(place)
    list(fine_tune(config, place / "whole"))
    run = place / "run"
    with disk_with_room_for(size):
        code, _, err = engine(*command_of(config, run))
    last = err.splitlines()[-1]
    assert code == 2 and "The disk is full" in last and last.endswith("try again.") and "Traceback" not in err
    assert not list(run.rglob("*.partial"))
    assert not (run / "status.json").exists() or "disk is full" in read_status(run).get(
        "reason", "disk is full"
    )
    code, _, err = engine(*(["resume", run] if (run / "config.toml").exists() else command_of(config, run)))
    assert code == 0, err
    assert outcome(run) == outcome(place / "whole")


# Lines to copy


@pytest.mark.slow
def test_a_copied_line_does_the_same_run(place: Path, engine: Engine) -> None:
    changes = {"learning_rate": 5e-4, "truncation": "head", "seed": 7, "header": "yes", "separator": ","}
    config = tiny_config(place, num_epochs=1, **changes)
    line = shlex.split(finetune_command(config, place / "run"))
    assert line[:4] == ["python", "-m", "engine", "finetune"] and "--header" in line
    assert engine(*line[3:])[0] == 0
    assert read_config(place / "run") == config


def test_copied_lines_quote_what_a_shell_would_change() -> None:
    how = ReadSettings(separator="\t", quoting="none", header="no")
    asked = PredictionQuestion(
        ModelName(Path("a b")),
        data="d;ls.tsv",
        out=Path("$out.csv"),
        how=how,
        text="#1 String",
        text_pair="it's",
    )
    for line in (
        asked.command(),
        finetune_command(
            with_values(FineTuneConfig(), {"text": "#1 String", "data": "d;ls.tsv"}), Path("a b")
        ),
    ):
        words = shlex.split(line)
        assert {"#1 String", "d;ls.tsv", "a b"} <= set(words)
    words = shlex.split(asked.command())
    assert words[words.index("--text-pair") + 1] == "it's" and words[words.index("--separator") + 1] == "tab"
    assert "--no-header" in words
    assert "--text=-text" in replace(asked, text="-text").command()


# where input, output or locale are not what a terminal has


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="has neither /dev/full nor a shell that closes inputs")
def test_a_closed_input_a_full_output_and_a_bare_locale_are_one_sentence_each(place: Path) -> None:
    bare = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    said = {
        "predict --model start --stream <&-": ("input of this process is closed", {}),
        "tokenize --model start 'good film' >/dev/full": ("could not be written: No space", {}),
        "runs --runs . --json >/dev/full": ("could not be written: No space", {}),
        "tokenize --model start '好'": ("cannot hold all characters", bare),
    }
    said["tokenize --model start 'good film' >&- 2>&-"] = ("", {})
    for words, (sentence, around) in said.items():
        line = ["sh", "-c", f"{shlex.quote(sys.executable)} -m engine {words}"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT), **around}
        done = subprocess.run(line, capture_output=True, text=True, env=environment, check=False)
        assert done.returncode == (2 if sentence else 0) and sentence in done.stderr, done.stderr
        assert not sentence or is_one_sentence(done.stderr)


def test_a_long_command_says_that_it_lives_where_there_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = iter(range(0, 1000, 10))
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    screen = Screen()
    for done in range(9):
        screen.tell(Progress(stage="Counting words", done=done, total=9))
    lines = capsys.readouterr().err.splitlines()
    assert 2 <= len(lines) <= 5 and lines[0].startswith("Counting words ") and lines[0].endswith(" of 9")
