"""Attribution: sums that are right, gradients that are autograd's, and a model that nobody has touched."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from engine.errors import ModelError, UserError
from engine.events import Progress
from engine.inspect.attribution import gradients as attribution
from engine.inspect.attribution import path as attribution_path
from engine.inspect.attribution.gradients import GRADIENT, METHODS, Attribution, attribute
from engine.inspect.attribution.path import BASELINES, curtis_places, curtis_weights
from engine.inspect.attribution.target import LABELS, MASKED_WORDS, NEXT_SENTENCE, PROBABILITY, Target
from engine.inspect.loaded_model import LoadedModel
from engine.model.weights import save_model
from tests.fakes import model_folder, tiny_pretraining, tiny_wordpiece

TEXT, PAIR = "a good film!", "playing bad"  # 4 and 2 words; the last but one is of two pieces
TARGETS = (
    Target(question=LABELS),
    Target(question=LABELS, answer="bad", against="odd"),
    Target(question=MASKED_WORDS, place=2),
    Target(question=MASKED_WORDS, place=6),  # playing: two pieces
    Target(question=MASKED_WORDS, place=2, answer="bad", against="film"),
    Target(question=NEXT_SENTENCE, answer="random"),
)


@pytest.fixture(scope="module")
def subjects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, LoadedModel]:
    folder = tmp_path_factory.mktemp("models")
    save_model(folder / "language", tiny_pretraining(3), tiny_wordpiece(), {"task": "pretraining"})
    model_folder(folder / "labels", seed=5)
    language, classifier = (LoadedModel.open(folder / name, "cpu") for name in ("language", "labels"))
    return {LABELS: classifier, MASKED_WORDS: language, NEXT_SENTENCE: language}


def found(task: Iterator[Any]) -> Attribution:
    """Run a task to its end and return what it returns."""
    while True:
        try:
            assert isinstance(next(task), Progress)
        except StopIteration as end:
            return end.value


@pytest.mark.parametrize("measure", ["log_odds", "probability"])
@pytest.mark.parametrize("baseline", BASELINES)
@pytest.mark.parametrize(
    "target", TARGETS, ids=lambda target: f"{target.question}-{target.place}-{target.answer}"
)
def test_scores_sum_to_the_difference_of_the_answers(subjects, target, baseline, measure) -> None:
    result = found(
        attribute(subjects[target.question], TEXT, PAIR, target=target, baseline=baseline, measure=measure)
    )
    allowed = 0.01 * max(abs(result.value - result.baseline_value), 0.1)
    assert abs(result.pieces.sum() - (result.value - result.baseline_value)) <= allowed
    assert result.is_complete and result.residual <= 0.01 and 16 <= result.steps <= 1024
    assert result.word_scores.sum() == pytest.approx(result.total)  # special tokens add nothing
    assert [word.text for word in result.words] == ["a", "good", "film", "!", "playing", "bad"]


def reference(subject: LoadedModel, result: Attribution, steps: int) -> np.ndarray:
    """Integrate over many even steps with `transformers`, of a label's log-odds from [MASK]."""
    model = transformers.BertForSequenceClassification.from_pretrained(
        subject.folder, attn_implementation="eager"
    ).eval()
    ids, types = (torch.tensor([values]) for values in (result.asked.input_ids, result.asked.token_type_ids))
    table = model.get_input_embeddings().weight.detach()
    text, start = table[ids], table[ids].clone()
    for place, special in enumerate(result.encoding.special_tokens_mask):
        if not special:
            start[0, place] = table[subject.wordpiece.mask_id]
    total = torch.zeros_like(text)
    for step in range(steps):
        words = torch.lerp(start, text, (step + 0.5) / steps).requires_grad_()
        shares = model(inputs_embeds=words, token_type_ids=types).logits.softmax(-1)[0]
        chosen = shares[result.asked.answers[0]]
        (gradient,) = torch.autograd.grad((chosen / (1 - chosen)).log(), words)
        total += gradient / steps
    return ((text - start) * total).sum(-1)[0].numpy()


@pytest.mark.slow
def test_scores_are_those_of_a_plain_integral_over_transformers(subjects) -> None:
    subject = subjects[LABELS]
    result = found(attribute(subject, TEXT, PAIR, target=Target(question=LABELS)))
    expected = reference(subject, result, 400)
    assert result.asked.target.answer in subject.labels
    np.testing.assert_allclose(result.pieces, expected, atol=0.01 * max(abs(result.difference), 0.1))


