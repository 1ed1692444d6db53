"""Joint filling beside trying out everything, and pseudo-perplexity beside masking by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

from engine.errors import ModelError, UserError
from engine.events import Progress, result_of
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.joint import fill_jointly
from engine.inspect.masked.masked import mask
from engine.inspect.masked.perplexity import ALONE, AND_AFTER, WHOLE, pseudo_perplexity
from engine.model.weights import save_model
from tests.fakes import TOKENS, model_folder, tiny_pretraining, tiny_wordpiece

A = "a good film, playing!"
MODEL = tiny_pretraining(seed=3)


@pytest.fixture(scope="module")
def subject(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    path = tmp_path_factory.mktemp("joint") / "model"
    save_model(path, MODEL, tiny_wordpiece(), {"task": "pretraining"})
    return LoadedModel.open(path)


def logs_of(ids: list[int]) -> torch.Tensor:
    """Return the log probability of each word at each place, (T, V), from the padded layout."""
    with torch.no_grad():
        return MODEL.logits(MODEL(torch.tensor([ids])).hidden).log_softmax(-1)


def test_a_wide_beam_finds_what_trying_everything_finds(subject: LoadedModel) -> None:
    masked = mask(subject.about, A, words=[1, 2])
    found = result_of(fill_jointly(subject, masked, beam=37 * 37, top_k=20))
    first = logs_of(list(masked.input_ids))
    start, then = found.order
    assert start == max((2, 3), key=lambda place: float(first[place].max()))
    everything = {}
    for number in range(37):
        ids = list(masked.input_ids)
        ids[start] = number
        last = logs_of(ids)
        for other in range(37):
            pair = {start: number, then: other}
            everything[pair[2], pair[3]] = float(first[start, number] + last[then, other])
    best = sorted(everything, key=lambda pair: -everything[pair])
    assert [filling.ids for filling in found.fillings] == best[:20]
    expected = [everything[pair] for pair in best[:20]]
    assert [f.log_probability for f in found.fillings] == pytest.approx(expected, abs=1e-5)
    original = TOKENS.index("good"), TOKENS.index("film")
    assert found.original is not None and found.original.words == ("good", "film")
    assert found.original.log_probability == pytest.approx(everything[original], abs=1e-5)
    assert found.original_rank == best.index(original) + 1
    products = {pair: float(first[2, pair[0]] + first[3, pair[1]]) for pair in everything}
    alone = sorted(products, key=lambda pair: -products[pair])[:20]
    assert [filling.ids for filling in found.independent] == alone
    for filling in (*found.fillings, *found.independent):
        assert filling.independent_log == pytest.approx(products[filling.ids], abs=1e-5)
        assert filling.log_probability == pytest.approx(everything[filling.ids], abs=1e-5)


def test_a_narrow_beam_is_kept_in_order_and_still_scores_the_original(subject: LoadedModel) -> None:
    masked = mask(subject.about, A, "b [MASK]", words=[1, 4])
    events = list(task := fill_jointly(subject, masked, beam=3, top_k=5))
    assert all(isinstance(event, Progress) for event in events) and task.gi_frame is None
    found = result_of(fill_jointly(subject, masked, beam=3, top_k=5))
    logs = [filling.log_probability for filling in found.fillings]
    assert len(logs) == 3 and logs == sorted(logs, reverse=True)
    assert sorted(found.order) == sorted(masked.places) and len(found.fillings[0].words) == 3
    assert found.original is None  # nobody knows what [MASK] stood for
    hidden = mask(subject.about, A, words=[1, 4])
    assert result_of(fill_jointly(subject, hidden, beam=1)).original_rank is None


def test_a_gap_that_was_a_word_can_be_filled_by_one_word_alone(subject: LoadedModel) -> None:
    masked = mask(subject.about, A, words=[4])
    found = result_of(fill_jointly(subject, masked, whole_words=True))
    assert found.order == (5, 6)
    for filling in (*found.fillings, *found.independent):
        first, second = (TOKENS[number] for number in filling.ids)
        assert second == "##ing" and first not in ("##ing", "[MASK]", "[UNK]", "[PAD]", "[CLS]", "[SEP]")
        assert filling.words == (first + "ing",)


def test_a_beam_of_nothing_is_refused(subject: LoadedModel) -> None:
    with pytest.raises(UserError, match="A beam of 0 keeps nothing"):
        result_of(fill_jointly(subject, mask(subject.about, A, words=[0]), beam=0))


@pytest.mark.parametrize("within_words", [ALONE, AND_AFTER, WHOLE])
def test_pseudo_perplexity_is_that_of_masking_each_token_by_hand(
    within_words: str, subject: LoadedModel
) -> None:
    found = result_of(pseudo_perplexity(subject, A, within_words=within_words))
    ids = tiny_wordpiece().encode(A).input_ids
    logs = []
    for place in range(1, len(ids) - 1):
        masked = list(ids)
        masked[place] = 4
        if within_words != ALONE and TOKENS[ids[place]] == "play":
            masked[place + 1] = 4
        if within_words == WHOLE and TOKENS[ids[place]] == "##ing":
            masked[place - 1] = 4
        logs.append(float(logs_of(masked)[place, ids[place]]))
    assert [score.log_probability for score in found.scores] == pytest.approx(logs, abs=1e-5)
    assert found.perplexity == pytest.approx(math.exp(-sum(logs) / len(logs)), rel=1e-4)
    by_word = [*logs[:4], logs[4] + logs[5], logs[6]]
    assert list(found.word_logs) == pytest.approx(by_word, abs=1e-5)
    assert [word.text for word in found.words] == ["a", "good", "film", ",", "playing", "!"]


def test_a_pair_is_scored_whole_and_a_gap_refused(tmp_path: Path, subject: LoadedModel) -> None:
    found = result_of(pseudo_perplexity(subject, "a film", "bad play"))
    assert found.places == (1, 2, 4, 5)
    with pytest.raises(UserError, match=r"Replace \[MASK\] with a word"):
        result_of(pseudo_perplexity(subject, "a [MASK]"))
    with pytest.raises(ModelError, match="no trained masked-word head"):
        result_of(pseudo_perplexity(LoadedModel.open(model_folder(tmp_path / "classifier")), A))
