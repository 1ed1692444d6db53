"""What the engine puts together from parts follows the language that is spoken, its signs too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import engine.language
from engine.commands.command_line import main
from engine.commands.screen import Screen
from engine.errors import (
    Sentence,
    UserError,
    bracketed,
    captioned,
    clauses,
    closed,
    listed,
    marked,
    phrases,
    sentences,
)
from engine.events import Evaluated, Finished
from engine.language import ENGLISH, catalog, heads, metric_name, said, speak
from engine.own_process import environment_of
from engine.questions.writing import aligned, columns_of

NAMED = "The table lacks {names}."
TEXTS = {
    ("list", ", "): "、",
    ("phrase", ", "): "，",
    ("phrase", "{caption}: {text}"): "{caption}：{text}",
    ("phrase", "{text} ({more})"): "{text}（{more}）",
    ("table", "label"): "标签",
    ("metric", "micro_f1"): "微平均 F1",
    ("word", "No such file or directory"): "没有这个文件",
    ("engine", "There is no language {name}. Languages: {names}."): "没有 {name} 这种语言。可选：{names}。",
    ("engine", "{path} cannot be read: {reason}."): "无法读取 {path}：{reason}。",
    ("clause", "; "): "；",
    ("sentence", "{before} {after}"): "{before}{after}",
    ("sentence", "{phrase}."): "{phrase}。",
    ("word", "validation"): "验证",
    ("engine", NAMED): "表格没有 {names}。",
    ("engine", "step {step}: {split} loss {loss:.4f}"): "第 {step} 步：{split}损失 {loss:.4f}",
    ("engine", "done in {seconds:.1f} s"): "{no_such_value}",
    ("command", "the following arguments are required: %s"): "缺少参数：%s",
    ("command", "{message}. See: {command}"): "{message}。请看：{command}",
}


@pytest.fixture
def chinese(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A language of a few texts, which is spoken."""
    lines = [
        f"<context><name>{context}</name><message><source>{text}</source>"
        f"<translation>{translation}</translation></message></context>"
        for (context, text), translation in TEXTS.items()
    ]
    file = tmp_path / "xx.ts"
    file.write_text(f'<TS version="2.1" language="zh_CN">{"".join(lines)}</TS>', encoding="utf-8")
    monkeypatch.setattr(engine.language, "FOLDER", tmp_path)
    catalog.cache_clear()
    speak("xx")
    yield
    speak(ENGLISH)
    catalog.cache_clear()


def test_in_english_lists_have_commas_and_sentences_a_space() -> None:
    assert listed(["a", "b"]) == phrases(["a", "b"]) == "a, b" and clauses(["a", "b"]) == "a; b"
    assert sentences(["One.", "", "Two."]) == "One. Two."
    assert closed("One") == closed("One.") == "One."


def test_captions_brackets_heads_and_measures_follow_the_language(chinese: None) -> None:
    assert captioned("a", 1) == "a：1" and bracketed("a", "b") == "a（b）"
    assert heads("label", "", "p") == ("标签", "", "p")
    assert metric_name("micro_f1") == "微平均 F1" and metric_name("own_metric") == "own_metric"


def test_what_the_system_says_of_a_file_is_translated_in_a_sentence(chinese: None) -> None:
    said = UserError("{path} cannot be read: {reason}.", path="x", reason="No such file or directory")
    assert str(said) == "无法读取 x：没有这个文件。"


def test_a_process_of_our_own_speaks_the_language_of_its_parent(chinese: None) -> None:
    assert environment_of()["CLOZE_LANG"] == "xx" and environment_of(CLOZE_LANG="en")["CLOZE_LANG"] == "en"


def test_an_unknown_language_is_refused_in_the_one_of_the_environment(
    chinese: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLOZE_LANG", "xx")
    assert main(["--lang", "klingon", "runs"]) == 2
    assert capsys.readouterr().err.strip() == "没有 klingon 这种语言。可选：en、xx。"


def test_signs_between_parts_are_those_of_the_language(chinese: None) -> None:
    assert listed(["a", "b"]) == "a、b" and phrases(["a", "b"]) == "a，b" and clauses(["a", "b"]) == "a；b"
    assert sentences(["一。", "", "二。"]) == "一。二。"
    assert closed("一") == closed("一。") == "一。"
    assert str(Sentence(NAMED, {"names": ["text", "label"]})) == "表格没有 text、label。"
    assert str(UserError(marked("engine", "The table lacks {names}."), names=["a"] * 300)).endswith("、…。")


def test_a_terminal_is_told_in_the_language_and_in_english_where_a_translation_does_not_fit(
    chinese: None, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = Screen()
    found = {"f1": 0.25, "mae": 1.0}
    of_no_labels: dict[str, Any] = {"epoch": 1.0, "labels": (), "confusion": None, "per_label": {}}
    screen.tell(Evaluated(step=7, split="validation", loss=0.5, metrics=found, **of_no_labels))
    screen.tell(Finished(seconds=2.0, path=None))
    told = capsys.readouterr().err.splitlines()
    assert told == ["第 7 步：验证损失 0.5000，f1 0.2500，mae 1.0000", "done in 2.0 s"]
    assert said("{a} of {b}", a=1, b=2) == "1 of 2"


def test_a_command_that_lacks_something_is_refused_in_the_language(
    chinese: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLOZE_LANG", "xx")
    with pytest.raises(SystemExit):
        main([])
    assert capsys.readouterr().err == "缺少参数：COMMAND。请看：python -m engine --help\n"


def test_columns_of_a_table_are_as_wide_as_a_terminal_shows_them() -> None:
    lines = aligned([("label", "rows"), ("体育", "3"), ("a", "12")])
    assert lines == ["label  rows", "体育      3", "a        12"]
    assert {columns_of(line) for line in lines} == {11}
