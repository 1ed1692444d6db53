"""The pages that look inside a RoBERTa or an XLM-R: pieces, words and masks are those of its own."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QPushButton
from pytestqt.qtbot import QtBot

from app.pages.probe.page import ProbePage
from app.pages.tokenizer import requests, vocabulary
from app.pages.tokenizer.page import TokenizerPage
from app.pages.tokenizer.words import summary
from engine.errors import UserError
from engine.events import result_of
from engine.model.heads import PreTraining
from engine.model.weights import save_model
from tests.app.hand import ShowPage
from tests.app.pages.test_tokenizer_page import write_vocab
from tests.fakes import scramble, tiny_byte_level, tiny_config, tiny_unigram

TEXT = "the film was [MASK], café"


def roberta(path: Path, kind: str = "roberta") -> Path:
    """Write a very small RoBERTa that guesses words, or an XLM-R."""
    tokenizer = tiny_byte_level() if kind == "roberta" else tiny_unigram()
    shape = {"vocab_size": tokenizer.vocab_size, "type_vocab_size": 1, "pad_token_id": tokenizer.pad_id}
    model = PreTraining(tiny_config(model_type=kind, **shape))
    scramble(model)
    save_model(path, model.eval(), tokenizer, {"task": "pretraining"})
    return path


@pytest.mark.parametrize("kind", ["roberta", "xlm-roberta"])
def test_masked_words_takes_a_typed_mask_and_a_clicked_word(
    show_page: ShowPage[ProbePage], tmp_path: Path, kind: str
) -> None:
    page = show_page(ProbePage)
    page.session.inspector.choose(roberta(tmp_path / "model", kind))
    page.session.inspector.set_text(TEXT, "")
    assert page.session.wait_idle()
    about = page.session.inspector.about
    assert about is not None and about.has_masked_words and not about.has_next_sentence
    draft = page.draft
    assert [word.text for word in draft.words] == ["the", "film", "was", "[MASK]", ",", "café"]
    assert draft.masked is not None and [gap.text for gap in draft.masked.gaps] == ["[MASK]"]


def test_the_tokenizer_page_shows_pieces_as_they_are_and_says_how_they_came(
    show_page: ShowPage[TokenizerPage], tmp_path: Path
) -> None:
    page = show_page(TokenizerPage)
    page.session.inspector.choose(roberta(tmp_path / "model"))
    page.session.inspector.set_text(TEXT, "a play")
    assert page.session.wait_idle()
    found = page.text_view.found
    assert found is not None
    pieces = [row.piece for row in found.rows]
    assert pieces[0] == "<s>" and "<mask>" in pieces and "Ġfilm" in pieces and "é" in pieces
    assert [row.piece for row in found.rows if row.kind == "special"] == ["<s>", "</s>", "</s>", "</s>"]
    assert page.text_view.strip.buttons["frame"].text().endswith("4 added")


def test_the_tokenizer_page_says_why_a_word_is_spelled_so_and_what_would_be_next(
    show_page: ShowPage[TokenizerPage], tmp_path: Path
) -> None:
    page = show_page(TokenizerPage)
    page.session.inspector.choose(roberta(tmp_path / "model", "xlm-roberta"))
    page.session.inspector.set_text("the playing film 9", "")
    assert page.session.wait_idle()
    found = page.text_view.found
    assert found is not None and [row.piece for row in found.rows][:4] == ["<s>", "▁the", "▁play", "ing"]
    card = page.text_view.detail
    said = card.findChild(QLabel, "tokenizer_why_match")
    assert isinstance(said, QLabel)
    assert "“▁playing” is not in the vocabulary as a whole" in said.text()
    assert "the first one below has the largest sum of scores, −10.5." in said.text()
    assert "The next best has −29.0." in said.text()
    card.set_word(0, 3)
    assert said.text() == "The vocabulary has no piece for some of “9”, so that becomes unknown."
    card.set_word(0, 0)
    assert "“▁the” is in the vocabulary as a whole." in said.text()
    assert summary(found) == "6 pieces, 1 unknown"


def test_the_tokenizer_page_shows_every_merge_of_a_words_bytes_in_their_order(
    show_page: ShowPage[TokenizerPage], tmp_path: Path
) -> None:
    page = show_page(TokenizerPage)
    page.session.inspector.choose(roberta(tmp_path / "model"))
    page.session.inspector.set_text("the playing film", "")
    assert page.session.wait_idle()
    card = page.text_view.detail
    said = card.findChild(QLabel, "tokenizer_why_match")
    assert isinstance(said, QLabel)
    card.set_word(0, 1)
    assert "“playing” ends as several pieces: no merge joins them." in said.text()
    assert "Its 8 bytes are joined 4 times." in said.text()
    assert card.merges.isVisibleTo(card) and not card.ladder.isVisibleTo(card)
    rows = card.merges.numbers()[1:]
    assert [row[3] for row in rows] == ["pl", "ay", "play", "Ġplay"] and rows[-1][4] == "Ġplay i n g"
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert card.merges.words_of(0) == "Merge 13 of 17: p and l become pl"
    assert page.figures_shown()[-1] is card.merges
    page.text_view.choose_row(0)  # <s>
    assert card.merges.is_empty


def test_the_tokenizer_page_shows_the_way_taken_and_all_pieces_that_it_was_taken_from(
    show_page: ShowPage[TokenizerPage], tmp_path: Path
) -> None:
    page = show_page(TokenizerPage)
    page.session.inspector.choose(roberta(tmp_path / "model", "xlm-roberta"))
    page.session.inspector.set_text("the playing film", "")
    assert page.session.wait_idle()
    card = page.text_view.detail
    card.set_word(0, 1)
    assert card.ways.isVisibleTo(card)
    assert card.ways.words_of(0) == "Taken, sum −10.5: ▁play (−5.0), ing (−5.5)"
    assert card.ways.words_of(1).startswith("Next best, sum −29.0: ▁play (−5.0), i (−8.0)")
    rows = card.ways.numbers()[1:]
    assert {row[0] for row in rows} == {"taken", "next best", "other piece"}
    drawn = [(row[1], row[2]) for row in rows if row[0] == "other piece"]
    assert len(drawn) == len(set(drawn)) and ("▁", 0) in drawn and ("ing", 5) not in drawn
    for row in range(2, card.ways.num_rows):  # no two pieces of a row over one another
        ends = [(one.start, one.stop) for one in card.ways._rows[row]]
        assert all(stop <= start for (_, stop), (start, _) in pairwise(ends))


def cell(page: TokenizerPage, name: str) -> str:
    found = page.findChild(QLabel, name)
    assert isinstance(found, QLabel)
    return found.text()


@pytest.mark.slow
def test_several_vocabularies_stand_side_by_side_and_say_what_they_did_to_the_text(
    show_page: ShowPage[TokenizerPage], tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "kinds_root", lambda: tmp_path / "kinds")
    monkeypatch.setattr(vocabulary, "kinds_root", lambda: tmp_path / "kinds")
    monkeypatch.setattr(requests, "sample_passages", lambda: (("the good film", "a bad film") * 9,))
    monkeypatch.setattr(requests, "SAMPLE_SIZE", 300)
    page = show_page(TokenizerPage)
    page.session.inspector.choose(roberta(tmp_path / "model"))
    page.session.inspector.set_text("The film 今天 12", "")
    assert page.session.wait_idle()
    page.show_view("side")
    view = page.side_view
    qtbot.waitUntil(lambda: len(view.found) == 4 and page.session.workers.is_idle)
    kinds = [type(one.vocabulary.wordpiece).__name__ for one in view.found]
    assert kinds == ["ByteLevel", "WordPiece", "ByteLevel", "Unigram"]
    assert [cell(page, f"tokenizer_capitals_{place}") for place in (1, 2)] == [
        "Kept.",
        "Made lower case.",
    ]
    assert "parts of a character" in cell(page, "tokenizer_chinese_1")
    assert cell(page, "tokenizer_chinese_2") == "Unknown, all of them."
    assert [flow.words[0].text for flow in view.flows] == ["T", "the", "T", "▁"]
    assert cell(page, "tokenizer_pieces_1") == f"{len(view.flows[0].words)} pieces"
    assert page.figures_shown() == tuple(view.flows)
    kept = page.state
    assert kept.step == "side"
    # one more, and away again
    view.add(write_vocab(tmp_path / "own.txt"))
    qtbot.waitUntil(lambda: len(view.found) == 5 and page.session.workers.is_idle)
    assert view.found[1].vocabulary.path == tmp_path / "own.txt"
    with pytest.raises(UserError, match="A scene holds two vocabularies at most"):
        _ = page.state
    qtbot.mouseClick(page.findChild(QPushButton, "tokenizer_remove_2"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(view.found) == 4 and page.session.workers.is_idle)
    # from a column to its steps; the trained ones can be chosen from then on
    qtbot.mouseClick(page.findChild(QPushButton, "tokenizer_steps_4"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: page.bar.first is not None and page.bar.first.path.name == "unigram")
    assert page.view == "text"
    page.show_state(kept)
    assert page.session.wait_idle() and page.view == "side" and page.state == kept
    names = [page.bar.boxes[0].itemText(number) for number in range(page.bar.boxes[0].count())]
    assert {"WordPiece, small", "Byte-level BPE, small", "Unigram, small"} <= set(names)
    page.show_view("side")
    page.session.inspector.set_text("a film " * 2_000, "")
    assert page.session.wait_idle()
    assert cell(page, "tokenizer_side_cut") == "Only the first 10,000 characters are compared."
    assert view.cut.isVisible() and len(view.flows[0].words) == 2_000
    page.session.inspector.set_text("", "")
    assert page.session.wait_idle() and not view.views.is_answered


@pytest.mark.slow
def test_where_nothing_can_be_written_the_opened_vocabularies_are_compared_alone(
    show_page: ShowPage[TokenizerPage], tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kinds").write_text("in the way")
    monkeypatch.setattr(requests, "kinds_root", lambda: tmp_path / "kinds")
    monkeypatch.setattr(requests, "sample_passages", lambda: (("the good film",) * 9,))
    page = show_page(TokenizerPage)
    page.session.inspector.choose(roberta(tmp_path / "model"))
    page.session.inspector.set_text("the film", "")
    assert page.session.wait_idle()
    page.show_view("side")
    qtbot.waitUntil(lambda: "could not be written" in page.banner.text())
    assert page.session.wait_idle() and len(page.side_view.found) == 1
    assert cell(page, "tokenizer_side_said") == "No vocabulary could be trained here."
    (tmp_path / "kinds").unlink()
    page.show_view("text")
    page.show_view("side")
    qtbot.waitUntil(lambda: len(page.side_view.found) == 4 and page.session.workers.is_idle)


def test_a_vocabulary_that_cannot_be_read_is_refused_and_the_others_stay(
    show_page: ShowPage[TokenizerPage], tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requests, "kinds_root", lambda: tmp_path / "kinds")
    monkeypatch.setattr(requests, "sample_passages", lambda: (("the good film",) * 9,))
    monkeypatch.setattr(requests, "SAMPLE_SIZE", 300)
    page = show_page(TokenizerPage)
    page.session.inspector.set_text("the film", "")
    page.show_view("side")
    view = page.side_view
    qtbot.waitUntil(lambda: len(view.found) >= 3 and page.session.workers.is_idle)
    count = len(view.found)
    (tmp_path / "broken.txt").write_text("a\nb\n")
    view.add(tmp_path / "broken.txt")
    assert page.session.wait_idle()
    assert "lacks" in page.banner.text() and len(view.found) == count


@pytest.mark.slow
def test_the_three_of_the_sample_passages_know_both_languages_and_open_in_transformers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers")
    monkeypatch.setattr(requests, "kinds_root", lambda: tmp_path)
    found = result_of(requests.open_three_kinds())
    text = "the river in 2010, 中国"
    for one in found:
        tokenizer = one.wordpiece
        assert 7_800 < tokenizer.vocab_size <= requests.SAMPLE_SIZE
        ids = tokenizer.encode(text).input_ids
        assert tokenizer.unk_id not in ids
        assert transformers.AutoTokenizer.from_pretrained(one.path)(text)["input_ids"] == ids
