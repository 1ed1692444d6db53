"""The pages that look inside a RoBERTa or a ModernBERT: pieces, words and masks are of its own vocabulary."""

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
from engine.text.byte_level import MODERNBERT, ROBERTA, Markers
from tests.app.hand import ShowPage
from tests.fakes import scramble, tiny_byte_level, tiny_config

TEXT = "the film was [MASK], café"


def saved(path: Path, markers: Markers) -> Path:
    """Write a very small model that guesses words."""
    tokenizer = tiny_byte_level(markers)
    shape = {"vocab_size": tokenizer.vocab_size, "type_vocab_size": 1, "pad_token_id": tokenizer.pad_id}
    model = PreTraining(tiny_config(model_type=markers.family.lower(), **shape))
    scramble(model)
    save_model(path, model.eval(), tokenizer, {"task": "pretraining"})
    return path


@pytest.mark.parametrize("markers", [ROBERTA, MODERNBERT])
def test_masked_words_takes_a_typed_mask_and_a_clicked_word(
    markers: Markers, show_page: ShowPage[ProbePage], tmp_path: Path
) -> None:
    page = show_page(ProbePage)
    page.session.inspector.choose(saved(tmp_path / "model", markers))
    page.session.inspector.set_text(TEXT, "")
    assert page.session.wait_idle()
    about = page.session.inspector.about
    assert about is not None and about.has_masked_words and not about.has_next_sentence
    draft = page.draft
    assert [word.text for word in draft.words] == ["the", "film", "was", "[MASK]", ",", "café"]
    assert draft.masked is not None and [gap.text for gap in draft.masked.gaps] == ["[MASK]"]


@pytest.mark.parametrize("markers", [ROBERTA, MODERNBERT])
def test_the_tokenizer_page_shows_pieces_as_they_are_and_says_how_they_came(
    markers: Markers, show_page: ShowPage[TokenizerPage], tmp_path: Path
) -> None:
    page = show_page(TokenizerPage)
    page.session.inspector.choose(saved(tmp_path / "model", markers))
    page.session.inspector.set_text(TEXT, "a play")
    assert page.session.wait_idle()
    found = page.text_view.found
    assert found is not None
    pieces = [row.piece for row in found.rows]
    assert pieces[0] == markers.cls and markers.mask in pieces and "Ġfilm" in pieces and "é" in pieces
    around = [markers.cls, *[markers.sep] * (markers.num_between + 1)]
    assert [row.piece for row in found.rows if row.kind == "special"] == around
    assert page.text_view.strip.buttons["frame"].text().endswith(f"{len(around)} added")


def test_attention_shows_the_heads_of_a_modernbert_in_every_picture(
    show_page: ShowPage[AttentionPage], tmp_path: Path
) -> None:
    page = show_page(AttentionPage)
    page.session.inspector.choose(saved(tmp_path / "model", MODERNBERT))
    page.session.inspector.set_text(TEXT, "")
    assert page.session.wait_idle() and page.maps is not None
    assert page.maps.attentions.shape[:2] == (2, 3)
    for picture in PICTURES:
        page.take_state(replace(page.state, chosen=replace(page.state.chosen, picture=picture)))
        assert page.session.wait_idle() and page.figures_shown(), picture
