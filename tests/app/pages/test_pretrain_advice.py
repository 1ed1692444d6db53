"""What is said of a text and of a model that learns from it, without a window."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from app.pages.pretrain.advice import PretrainAdvice, TextFacts, on_text
from engine.errors import Sentence
from engine.events import Evaluated, Noted, Pinned, Reading, Step
from engine.text.corpus.corpus import CorpusReport
from tests.looks.language_scenes import InventedReading

PIECES = 8192
BLIND = math.log(PIECES)
PLATEAU = 6.4  # what guessing by frequency costs


def report(**changes: Any) -> CorpusReport:
    values: dict[str, Any] = {
        "num_files": 1, "num_bytes": 9, "num_documents": 60, "num_paragraphs": 600, "num_sentences": 6000,
        "num_characters": 90_000, "layouts": ("paragraphs",), "encodings": ("utf-8",), "num_lines": 600,
        "num_repeated": 0, "most_repeated": (), "notes": (),
    }  # fmt: skip
    return CorpusReport(**{**values, **changes})


def step(number: int, loss: float, progress: float, accuracy: float = 0.06) -> Step:
    return Step(
        step=number, epoch=progress, loss=loss + 0.7, accuracy=accuracy, learning_rate=1e-3,
        gradient_norm=1.0, num_tokens=9, tokens_per_s=9.0, elapsed_s=1.0, remaining_s=1.0, progress=progress,
        measures={"mlm_loss": loss},
    )  # fmt: skip


def evaluation(number: int, loss: float, pairs: float = 0.5) -> Evaluated:
    metrics = {"mlm_loss": loss, "perplexity": math.exp(loss), "mlm_accuracy": 0.1, "nsp_accuracy": pairs}
    return Evaluated(
        step=number, epoch=0.1, split="validation", loss=loss, metrics=metrics, labels=(), confusion=None,
        per_label={},
    )  # fmt: skip


def pinned(*first: str) -> Pinned:
    readings = (Reading(sentence=f"{n} [x].", guesses=((word, 0.3),)) for n, word in enumerate(first))
    return Pinned(step=9, progress=0.1, readings=tuple(readings))


def advice_on_a_run(*, is_new: bool = True) -> PretrainAdvice:
    advice = PretrainAdvice()
    advice.vocab_size, advice.is_new = PIECES, is_new
    advice.hear([InventedReading().started(Path("run"))])
    return advice


def learn(
    advice: PretrainAdvice, last: float, *, steps: int = 400, until: float = 0.5, first: float = PLATEAU
) -> PretrainAdvice:
    """Let the loss fall in a line from `first` to `last`, over a share of the run."""
    shares = [number / steps for number in range(1, steps + 1)]
    advice.hear(
        [step(n + 1, first + (last - first) * share, until * share) for n, share in enumerate(shares)]
    )
    return advice


def said(advice: PretrainAdvice) -> str:
    return "\n".join(f"{remark.level}: {remark.text}" for remark in advice.remarks())


def test_guessing_by_frequency_is_normal_at_first_and_a_warning_later() -> None:
    early = learn(advice_on_a_run(), PLATEAU - 0.1, steps=60, until=0.1)
    assert said(early).startswith("note: So far it guesses the most frequent words")
    late = learn(advice_on_a_run(), PLATEAU - 0.1)
    assert said(late).startswith("look: After 50 % of the run it still guesses by word frequency only")


def test_one_guess_for_all_pins_is_guessing_by_frequency_whatever_the_loss() -> None:
    advice = learn(advice_on_a_run(), 3.0)
    advice.hear([pinned("the", "the", "the", "the", "of")])
    assert "word frequency only" in said(advice)


def test_guesses_that_differ_show_that_context_is_used() -> None:
    advice = learn(advice_on_a_run(), 4.0)
    advice.hear([pinned("was", "game", "door")])
    assert said(advice) == "fine: It uses context: its guesses differ from one pinned sentence to the next."


def test_a_loss_near_blind_guessing_is_a_warning_with_both_numbers() -> None:
    advice = learn(advice_on_a_run(), BLIND - 0.05, first=BLIND)
    assert "look: After 400 steps the loss is still 8.9" in said(advice) and "9.01" in said(advice)


def test_pairs_learned_before_words_are_said() -> None:
    advice = learn(advice_on_a_run(), PLATEAU - 0.1)
    assert "Next sentences" not in said(advice)
    advice.hear([evaluation(400, PLATEAU, pairs=0.9)])
    assert "look: Next sentences are learned (90 % right), masked words are not" in said(advice)


def test_a_model_that_is_trained_further_is_not_said_to_guess_by_frequency() -> None:
    advice = learn(advice_on_a_run(is_new=False), 2.9, first=3.0)
    assert said(advice) == ""


def test_validation_that_rises_while_training_falls_is_learning_by_heart() -> None:
    advice = learn(advice_on_a_run(), 2.0)
    advice.hear([evaluation(100, 3.0), evaluation(400, 3.2)])
    assert "by heart" in said(advice)


def test_a_loss_that_is_no_number_stands_first() -> None:
    advice = advice_on_a_run()
    advice.hear([step(7, float("nan"), 0.1)])
    assert said(advice).startswith("wrong: The loss has not been a number since step 7")


def test_notes_of_the_engine_are_kept_and_good_ones_fade() -> None:
    advice = advice_on_a_run()
    advice.hear([Noted(sentence=Sentence("All weights are new."), level="fine")])
    assert "All weights are new." in said(advice)
    assert "All weights are new." not in said(learn(advice, 4.0))


def test_one_document_cannot_give_wrong_next_sentences() -> None:
    one = TextFacts(report=report(num_documents=1))
    assert [(r.level, r.mend) for r in on_text(one)] == [("wrong", ("next_sentence", False)), ("fine", None)]
    assert [r.level for r in on_text(TextFacts(report=report(num_documents=1), asks_pairs=False))] == ["fine"]


def test_documents_of_one_sentence_have_no_next_one() -> None:
    found = on_text(TextFacts(report=report(num_documents=600, num_sentences=640)))
    assert (found[0].level, found[0].mend) == ("look", ("next_sentence", False))


@pytest.mark.parametrize(("count", "level"), [(3, "note"), (60, "look")])
def test_repeated_lines_are_said_with_the_commonest(count: int, level: str) -> None:
    repeats = report(num_repeated=count, most_repeated=(("{All} rights", count),))
    found = on_text(TextFacts(report=repeats))
    assert [(r.level, r.mend) for r in found] == [(level, ("drop_repeated", True))]
    assert f"{count} times: “{{All}} rights”" in found[0].text
    assert "excluded" in on_text(TextFacts(report=repeats, drops_repeated=True))[0].text


def test_a_text_that_is_read_too_often_is_said() -> None:
    often = on_text(TextFacts(report=report(), epochs=120.0))
    assert "120 times" in often[0].text
    assert len(on_text(TextFacts(report=report(), epochs=12.0))) == len(often) - 1


def test_the_result_tells_words_perplexity_and_pairs() -> None:
    advice = PretrainAdvice()
    assert advice.result_words() == ""
    advice.hear([evaluation(9, math.log(37.0), pairs=0.75)])
    line = advice.result_words()
    assert (
        "at step 9: 10.0 % of words right" in line and "perplexity 37.0" in line and "75.0 % of pairs" in line
    )
