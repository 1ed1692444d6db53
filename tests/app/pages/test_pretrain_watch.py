"""What is said of a text and of a model that learns from it, without a window."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from app.pages.pretrain.advice import Outlook, Watch, on_length, on_text, result_words
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


def watching(**outlook: Any) -> Watch:
    watch = Watch()
    watch.outlook = Outlook(vocab_size=PIECES, **outlook)
    watch.hear([InventedReading().started(Path("run"))])
    return watch


def learn(
    watch: Watch, last: float, *, steps: int = 400, until: float = 0.5, first: float = PLATEAU
) -> Watch:
    """Let the loss fall in a line from `first` to `last`, over a share of the run."""
    shares = [number / steps for number in range(1, steps + 1)]
    watch.hear([step(n + 1, first + (last - first) * share, until * share) for n, share in enumerate(shares)])
    return watch


def said(watch: Watch) -> str:
    return "\n".join(f"{remark.level}: {remark.text}" for remark in watch.remarks())


def test_guessing_by_frequency_is_normal_at_first_and_a_warning_later() -> None:
    early = learn(watching(), PLATEAU - 0.1, steps=60, until=0.1)
    assert said(early).startswith("note: So far it guesses the most frequent words")
    late = learn(watching(), PLATEAU - 0.1)
    assert said(late).startswith("look: After 50 % of the run it still guesses by word frequency alone")


def test_one_guess_for_all_pins_is_guessing_by_frequency_whatever_the_loss() -> None:
    watch = learn(watching(), 3.0)
    watch.hear([pinned("the", "the", "the", "the", "of")])
    assert "word frequency alone" in said(watch)


def test_guesses_that_differ_show_that_context_is_used() -> None:
    watch = learn(watching(), 4.0)
    watch.hear([pinned("was", "game", "door")])
    assert said(watch) == "fine: It uses context: its guesses differ from one pinned sentence to the next."


def test_a_loss_near_blind_guessing_is_a_warning_with_both_numbers() -> None:
    watch = learn(watching(), BLIND - 0.05, first=BLIND)
    assert "look: After 400 steps the loss is still 8.9" in said(watch) and "9.01" in said(watch)


def test_pairs_learned_before_words_are_said() -> None:
    watch = learn(watching(), PLATEAU - 0.1)
    assert "Next sentences" not in said(watch)
    watch.hear([evaluation(400, PLATEAU, pairs=0.9)])
    assert "look: Next sentences are learned (90 % right) and masked words are not" in said(watch)


def test_a_model_that_is_trained_further_is_not_said_to_guess_by_frequency() -> None:
    watch = learn(watching(is_new=False), 2.9, first=3.0)
    assert said(watch) == ""


def test_validation_that_rises_while_training_falls_is_learning_by_heart() -> None:
    watch = learn(watching(), 2.0)
    watch.hear([evaluation(100, 3.0), evaluation(400, 3.2)])
    assert "by heart" in said(watch)


def test_a_loss_that_is_no_number_stands_first() -> None:
    watch = watching(report=report(num_documents=1))
    watch.hear([step(7, float("nan"), 0.1)])
    assert said(watch).startswith("wrong: The loss is no longer a number since step 7")


def test_notes_of_the_engine_are_kept_and_good_ones_fade() -> None:
    watch = watching()
    watch.hear([Noted(sentence=Sentence("All weights are new."), level="fine")])
    assert "All weights are new." in said(watch)
    assert "All weights are new." not in said(learn(watch, 4.0))


def test_one_document_cannot_give_wrong_next_sentences() -> None:
    one = Outlook(report=report(num_documents=1))
    assert [(r.level, r.mend) for r in on_text(one)] == [("wrong", "no_pairs"), ("fine", "")]
    assert [r.level for r in on_text(Outlook(report=report(num_documents=1), asks_pairs=False))] == ["fine"]


def test_documents_of_one_sentence_have_no_next_one() -> None:
    found = on_text(Outlook(report=report(num_documents=600, num_sentences=640)))
    assert (found[0].level, found[0].mend) == ("look", "no_pairs")


@pytest.mark.parametrize(("count", "level"), [(3, "note"), (60, "look")])
def test_repeated_lines_are_said_with_the_commonest(count: int, level: str) -> None:
    repeats = report(num_repeated=count, most_repeated=(("{All} rights", count),))
    found = on_text(Outlook(report=repeats))
    assert [(r.level, r.mend) for r in found] == [(level, "drop_repeated")]
    assert f"{count} times: “{{All}} rights”" in found[0].text
    assert "left out" in on_text(Outlook(report=repeats, drops_repeated=True))[0].text


def test_a_text_that_is_read_too_often_is_said() -> None:
    assert on_length(Outlook(epochs=12.0)) == []
    assert "120 times" in on_length(Outlook(epochs=120.0))[0].text


def test_the_result_tells_words_perplexity_and_pairs() -> None:
    assert result_words(None) == ""
    line = result_words(evaluation(9, math.log(37.0), pairs=0.75))
    assert (
        "at step 9: 10.0 % of words right" in line and "perplexity 37.0" in line and "75.0 % of pairs" in line
    )
