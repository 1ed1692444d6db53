"""Characters that nobody sees, that were lost, of two scripts in one word, or as wide as Chinese ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.doctor.characters import is_mixed, on_characters, unseen_in
from engine.doctor.finding import Finding
from engine.doctor.part import reading_part
from engine.events import result_of
from engine.text.recipe import Recipe
from engine.text.roles import Roles
from engine.text.table import read_table, write_csv

ENGLISH = [f"a plain sentence, the {place}. of many" for place in range(120)]


def found_in(folder: Path, texts: list[str]) -> dict[str, Finding]:
    write_csv(folder / "rows.csv", ("text",), [(text,) for text in texts])
    part = result_of(reading_part("rows.csv", read_table(folder / "rows.csv", header="yes"), Roles("text")))
    return {finding.kind: finding for finding in result_of(on_characters(part))}


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


def test_full_width_letters_and_digits_are_named_and_written_half_width(tmp_path: Path) -> None:
    texts = ["住了５晚，ＷＩＦＩ很慢！", "住了5晚，WIFI很慢！", "好，很好。（真的）", "ｶﾀｶﾅ", "~～"]
    found = found_in(tmp_path, texts)
    assert set(found) == {"full_width"} and found["full_width"].rows.tolist() == [0]
    assert "Ｉ" in str(found["full_width"].sentence) and "One text" in str(found["full_width"].sentence)
    table = read_table(tmp_path / "rows.csv", header="yes")
    recipe = Recipe.of(table).plus(*found["full_width"].mends)
    mended = recipe.applied(table).frame["text"].tolist()
    assert mended == ["住了5晚，WIFI很慢！", *texts[1:]]
    assert not found_in(tmp_path, mended)


def test_both_texts_of_a_pair_are_written_half_width(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    write_csv(path, ("a", "b"), [("ＡＢ", "x"), ("y", "１"), ("z", "z")])
    table = read_table(path, header="yes")
    part = result_of(reading_part("pairs.csv", table, Roles("a", "b")))
    (finding,) = result_of(on_characters(part))
    assert finding.rows.tolist() == [0, 1]
    frame = Recipe.of(table).plus(*finding.mends).applied(table).frame
    assert frame["a"].tolist() == ["AB", "y", "z"] and frame["b"].tolist() == ["x", "1", "z"]
