"""The pages that look inside a DeBERTa: pieces that are bytes, and heads whose scores know distances."""

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
from tests.app.hand import ShowPage
from tests.fakes import scramble, tiny_config, tiny_unigram

TEXT = "the film was [MASK], 龘"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A very small DeBERTa that guesses words."""
    tokenizer = tiny_unigram("deberta")
    near = {"position_buckets": 4, "norm_rel_ebd": "layer_norm", "share_att_key": True}
    kinds = {"relative_attention": True, "position_biased_input": False, "pos_att_type": ["c2p", "p2c"]}
    shape = {"vocab_size": tokenizer.vocab_size, "extra": {**near, **kinds}}
    model = PreTraining(tiny_config(model_type="deberta-v2", **shape))
    scramble(model)
    save_model(tmp_path / "model", model.eval(), tokenizer, {"task": "pretraining"})
    return tmp_path / "model"


def test_the_bytes_of_a_character_are_one_word_that_a_click_hides(
    show_page: ShowPage[ProbePage], folder: Path
) -> None:
    page = show_page(ProbePage)
    page.session.inspector.choose(folder)
    page.session.inspector.set_text(TEXT, "")
    assert page.session.wait_idle()
    assert [word.text for word in page.draft.words] == ["the", "film", "was", "[MASK]", ",", "龘"]
    assert page.draft.masked is not None and [gap.text for gap in page.draft.masked.gaps] == ["[MASK]"]


def test_the_tokenizer_page_shows_the_bytes_and_says_what_they_are_for(
    show_page: ShowPage[TokenizerPage], folder: Path
) -> None:
    page = show_page(TokenizerPage)
    page.session.inspector.choose(folder)
    page.session.inspector.set_text(TEXT, "")
    assert page.session.wait_idle()
    found = page.text_view.found
    assert found is not None
    assert [row.piece for row in found.rows][-5:-1] == ["▁", "<0xE9>", "<0xBE>", "<0x98>"]
    said = page.text_view.detail.texts[1].text()
    assert "A character that no piece has is written as its bytes." in said


def test_attention_shows_its_heads_and_says_why_query_and_key_are_not_shown(
    show_page: ShowPage[AttentionPage], folder: Path
) -> None:
    page = show_page(AttentionPage)
    page.session.inspector.choose(folder)
    page.session.inspector.set_text(TEXT, "")
    assert page.session.wait_idle() and page.maps is not None
    for picture in (*(one for one in PICTURES if one != "query_key"), "query_key"):
        page.take_state(replace(page.state, chosen=replace(page.state.chosen, picture=picture)))
        assert page.session.wait_idle()
        is_shown = picture != "query_key"
        assert bool(page.figures_shown()) is page.banner.isHidden() is is_shown, picture
    assert "a query and a key alone do not give the score" in page.banner.text()
