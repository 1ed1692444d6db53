"""The text of the Chinese starter: mixed from its sources, what is held out in no document to train on."""

from __future__ import annotations

import lzma
import zipfile
from pathlib import Path

import pytest

from assets.models import chinese_text
from assets.models.chinese_text import (
    ARTICLES,
    ATTRIBUTION,
    GENERAL,
    HELD_OUT,
    HELD_OUT_EVERY,
    LAWS,
    READ,
    STORIES,
    TEXT,
    Document,
    divided,
    mixture,
    told,
    write,
)

STORY = "1 ||| 小 猫 在 院子 里 玩 。\n2 ||| 它 看见 了 一 只 鸟 。\n3 ||| 小 猫 在 XXXXX 里 玩 。 ||| 院子\n"


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Small sources in the form of the real ones."""
    for name, count in ((GENERAL, 3), (LAWS, HELD_OUT_EVERY), (ARTICLES, 2)):
        texts = "\n\n".join(f"{name} {number}\n第{number}条 内容{number}。" for number in range(count))
        with lzma.open(tmp_path / f"{name}.txt.xz", "wt", encoding="utf-8") as file:
            file.write(texts + "\n")
    kinds = ("Wikipedia\t数学\tzh.wikipedia.org\tCC BY-SA 3.0", "textbook\t树\toi-wiki\tCC BY-SA 4.0")
    listed = ("kind\ttitle\tauthor\tlicence", *kinds, "classical novel\t红楼梦\t曹雪芹\tpublic domain")
    (tmp_path / f"{GENERAL}-attribution.tsv").write_text("\n".join(listed) + "\n", encoding="utf-8")
    (tmp_path / f"{ARTICLES}-attribution.tsv").write_text("A\tb.org\nC\td.org\n", encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "cft.zip", "w") as archive:
        archive.writestr(READ, STORY)
    return tmp_path


def test_a_story_comes_without_its_numbers_spaces_and_question(sources: Path) -> None:
    ((story, (question, answer)),) = told(sources / "cft.zip", READ)
    assert story == "小猫在院子里玩。\n它看见了一只鸟。"
    assert (question, answer) == ("小猫在XXXXX里玩。", "院子")


def test_no_line_of_a_held_out_document_is_in_one_to_train_on() -> None:
    texts = [f"第{number}条。\n{'同一行' if number % 7 == 0 else number}" for number in range(120)]
    kept, held_out = divided(Document(LAWS, text) for text in texts)
    assert len(held_out) == 2
    shown = {line for one in held_out for line in one.text.split("\n")}
    assert not shown & {line for one in kept for line in one.text.split("\n")}


def test_modern_prose_comes_three_times_and_laws_in_part() -> None:
    stories = [Document(STORIES, f"故事{number}") for number in range(10)]
    laws = [Document(LAWS, f"法{number}") for number in range(1000)]
    mixed = mixture([*stories, *laws])
    assert sum(one.kind == STORIES for one in mixed) == 30
    assert 150 < sum(one.kind == LAWS for one in mixed) < 250
    assert mixed == mixture([*stories, *laws])


def test_the_text_is_written_with_who_wrote_what_is_not_free(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chinese_text, "traditional", lambda documents: list(documents))
    write(sources, sources / "cft.zip", tmp_path / "out")
    text, kept = ((tmp_path / "out" / name).read_text(encoding="utf-8") for name in (TEXT, HELD_OUT))
    assert text.count("小猫在院子里玩。") == 3 and "XXXXX" not in text
    assert kept.startswith(f"{LAWS} {HELD_OUT_EVERY - 1}\n")
    listed = (tmp_path / "out" / ATTRIBUTION).read_text(encoding="utf-8").splitlines()
    assert len(listed) == 6 and not any("红楼梦" in line for line in listed)
