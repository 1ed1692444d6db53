"""Rows in another script, another language or another form of Chinese characters than the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.doctor.finding import Finding
from engine.doctor.languages import on_languages
from engine.doctor.part import reading_part
from engine.events import result_of
from engine.text.roles import Roles
from engine.text.table import read_table, write_csv

ENGLISH = [f"a plain sentence, the {place}. of many" for place in range(120)]
SIMPLIFIED = [f"第{place}个电影讲述了年轻人回家的故事" for place in range(60)]
TRADITIONAL = ["我喜歡這家酒店，服務態度很好", "房間有點小，電視機也壞了"]
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
    return {finding.kind: finding for finding in result_of(on_languages(part))}


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


def test_the_few_rows_in_another_language_of_the_same_letters_are_named(tmp_path: Path) -> None:
    odd = ["La película no es tan buena como el libro.", "Der Film ist nicht so gut wie das Buch."]
    found = found_in(tmp_path, [*ENGLISH, *odd, "Nokia 3310", "ok", "Titanic"])
    assert set(found) == {"other_language"} and found["other_language"].rows.tolist() == [120, 121]
    assert "than the rest (English): Spanish, German" in str(found["other_language"].sentence)


def test_a_table_of_two_languages_is_none_with_odd_rows(tmp_path: Path) -> None:
    german = ["Der Film ist nicht so gut wie das Buch, aber ich mag ihn."] * 30
    assert not found_in(tmp_path, [*ENGLISH, *german])


def test_a_row_of_another_script_is_named_once(tmp_path: Path) -> None:
    found = found_in(tmp_path, [*ENGLISH, "Фильм не так хорош, как книга, но это мне нравится."])
    assert set(found) == {"other_script"}


@pytest.mark.parametrize("share", [1, 2])
def test_traditional_characters_among_simplified_ones_are_named(tmp_path: Path, share: int) -> None:
    rows = TRADITIONAL[:share]
    found = found_in(tmp_path, [*SIMPLIFIED, *rows, "酒店很好", "周傑倫"])
    assert set(found) == {"traditional_rows"}
    assert found["traditional_rows"].rows.tolist() == [*range(60, 60 + share), 61 + share]


def test_simplified_characters_among_traditional_ones_are_named(tmp_path: Path) -> None:
    found = found_in(tmp_path, [*TRADITIONAL * 20, "这家酒店的服务很好"])
    assert set(found) == {"simplified_rows"} and found["simplified_rows"].rows.tolist() == [40]


def test_one_traditional_name_in_a_simplified_text_is_no_odd_row(tmp_path: Path) -> None:
    assert not found_in(tmp_path, [*SIMPLIFIED, "陶喆的歌很好听", "喆", "王堃"])


def test_japanese_is_in_no_form_of_chinese(tmp_path: Path) -> None:
    japanese = [
        "この映画はとても楽しくて、図書館で勉強した経験を思い出した。",
        "東京都庁の写真を撮りました。",
    ]
    assert not found_in(tmp_path, [*japanese * 20, "東京都庁", "経済学部"])