def test_gradient_x_input_is_what_autograd_gives_by_hand(subjects) -> None:
    subject = subjects[MASKED_WORDS]
    target = Target(question=MASKED_WORDS, answer="bad")
    result = found(attribute(subject, "a [MASK] film", target=target, method=GRADIENT, measure=PROBABILITY))
    model = subject.language
    words = (
        model.bert.embeddings.word.weight[torch.tensor([result.encoding.input_ids])].clone().requires_grad_()
    )
    logits = model.logits(model(inputs_embeds=words).hidden)  # all T tokens, padded layout
    bad = subject.wordpiece.tokens.index("bad")
    (gradient,) = torch.autograd.grad(logits[2].softmax(-1)[bad], words)
    np.testing.assert_allclose(result.pieces, (gradient * words).sum(-1)[0].detach(), rtol=1e-4, atol=1e-7)
    assert np.isnan(result.residual) and not result.is_complete and result.steps == 1


@pytest.mark.parametrize("question", [LABELS, MASKED_WORDS, NEXT_SENTENCE])
def test_batches_do_not_change_the_scores(subjects, question, monkeypatch) -> None:
    target = Target(question=question, place=2 if question == MASKED_WORDS else None)
    together = found(attribute(subjects[question], TEXT, PAIR, target=target))
    monkeypatch.setattr(attribution_path, "TOKENS_AT_ONCE", 1)
    alone = found(attribute(subjects[question], TEXT, PAIR, target=target))
    np.testing.assert_allclose(together.pieces, alone.pieces, atol=1e-4 * abs(alone.difference))


def test_memory_that_runs_out_makes_batches_smaller_and_changes_nothing(subjects, monkeypatch) -> None:
    calm = found(attribute(subjects[LABELS], TEXT, target=TARGETS[0]))
    whole, sizes = attribution_path.Path._gradient, []

    def gradient(path: attribution_path.Path, places: np.ndarray) -> torch.Tensor:
        sizes.append(len(places))
        if len(places) > 3:
            raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory")
        return whole(path, places)

    monkeypatch.setattr(attribution_path.Path, "_gradient", gradient)
    short = found(attribute(subjects[LABELS], TEXT, target=TARGETS[0]))
    assert max(sizes) > 3 and sizes[-1] <= 3
    np.testing.assert_allclose(short.pieces, calm.pieces, atol=1e-4 * abs(calm.difference))


def test_a_text_that_memory_does_not_suffice_for_is_refused_before_it_is_taken(subjects, monkeypatch) -> None:
    monkeypatch.setattr(attribution_path, "free_bytes", lambda: 10_000)
    monkeypatch.setattr(attribution_path.Path, "_gradient", lambda *_: pytest.fail("memory was taken"))
    with pytest.raises(UserError, match="There is not enough memory"):
        found(attribute(subjects[LABELS], TEXT, target=TARGETS[0]))


def test_steps_are_doubled_and_what_was_computed_is_used_again(subjects, monkeypatch) -> None:
    monkeypatch.setattr(attribution, "TOLERANCE", 1e-12)  # which float32 does not reach
    sizes: list[int] = []
    whole = attribution_path.Path._gradient
    monkeypatch.setattr(
        attribution_path.Path, "_gradient", lambda path, at: sizes.append(len(at)) or whole(path, at)
    )
    result = found(attribute(subjects[LABELS], TEXT, target=TARGETS[0], most_steps=64))
    assert result.steps == 64 and sum(sizes) == 65
    assert not result.is_complete and result.residual > 0  # said, not hidden


@pytest.mark.parametrize("method", METHODS)
def test_the_model_is_left_as_it_was_also_when_stopped(subjects, method) -> None:
    subject = subjects[MASKED_WORDS]
    weights = dict(subject.language.named_parameters())
    weights["transform.weight"].requires_grad_(True)  # as somebody else may want it
    before = {name: (weight.clone(), weight.requires_grad) for name, weight in weights.items()}
    found(attribute(subject, "a [MASK] film", target=Target(question=MASKED_WORDS), method=method))
    task = attribute(subject, "a [MASK] film", target=Target(question=MASKED_WORDS), method=method)
    next(task)
    task.close()
    for name, (value, wanted) in before.items():
        assert torch.equal(weights[name], value) and weights[name].requires_grad == wanted
        assert weights[name].grad is None
    weights["transform.weight"].requires_grad_(False)


