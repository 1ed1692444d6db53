"""Texts in another script, and characters that nobody sees."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.doctor.characters import is_mixed, on_characters, unseen_in
from engine.doctor.finding import Finding
from engine.doctor.part import reading_part
from engine.events import result_of
from engine.text.roles import Roles
from engine.text.table import read_table, write_csv

ENGLISH = [f"a plain sentence, the {place}. of many" for place in range(120)]
SCRIPTS = (
    "Кто написал эту книгу?",
    "Ποιος έγραψε αυτό;",
    "من كتب هذا الكتاب؟",
    "यह किताब किसने लिखी",
    "这本书是谁写的",
)


def found_in(folder: Path, texts: list[str]) -> dict[str, Finding]:
    write_csv(folder / "rows.csv", ("text",), [(text,) for text in texts])
    part = result_of(reading_part("rows.csv", read_table(folder / "rows.csv", header="yes"), Roles("text")))
    return {finding.kind: finding for finding in result_of(on_characters(part))}


def test_the_few_rows_in_another_script_are_named_without_a_model(tmp_path: Path) -> None:
    found = found_in(tmp_path, [*ENGLISH, *SCRIPTS, "1999!", "café naïve", "a 中文 word"])
    assert set(found) == {"other_script"}
    assert found["other_script"].rows.tolist() == [120, 121, 122, 123, 124]
    assert "Greek" in str(found["other_script"].sentence)


def test_latin_letters_among_chinese_ones_are_no_other_script(tmp_path: Path) -> None:
    chinese = [f"第{place}个电影讲述了年轻人回家的故事" for place in range(60)]
    found = found_in(
        tmp_path, [*chinese, "跑赢A股基金9% QDII基金经理露制胜法则", "What is this film about ?"]
    )
    assert found["other_script"].rows.tolist() == [61]


def test_a_table_of_two_scripts_is_none_with_odd_rows(tmp_path: Path) -> None:
    assert not found_in(tmp_path, [*ENGLISH, *[SCRIPTS[4]] * 40])


@pytest.mark.parametrize(
    "odd", ["ze\u200bro", "so\u00adft", "\u202eabc", "bell\x07", "\ufeffstart", "a\u200db", "\x85"]
)
def test_a_character_that_cannot_be_seen_is_found(odd: str) -> None:
    assert unseen_in(odd)


@pytest.mark.parametrize(
    "text",
    [
        "a\tb\nc",
        "no\u00a0break",
        "👨\u200d👩\u200d👧 ❤\ufe0f",
        "می\u200cخواهم",
        "שלום\u200f, abc",
        "क्\u200dष",
        "你好",
        "é",
    ],
)
def test_what_belongs_to_how_a_text_is_written_is_not(text: str) -> None:
    assert not unseen_in(text)


def test_lost_characters_and_words_of_two_scripts_are_named(tmp_path: Path) -> None:
    found = found_in(
        tmp_path, [*ENGLISH, "caf\ufffd au lait", "log in to p\u0430ypal now", "the Δx and μm of it"]
    )
    assert found["lost_characters"].rows.tolist() == [120] and found["mixed_words"].rows.tolist() == [121]
    assert len(found) == 2 and is_mixed("\u0410pple") and not is_mixed("Москва") and not is_mixed("naïve")
