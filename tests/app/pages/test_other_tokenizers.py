"""The pages that look inside a RoBERTa or an XLM-R: pieces, words and masks are those of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QLabel

from app.pages.probe.page import ProbePage
from app.pages.tokenizer.page import TokenizerPage
from app.pages.tokenizer.words import summary
from engine.model.heads import PreTraining
from engine.model.weights import save_model
from tests.app.hand import ShowPage
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
    assert "largest sum of scores, −10.5: ▁play (−5.0), ing (−5.5)." in said.text()
    assert "The next is ▁play (−5.0), i (−8.0), n (−8.0), g (−8.0): −29.0." in said.text()
    card.set_word(0, 3)
    assert said.text() == "The vocabulary has no piece for some of “9”, so that becomes unknown."
    card.set_word(0, 0)
    assert "“▁the” is in the vocabulary as a whole." in said.text()
    assert summary(found) == "6 pieces, 1 unknown"