def test_it_can_be_stopped_between_any_two_batches(subjects, monkeypatch) -> None:
    monkeypatch.setattr(attribution_path, "TOKENS_AT_ONCE", 1)
    task = attribute(subjects[LABELS], TEXT, target=TARGETS[0])
    said = [next(task) for _ in range(6)]
    assert [event.done for event in said[2:]] == [1, 2, 3, 4] and {e.total for e in said[1:]} == {17}
    assert torch.is_grad_enabled() and not torch.is_inference_mode_enabled()
    task.close()
    with pytest.raises(StopIteration):
        next(task)


@pytest.mark.parametrize("steps", [2, 8, 16])
def test_the_rule_integrates_polynomials_exactly_and_holds_the_coarser_one(steps: int) -> None:
    places, weights = curtis_places(steps), curtis_weights(steps)
    for power in range(steps + 1):
        assert weights @ places**power == pytest.approx(1 / (power + 1), abs=1e-12)
    np.testing.assert_allclose(curtis_places(2 * steps)[::2], places, atol=1e-15)


def test_an_open_answer_is_the_models_own_and_of_a_hidden_word_the_word_itself(subjects) -> None:
    language = subjects[MASKED_WORDS]
    hidden = found(attribute(language, TEXT, PAIR, target=Target(question=MASKED_WORDS, place=7)))
    assert hidden.asked.target.answer == "playing" and hidden.asked.places == (6, 7)
    assert hidden.tokens[6:8] == ("[MASK]", "[MASK]") and hidden.encoding.tokens[6:8] == ["play", "##ing"]
    guess = found(attribute(language, "a [MASK] film", target=Target(question=MASKED_WORDS)))
    with torch.inference_mode():
        model = language.language
        logits = model.logits(model(torch.tensor([guess.encoding.input_ids])).hidden)[2]
    assert guess.asked.target.answer == language.wordpiece.tokens[int(logits.argmax())]
    assert guess.probability == pytest.approx(float(logits.softmax(-1).max()), rel=1e-4)


def test_the_report_is_json_and_says_what_was_asked(subjects) -> None:
    result = found(attribute(subjects[NEXT_SENTENCE], TEXT, PAIR, target=TARGETS[-1]))
    report = json.loads(json.dumps(result.report(), allow_nan=False))
    assert report["target"] == "B does not follow A" and len(report["piece_scores"]) == len(report["tokens"])
    assert [word["text"] for word in report["words"] if word["segment"] == "B"] == ["playing", "bad"]


@pytest.mark.parametrize(
    ("question", "wish", "sentence"),
    [
        (MASKED_WORDS, {}, "no \\[MASK\\]"),
        (MASKED_WORDS, {"place": 0}, "not a word of the text"),
        (MASKED_WORDS, {"place": 2, "answer": "good film"}, "split into 2 pieces"),
        (MASKED_WORDS, {"place": 2, "answer": "ж"}, "cannot spell"),
        (MASKED_WORDS, {"place": 2, "answer": "bad", "against": "bad"}, "compared with itself"),
        (NEXT_SENTENCE, {}, "takes two texts"),
        (LABELS, {"answer": "great"}, "one of: bad, good, odd"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_words(subjects, question, wish, sentence) -> None:
    with pytest.raises(UserError, match=sentence):
        found(attribute(subjects[question], TEXT, target=Target(question=question, **wish)))


def test_a_model_without_the_head_says_which_and_the_way(subjects) -> None:
    with pytest.raises(ModelError, match="is not a classifier"):
        found(attribute(subjects[MASKED_WORDS], TEXT, target=Target(question=LABELS)))
    with pytest.raises(ModelError, match="no trained masked-word head"):
        found(attribute(subjects[LABELS], TEXT, target=Target(question=MASKED_WORDS, place=1)))


def test_a_single_label_and_a_text_of_special_tokens_are_refused(subjects, tmp_path: Path) -> None:
    alone = LoadedModel.open(model_folder(tmp_path / "one", labels=("good",)), "cpu")
    with pytest.raises(UserError, match="only one label|is not a classifier"):
        found(attribute(alone, TEXT, target=Target(question=LABELS)))
    with pytest.raises(UserError, match="only special tokens"):
        found(attribute(subjects[MASKED_WORDS], "[MASK]", target=Target(question=MASKED_WORDS)))
