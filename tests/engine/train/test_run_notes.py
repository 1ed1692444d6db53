"""What a run noted is part of its files, with counts that equal those of a few plain lines."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.errors import Sentence
from engine.events import Event, Noted, Step
from engine.train.finetune import fine_tune, resume
from engine.train.pretrain import pretrain
from engine.train.resume import resume as resume_any
from engine.train.run.folder import Run
from engine.train.run.records import event_from_record
from engine.train.run.runs import read_metrics
from engine.train.tasks.known import CLASSIFICATION
from tests.engine.tiny_runs import reviews, tiny_config, write_table
from tests.engine.tiny_texts import text_config


def planted(folder: Path) -> dict[str, str]:
    """Write a table, a validation and a test file that share texts; return the settings."""
    rows = reviews(40)
    train = [*rows, *rows[:4], (rows[7][0], "odd"), (rows[8][0], "odd"), ("", "bad")]
    write_table(folder / "train.csv", train)
    write_table(folder / "validation.csv", [*rows[10:13], *[(f"x {n} good", "good") for n in range(5)]])
    test = [
        *rows[20:26],
        *[(f"x {n} good", "good") for n in range(2)],
        *[(f"y {n}", "bad") for n in range(4)],
    ]
    write_table(folder / "test.csv", test)
    return {
        "data": str(folder / "train.csv"),
        "validation_data": str(folder / "validation.csv"),
        "test_data": str(folder / "test.csv"),
    }


def texts(path: Path) -> list[str]:
    with path.open(encoding="utf-8", newline="") as file:
        return [row["text"] for row in csv.DictReader(file) if row["text"].strip()]


def shared(folder: Path, one: str, other: str) -> int:
    seen = set(texts(folder / f"{one}.csv"))
    return sum(text in seen for text in texts(folder / f"{other}.csv"))


def contradicting(path: Path) -> int:
    with path.open(encoding="utf-8", newline="") as file:
        pairs = {(row["text"], row["label"]) for row in csv.DictReader(file) if row["text"].strip()}
    return sum(count > 1 for count in Counter(text for text, _ in pairs).values())


def noted(events: Iterable[Event]) -> list[str]:
    return [str(event.sentence) for event in events if isinstance(event, Noted)]


def kept(run_dir: Path) -> list[str]:
    return noted(event for event in map(event_from_record, read_metrics(run_dir)) if event is not None)


def one_of(sentences: list[str], words: str) -> str:
    found = [sentence for sentence in sentences if words in sentence]
    assert len(found) == 1, (words, sentences)
    return found[0]


def test_every_pair_of_parts_is_checked_for_shared_texts(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, num_epochs=1, **planted(tmp_path))
    told = noted(CLASSIFICATION.prepare(config))
    for one, other, words in (
        ("train", "validation", "validation texts are also in the training data"),
        ("train", "test", "test texts are also in the training data"),
        ("validation", "test", "test texts are also in the validation data"),
    ):
        wanted = shared(tmp_path, one, other)
        assert wanted
        assert one_of(told, words).startswith(f"{wanted} of {len(texts(tmp_path / f'{other}.csv'))} ")
    train = tmp_path / "train.csv"
    repeats = len(texts(train)) - len(set(texts(train)))
    assert f"{repeats} rows of train.csv repeat a text of an earlier row." in told
    assert f"{contradicting(train)} texts of train.csv have more than one label." in told


def test_a_pair_with_its_sides_swapped_is_shared_too(tmp_path: Path) -> None:
    header, pairs = "text,other,label", [(f"good {n}", f"bad {n}", ("bad", "good")[n % 2]) for n in range(20)]
    write_table(tmp_path / "train.csv", pairs, header)
    swapped = [(pair, text, label) for text, pair, label in pairs[:3]]
    write_table(tmp_path / "test.csv", [*swapped, ("x", "y", "bad"), ("y", "z", "good")], header)
    names = {"data": str(tmp_path / "train.csv"), "test_data": str(tmp_path / "test.csv")}
    told = noted(
        CLASSIFICATION.prepare(tiny_config(tmp_path, text_pair="other", validation_share=0.0, **names))
    )
    sentence = one_of(told, "test texts are also in the training data")
    assert sentence.startswith("3 of 5 ") and "swapped sides" in sentence


def test_parts_that_share_nothing_are_said_to_be_apart_because_it_was_counted(tmp_path: Path) -> None:
    write_table(tmp_path / "reviews.csv", [(f"good {n} film", ("bad", "good")[n % 2]) for n in range(40)])
    told = noted(CLASSIFICATION.prepare(tiny_config(tmp_path, test_share=0.2)))
    assert "8 validation rows. No text is shared with training." in told
    assert "8 test rows. No text is shared with training." in told
    assert "No text of the 8 test rows is in the validation data." in told
    told = noted(CLASSIFICATION.prepare(tiny_config(tmp_path, validation_share=0.025)))
    assert "One validation row. No text is shared with training." in told


def test_without_validation_a_test_is_not_said_to_tell_nobody_how_good_the_result_is(tmp_path: Path) -> None:
    write_table(tmp_path / "reviews.csv", reviews(40))
    for share, is_told in ((0.0, True), (0.2, False)):
        told = noted(CLASSIFICATION.prepare(tiny_config(tmp_path, validation_share=0.0, test_share=share)))
        sentence = one_of(told, "No rows are held out for validation")
        assert ("quality of the result is unknown" in sentence) == is_told
        assert ("the last weights are the result" in sentence) != is_told


def test_all_that_a_run_notes_stands_in_its_files_before_its_first_step(tmp_path: Path) -> None:
    config = tiny_config(tmp_path, num_epochs=1, lowercase="yes", **planted(tmp_path))
    run_dir = tmp_path / "run"
    told = noted(fine_tune(config, run_dir))
    assert kept(run_dir) == list(dict.fromkeys(told))
    records = read_metrics(run_dir)
    before = records[: [record["event"] for record in records].index("started")]
    first = records[0]
    assert (
        first["text"] and first["level"] and first["sentence"]["template"] and "values" in first["sentence"]
    )
    setup = json.loads((run_dir / "setup" / "setup.json").read_text(encoding="utf-8"))
    assert {record["event"] for record in before} == {"noted"}
    assert [note["text"] for note in setup["notes"]] == kept(run_dir)[: len(setup["notes"])]
    assert len(setup["notes"]) < len(before)  # and how the model was loaded
    assert [one for one in setup["notes"] if one["sentence"]["values"].get("leaks")]
    cloze = json.loads((run_dir / "model" / "cloze.json").read_text(encoding="utf-8"))
    assert "notes" not in cloze
    one_of(kept(run_dir), "Line 48 of train.csv cannot be used: Line 48 has no text")


@pytest.mark.slow
def test_a_pretraining_run_keeps_its_notes_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.train.pretraining.setup.default_store_root", lambda: tmp_path / "cache")
    config, run_dir = text_config(tmp_path, trim_vocab=20), tmp_path / "run"
    whole = noted(pretrain(config, tmp_path / "whole"))
    assert len(whole) > 1 and kept(tmp_path / "whole") == whole
    assert not any("nothing yet" in note for note in whole)  # no longer true after the first step
    stopped(pretrain(config, run_dir), Step)
    list(resume_any(run_dir))
    assert kept(run_dir) == whole
    setup = json.loads((run_dir / "setup" / "setup.json").read_text(encoding="utf-8"))
    assert [note["text"] for note in setup["notes"]] == whole[: len(setup["notes"])] != []


def stopped(events: Any, at: type[Event]) -> None:
    for event in events:
        if isinstance(event, at):
            events.close()
            return


@pytest.mark.slow
@pytest.mark.parametrize("lost", [False, True])
def test_a_resumed_run_still_has_its_notes_each_once(tmp_path: Path, lost: bool) -> None:
    config = tiny_config(tmp_path, num_epochs=1, **planted(tmp_path))
    whole = noted(fine_tune(config, tmp_path / "whole"))
    run_dir = tmp_path / "run"
    stopped(fine_tune(config, run_dir), Step)
    if lost:  # killed before its first checkpoint was whole
        for path in (run_dir / "checkpoints").iterdir():
            (path / "manifest.json").unlink()
    again: Iterator[Event] = resume(run_dir)
    list(again)
    assert kept(run_dir) == list(dict.fromkeys(whole))


def test_what_an_earlier_part_of_a_run_noted_is_not_written_again(tmp_path: Path) -> None:
    config = tiny_config(tmp_path)
    note = Noted(sentence=Sentence("{path} is not complete.", {"path": tmp_path}))
    with Run.create(tmp_path / "run", config) as run:
        run.open_metrics(0)
        run.note(note)
    length = (tmp_path / "run" / "metrics.jsonl").stat().st_size
    with Run.reopen(tmp_path / "run") as run:
        run.open_metrics(length)
        run.note(note)
    assert [record["text"] for record in read_metrics(tmp_path / "run")] == [str(note.sentence)]


def test_a_run_keeps_that_its_training_texts_are_unknown_to_the_model(tmp_path: Path) -> None:
    rows = [(f"因为下雨，所以我们没有去 {row}", ("good", "bad")[row % 2]) for row in range(20)]
    write_table(tmp_path / "chinese.csv", rows)
    told = noted(fine_tune(tiny_config(tmp_path, data=str(tmp_path / "chinese.csv")), tmp_path / "run"))
    said = one_of(told, "unknown to this model")
    assert said == "208 of 208 pieces of 16 texts are unknown to this model.", "those it is trained on"
    assert said in kept(tmp_path / "run")
    write_table(tmp_path / "english.csv", reviews(20))
    told = noted(fine_tune(tiny_config(tmp_path, data=str(tmp_path / "english.csv")), tmp_path / "other"))
    assert not any("unknown" in one for one in told)
