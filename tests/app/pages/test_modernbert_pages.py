"""The pages that look inside a ModernBERT: its pieces and masks, and heads of which some look near alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from app.pages.attention.page import AttentionPage
from app.pages.attention.state import PICTURES
from app.pages.probe.page import ProbePage
from app.pages.tokenizer.page import TokenizerPage
from engine.model.heads import PreTraining
from engine.model.weights import save_model
from engine.text.byte_level import MODERNBERT
from tests.app.hand import ShowPage
from tests.fakes import scramble, tiny_byte_level, tiny_config

TEXT = "the film was [MASK], café"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A very small ModernBERT that guesses words."""
    tokenizer = tiny_byte_level(MODERNBERT)
    shape = {"vocab_size": tokenizer.vocab_size, "pad_token_id": tokenizer.pad_id}
    near = {"extra": {"local_attention": 4}}
    model = PreTraining(tiny_config(model_type="modernbert", **shape, **near))
    scramble(model)
    save_model(tmp_path / "model", model.eval(), tokenizer, {"task": "pretraining"})
    return tmp_path / "model"


def test_masked_words_takes_a_typed_mask_and_a_clicked_word(
    show_page: ShowPage[ProbePage], folder: Path
) -> None:
    page = show_page(ProbePage)
    page.session.inspector.choose(folder)
    page.session.inspector.set_text(TEXT, "")
    assert page.session.wait_idle()
    about = page.session.inspector.about
    assert about is not None and about.has_masked_words and not about.has_next_sentence
    draft = page.draft
    assert [word.text for word in draft.words] == ["the", "film", "was", "[MASK]", ",", "café"]
    assert draft.masked is not None and [gap.text for gap in draft.masked.gaps] == ["[MASK]"]


def test_the_tokenizer_page_shows_pieces_as_they_are_and_the_tokens_around_a_pair(
    show_page: ShowPage[TokenizerPage], folder: Path
) -> None:
    page = show_page(TokenizerPage)
    page.session.inspector.choose(folder)
    page.session.inspector.set_text(TEXT, "a play")
    assert page.session.wait_idle()
    found = page.text_view.found
    assert found is not None
    pieces = [row.piece for row in found.rows]
    assert pieces[0] == "[CLS]" and "[MASK]" in pieces and "Ġfilm" in pieces and "é" in pieces
    assert [row.piece for row in found.rows if row.kind == "special"] == ["[CLS]", "[SEP]", "[SEP]"]
    assert page.text_view.strip.buttons["frame"].text().endswith("3 added")


def test_attention_shows_its_heads_in_every_picture(show_page: ShowPage[AttentionPage], folder: Path) -> None:
    page = show_page(AttentionPage)
    page.session.inspector.choose(folder)
    page.session.inspector.set_text(TEXT, "")
    assert page.session.wait_idle() and page.maps is not None
    assert page.maps.attentions.shape[:2] == (2, 3)
    for picture in PICTURES:
        page.take_state(replace(page.state, chosen=replace(page.state.chosen, picture=picture)))
        assert page.session.wait_idle() and page.figures_shown(), picture
