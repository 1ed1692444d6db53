"""The pages that look inside a RoBERTa: pieces, words and masks are those of its own vocabulary."""

from __future__ import annotations

from pathlib import Path

from app.pages.probe.page import ProbePage
from app.pages.tokenizer.page import TokenizerPage
from engine.model.heads import PreTraining
from engine.model.weights import save_model
from tests.app.hand import ShowPage
from tests.fakes import scramble, tiny_byte_level, tiny_config

TEXT = "the film was [MASK], café"


def roberta(path: Path) -> Path:
    """Write a very small RoBERTa that guesses words."""
    tokenizer = tiny_byte_level()
    shape = {"vocab_size": tokenizer.vocab_size, "type_vocab_size": 1, "pad_token_id": tokenizer.pad_id}
    model = PreTraining(tiny_config(model_type="roberta", **shape))
    scramble(model)
    save_model(path, model.eval(), tokenizer, {"task": "pretraining"})
    return path


def test_masked_words_takes_a_typed_mask_and_a_clicked_word(
    show_page: ShowPage[ProbePage], tmp_path: Path
) -> None:
    page = show_page(ProbePage)
    page.session.inspector.choose(roberta(tmp_path / "model"))
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
