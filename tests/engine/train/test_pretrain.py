"""From text to a language model: what a run does, what it leaves, and that stopping changes nothing."""

from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from engine.device import Device
from engine.errors import UserError
from engine.events import Evaluated, Event, Finished, Progress, Saved, Started, Step, result_of
from engine.model.heads import PreTraining
from engine.model.weights import load_pretraining, load_tensors
from engine.text.corpus.instances import MaskedBatch
from engine.text.wordpiece import WordPiece
from engine.train.loop import TrainingError
from engine.train.pretrain import pretrain, resume
from engine.train.pretraining import setup as pretraining_setup
from engine.train.pretraining.language import LanguageModel
from engine.train.run.runs import read_metrics, read_status
from tests.engine.steps import Clock, advance
from tests.engine.tiny_runs import losses, promised_metrics
from tests.engine.tiny_texts import all_words, notes, of, promised, text_config, word_vocabulary, write_text

pytestmark = pytest.mark.usefixtures("cache")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep token stores below the test's own folder."""
    monkeypatch.setattr(pretraining_setup, "default_store_root", lambda: tmp_path / "cache")


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[MaskedBatch]:
    """Every batch that is trained or measured on, in order."""
    batches: list[MaskedBatch] = []
    loss = LanguageModel.loss

    def noting(
        self: LanguageModel, model: nn.Module, batch: MaskedBatch, totals: Tensor
    ) -> tuple[Tensor, Tensor]:
        batches.append(batch)
        return loss(self, model, batch, totals)

    monkeypatch.setattr(LanguageModel, "loss", noting)
    return batches


# From text to a model


@pytest.mark.slow
def test_a_text_becomes_a_model_that_knows_it(tmp_path: Path) -> None:
    write_text(tmp_path / "text.txt", 200)
    settings = {"batch_tokens": 512, "learning_rate": 1e-2, "checkpoint_every_steps": 1000}
    config = text_config(tmp_path, model="new:2x24x3", steps=100, **settings)
    events = list(pretrain(config, tmp_path / "run"))
    started, end = of(Started, events)[0], events[-1]
    assert started.task == "pretraining" and started.num_train + started.num_validation == 200
    assert (started.num_steps, started.first_step, started.labels) == (100, 1, ())
    assert isinstance(end, Finished) and end.path == tmp_path / "run" / "model"
    first, *_, last = of(Evaluated, events)
    assert (first.step, last.step) == (0, 100) and end.best_metric == last.metrics["mlm_accuracy"]
    assert last.metrics["mlm_loss"] < first.metrics["mlm_loss"] - 0.5 and last.metrics["mlm_accuracy"] > 0.25
    assert last.metrics["perplexity"] == pytest.approx(2.718281828 ** last.metrics["mlm_loss"])
    assert last.loss == pytest.approx(last.metrics["mlm_loss"] + last.metrics["nsp_loss"])
    for step in of(Step, events):
        assert step.loss == pytest.approx(step.measures["mlm_loss"] + step.measures["nsp_loss"], rel=1e-5)
    assert read_status(tmp_path / "run")["state"] == "finished"
    model, report = load_pretraining(tmp_path / "run" / "model")
    assert not report.missing and model.config.vocab_size == WordPiece.from_folder(end.path).vocab_size


@pytest.mark.slow
def test_the_result_opens_in_transformers_with_the_same_logits(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    list(pretrain(text_config(tmp_path), tmp_path / "run"))
    folder = tmp_path / "run" / "model"
    theirs, told = transformers.BertForPreTraining.from_pretrained(folder, output_loading_info=True)
    assert not any(told[name] for name in ("missing_keys", "unexpected_keys", "mismatched_keys"))
    pieces = transformers.BertTokenizer.from_pretrained(folder)
    own = WordPiece.from_folder(folder).encode("the cat eats [MASK] .", "the dog sees fish .")
    inputs = pieces("the cat eats [MASK] .", "the dog sees fish .", return_tensors="pt")
    assert inputs["input_ids"].tolist() == [own.input_ids]
    model, _ = load_pretraining(folder)
    with torch.inference_mode():
        wanted = theirs.eval()(**inputs)
        found = model(inputs["input_ids"], inputs["token_type_ids"])
        logits = model.logits(found.hidden)
    bound = 1e-5 * max(1.0, wanted.prediction_logits.abs().max().item())
    assert torch.allclose(logits, wanted.prediction_logits[0], rtol=0, atol=bound)
    assert torch.allclose(found.next_sentence, wanted.seq_relationship_logits, rtol=0, atol=bound)


@pytest.mark.slow
def test_the_same_settings_give_the_same_bits_and_another_seed_others(tmp_path: Path) -> None:
    for seed, name in ((1, "a"), (1, "b"), (2, "c")):
        list(pretrain(text_config(tmp_path, seed=seed, steps=5), tmp_path / name))
    one, again, other = (promised(tmp_path / name) for name in "abc")
    assert one == again and one["model"] != other["model"]


@pytest.mark.slow
def test_parts_of_a_step_give_the_losses_of_the_whole(tmp_path: Path) -> None:
    whole, parts = (
        losses(pretrain(text_config(tmp_path, steps=6, micro_batch_tokens=size), tmp_path / str(size)))
        for size in (4096, 30)
    )
    assert parts == pytest.approx(whole, rel=1e-5)


# How long


@pytest.mark.slow
def test_a_budget_in_tokens_ends_with_the_step_that_reaches_it(tmp_path: Path) -> None:
    events = list(pretrain(text_config(tmp_path, tokens=1000), tmp_path / "run"))
    steps = of(Step, events)
    sizes = [step.num_tokens for step in steps]
    assert sum(sizes[:-1]) < 1000 <= sum(sizes) and of(Started, events)[0].num_steps == 0
    assert [step.progress for step in steps] == pytest.approx(
        [min(1.0, sum(sizes[: n + 1]) / 1000) for n in range(len(sizes))]
    )
    assert of(Evaluated, events)[-1].step == len(steps) and steps[-1].learning_rate < 1e-3


@pytest.mark.slow
def test_a_budget_in_minutes_follows_the_clock_of_work_and_keeps_it_over_stops_and_pauses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    monkeypatch.setattr("engine.train.loop.time", SimpleNamespace(perf_counter=clock.perf_counter))
    config = text_config(tmp_path, minutes=0.25, checkpoint_every_steps=1)
    whole = list(pretrain(config, tmp_path / "whole"))
    count = len(of(Step, whole))
    assert count > 8 and isinstance(whole[-1], Finished) and 15.0 <= whole[-1].seconds < 18.0
    rates = [step.learning_rate for step in of(Step, whole)]
    assert max(rates) > 2e-3 and rates[-1] < 6e-4 and of(Evaluated, whole)[-1].step == count
    progress = [step.progress for step in of(Step, whole)]
    assert progress == sorted(progress) and progress[-1] == 1.0 and 0.05 < progress[0] < 0.2
    events, steps = pretrain(config, tmp_path / "cut"), 0
    for event in events:
        clock.now += 1000.0  # a pause: nobody asks for the next event
        steps += isinstance(event, Step)
        if steps == 4 and isinstance(event, Saved):
            break
    events.close()  # type: ignore[attr-defined]
    used = json.loads(next((tmp_path / "cut" / "checkpoints").glob("*/state.json")).read_text())["used_s"]
    assert 3.0 < used < 10.0
    rest = list(resume(tmp_path / "cut"))
    assert abs(4 + len(of(Step, rest)) - count) <= 1 and 15.0 <= rest[-1].seconds < 18.0  # type: ignore[attr-defined]


@pytest.mark.slow
def test_examples_grow_to_the_maximum_also_in_a_short_run(tmp_path: Path, seen: list[MaskedBatch]) -> None:
    config = text_config(
        tmp_path, steps=9, start_length=8, max_length=32, growth_share=0.5, validation_share=0.0
    )
    list(pretrain(config, tmp_path / "run"))
    longest = [max(batch.bounds.lengths) for batch in seen]
    assert max(longest[:2]) <= 8 < max(longest[3:4]) <= 16 < max(longest[5:]) <= 32


# What is asked


@pytest.mark.slow
def test_static_masks_stay_and_dynamic_ones_change(tmp_path: Path, seen: list[MaskedBatch]) -> None:
    (tmp_path / "text.txt").write_text("\n\n".join(f"the {word} is a {word} ." for word in all_words() * 2))
    changed = {}
    for dynamic in (True, False):
        seen.clear()
        settings = {"dynamic_masking": dynamic, "next_sentence": False, "validation_share": 0.0}
        list(pretrain(text_config(tmp_path, steps=20, **settings), tmp_path / str(dynamic)))
        shown: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
        for batch in seen:
            whole = batch.input_ids.clone()
            whole[batch.masked] = batch.targets
            for text, mask in zip(
                *(ids.split(batch.bounds.lengths) for ids in _without_filler(whole, batch)), strict=True
            ):
                shown.setdefault(tuple(text.tolist()), set()).add(tuple(mask.tolist()))
        changed[dynamic] = sum(len(masks) > 2 for masks in shown.values())
        assert len(shown) > 15
    assert changed[True] > 10 and changed[False] == 0  # two documents hold each text


def _without_filler(whole: Tensor, batch: MaskedBatch) -> tuple[Tensor, Tensor]:
    return whole[: batch.num_tokens], batch.input_ids[: batch.num_tokens]


@pytest.mark.slow
def test_without_next_sentences_only_words_are_asked_for(tmp_path: Path, seen: list[MaskedBatch]) -> None:
    events = list(pretrain(text_config(tmp_path, next_sentence=False), tmp_path / "run"))
    assert all(batch.is_random is None and not batch.token_type_ids.any() for batch in seen)
    assert all(step.measures == {"mlm_loss": pytest.approx(step.loss)} for step in of(Step, events))
    assert set(of(Evaluated, events)[-1].metrics) == {"mlm_loss", "perplexity", "mlm_accuracy"}
    begun = pretrain(text_config(tmp_path, next_sentence=False), tmp_path / "begun")
    first = next(event for event in begun if isinstance(event, Saved))
    fresh = load_tensors(first.path / "weights.safetensors")
    begun.close()  # type: ignore[attr-defined]
    model, report = load_pretraining(tmp_path / "run" / "model")
    assert torch.equal(model.next_sentence.weight, fresh["next_sentence.weight"]) and not report.missing
    assert not torch.equal(model.transform.weight, fresh["transform.weight"])


@pytest.mark.slow
def test_one_document_is_cut_in_two_to_measure_on(tmp_path: Path) -> None:
    text = write_text(tmp_path / "text.txt").read_text().replace("\n\n", "\n")
    (tmp_path / "text.txt").write_text(text)
    config = text_config(tmp_path, next_sentence=False, validation_share=0.2)
    events = list(pretrain(config, tmp_path / "run"))
    setup = result_of(pretraining_setup.load(tmp_path / "run" / "setup", config))
    store, train, _, held = pretraining_setup.split(setup, config)
    assert (train.tolist(), held.tolist()) == ([0], [1])
    assert store.doc_tokens[1] / store.doc_tokens[2] == pytest.approx(0.8, abs=0.03)
    assert of(Evaluated, events)[-1].metrics["mlm_loss"] > 0


@pytest.mark.slow
def test_every_evaluation_has_the_same_examples_and_masks_in_whatever_run(
    tmp_path: Path, seen: list[MaskedBatch]
) -> None:
    found = []
    for number, changes in enumerate(({}, {"seed": 7, "mask_rate": 0.4, "mask_unit": "word", "steps": 3})):
        seen.clear()
        list(pretrain(text_config(tmp_path, **changes), tmp_path / str(number)))
        config, setup = _settled(tmp_path / str(number))
        wanted = pretraining_setup.validation_batches(setup, config, config.text.validation_tokens, 4096)
        measured = [one for one in seen if one.num_tokens == wanted[0].num_tokens and _same(one, wanted[0])]
        assert len(wanted) == 1 and len(measured) == len(
            [record for record in read_metrics(tmp_path / str(number)) if record["event"] == "evaluated"]
        )
        found.append(wanted[0])
    assert _same(*found)


def _same(one: MaskedBatch, other: MaskedBatch) -> bool:
    return torch.equal(one.input_ids, other.input_ids) and torch.equal(one.targets, other.targets)


def _settled(run_dir: Path) -> tuple[Any, Any]:
    from engine.train.run.runs import read_config

    config = read_config(run_dir)
    return config, result_of(pretraining_setup.load(run_dir / "setup", config))  # type: ignore[arg-type]


@pytest.mark.slow
def test_the_result_measured_again_gives_the_figures_of_the_last_evaluation(tmp_path: Path) -> None:
    events = list(pretrain(text_config(tmp_path), tmp_path / "run"))
    config, setup = _settled(tmp_path / "run")
    batches = pretraining_setup.validation_batches(setup, config, config.text.validation_tokens, 64)
    model, _ = load_pretraining(tmp_path / "run" / "model")
    device = Device(torch.device("cpu"), torch.float32, 1, 64)
    measures = result_of(LanguageModel(True).evaluate(model, batches, device))
    last = of(Evaluated, events)[-1]
    assert dict(measures.metrics) == pytest.approx(dict(last.metrics), rel=1e-5)


def _cramped(monkeypatch: pytest.MonkeyPatch, most: int, error: Exception, sizes: list[int]) -> None:
    """Let memory suffice for batches of at most `most` tokens."""
    tally = LanguageModel._tally

    def cramped(self: LanguageModel, model: Any, batch: MaskedBatch, *given: Any) -> Tensor:
        sizes.append(batch.num_tokens)
        if batch.num_tokens > most:
            raise error
        return tally(self, model, batch, *given)

    monkeypatch.setattr(LanguageModel, "_tally", cramped)


@pytest.mark.slow
@pytest.mark.parametrize("next_sentence", [True, False])
def test_measuring_with_too_little_memory_gives_the_same_figures_in_smaller_batches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, next_sentence: bool
) -> None:
    list(pretrain(text_config(tmp_path, next_sentence=next_sentence), tmp_path / "run"))
    config, setup = _settled(tmp_path / "run")
    batches = pretraining_setup.validation_batches(setup, config, config.text.validation_tokens, 4096)
    model, _ = load_pretraining(tmp_path / "run" / "model")
    device, sizes, measured = Device(torch.device("cpu"), torch.float32, 1, 4096), list[int](), []
    measured.append(result_of(LanguageModel(next_sentence).evaluate(model, batches, device)))
    with monkeypatch.context() as patched:
        _cramped(patched, 60, torch.OutOfMemoryError("CUDA out of memory."), sizes)
        measured.append(result_of(LanguageModel(next_sentence).evaluate(model, batches, device)))
        assert max(sizes) > 60 > min(sizes)
        sizes.clear()  # and where training had to take less at once, that much is not tried again
        less = replace(device, micro_batch_tokens=60)
        measured.append(result_of(LanguageModel(next_sentence).evaluate(model, batches, less)))
        assert max(sizes) <= 60
        _cramped(patched, 3, MemoryError(), sizes)
        with pytest.raises(UserError, match=r"There is not enough memory for one text of \d+ pieces"):
            result_of(LanguageModel(next_sentence).evaluate(model, batches, device))
    for other in measured[1:]:
        assert dict(other.metrics) == pytest.approx(dict(measured[0].metrics), rel=1e-5)
        assert other.loss == pytest.approx(measured[0].loss, rel=1e-5)


# What is told


def test_what_a_person_should_know_is_told_before_training(tmp_path: Path) -> None:
    settings = {"steps": 2, "trim_vocab": 500, "vocab_size": 1000}
    events = list(pretrain(text_config(tmp_path, **settings), tmp_path / "run"))
    said = notes(events)
    assert "The model is new" in said and "trim_vocab is for the vocabulary of a model" in said
    assert "The text gives" in said  # fewer pieces than were asked for
    assert re.search(r"Pairs of up to 24 pieces show [1-9]\d % of the text in each", said)
    single = list(pretrain(text_config(tmp_path, next_sentence=False, steps=2), tmp_path / "single"))
    assert "Pairs of" not in notes(single)
    stages = [event.stage for event in of(Progress, events)]
    assert stages.index("Counting words") < stages.index("Tokenizing") < stages.index("Evaluating")
    kinds = [type(event) for event in events if not isinstance(event, Progress)]
    assert kinds.index(Started) < kinds.index(Saved) < kinds.index(Step)


def test_a_second_run_on_the_same_text_reuses_its_tokens(tmp_path: Path) -> None:
    config = text_config(tmp_path, steps=1, vocab=str(word_vocabulary(tmp_path / "vocab.txt")))
    first, second = (list(pretrain(config, tmp_path / name)) for name in "ab")
    tokenized = [
        any(event.stage == "Tokenizing" for event in of(Progress, events)) for events in (first, second)
    ]
    assert tokenized == [True, False]
    assert [*promised_metrics(tmp_path / "a")] == [*promised_metrics(tmp_path / "b")]


def test_rows_that_cannot_be_read_are_told_in_every_run_on_a_table(tmp_path: Path) -> None:
    texts = write_text(tmp_path / "words.txt").read_text(encoding="utf-8").split("\n")
    rows = [f'"{text}",{number}' for number, text in enumerate(filter(None, texts))]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["text,label", *rows, "alone", *rows[:9], "two,three,four"]), encoding="utf-8")
    vocabulary = str(word_vocabulary(tmp_path / "vocab.txt"))
    where = {"text": str(table), "column": "text", "layout": "lines", "next_sentence": False}
    config = text_config(tmp_path, steps=1, vocab=vocabulary, **where)
    for name in "ab":  # the second run finds the text cut already
        said = notes(list(pretrain(config, tmp_path / name)))
        lines = f"{len(rows) + 2}, {len(rows) + 12}"
        assert f"2 lines of table.csv cannot be used: {lines}. The first: Line {len(rows) + 2} has" in said


def test_a_model_can_be_made_from_any_shape(tmp_path: Path) -> None:
    list(pretrain(text_config(tmp_path, model="new:1x10x2", steps=1), tmp_path / "run"))
    model, _ = load_pretraining(tmp_path / "run" / "model")
    assert isinstance(model, PreTraining) and model.config.hidden_size == 10
    assert (model.config.num_hidden_layers, model.config.intermediate_size) == (1, 40)
    with pytest.raises(UserError, match="cannot be divided evenly"):
        list(pretrain(text_config(tmp_path, model="new:1x10x3", steps=1), tmp_path / "odd"))


# Stop and keep, and resuming


def moments(events: Iterator[Event]) -> Iterator[str]:
    """Yield a name for each event, numbered among its kind; of work that is counted, the first of a stage."""
    counted: Counter[str] = Counter()
    for event in events:
        kind = f"{type(event).__name__} {getattr(event, 'stage', '')}".strip()
        counted[kind] += 1
        if isinstance(event, Finished):
            yield kind
        elif counted[kind] == 1 or not isinstance(event, Progress):
            yield f"{kind} {counted[kind]}"


@pytest.mark.slow
def test_a_run_stopped_at_any_yield_goes_on_to_the_same_end(tmp_path: Path) -> None:
    config = text_config(tmp_path, steps=3, evaluations=2, checkpoint_every_steps=2)
    list(pretrain(config, tmp_path / "whole"))
    wanted, stopped_while = promised(tmp_path / "whole"), set[str]()
    while "Finished" not in stopped_while:
        shutil.rmtree(tmp_path / "cache")
        run_dir = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        events = pretrain(config, run_dir)
        moment = next(islice(moments(events), len(stopped_while), None))
        events.close()  # type: ignore[attr-defined]
        stopped_while.add(moment)
        status = read_status(run_dir)
        assert status["state"] == "stopped", moment
        assert status["step"] == 0 or not load_pretraining(run_dir / "model")[1].missing
        list(resume(run_dir))
        assert promised(run_dir) == wanted, moment
        assert read_status(run_dir)["state"] == "finished" and not list(run_dir.rglob("*.partial"))
    kinds = {moment.rpartition(" ")[0] for moment in stopped_while}
    assert {"Beat", "Step", "Evaluated", "Saved", "Started", "Noted"} <= kinds
    assert {"Progress Counting words", "Progress Tokenizing", "Progress Evaluating"} <= kinds


@pytest.mark.slow
def test_stopping_and_going_on_many_times_while_examples_grow_changes_nothing(tmp_path: Path) -> None:
    config = text_config(
        tmp_path, steps=30, start_length=8, growth_share=0.7, hidden_dropout=0.1, attention_dropout=0.1
    )
    list(pretrain(config, tmp_path / "whole"))
    events = pretrain(config, tmp_path / "run")
    next(event for event in events if isinstance(event, Step))
    for count in (9, 2, 13, 11, 17):
        advance(events, count)
        events.close()  # type: ignore[attr-defined]
        events = resume(tmp_path / "run")
    list(events)
    assert promised(tmp_path / "run") == promised(tmp_path / "whole")


def test_a_run_that_fails_keeps_the_weights_of_its_last_checkpoint_and_says_which(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = LanguageModel.read
    calls = [0]

    def failing(self: LanguageModel, tally: Tensor, totals: Tensor) -> Any:
        calls[0] += 1
        return read(self, tally * float("nan") if calls[0] >= 9 else tally, totals)

    monkeypatch.setattr(LanguageModel, "read", failing)
    config = text_config(tmp_path, validation_share=0.0, checkpoint_every_steps=5, evaluations=1)
    with pytest.raises(TrainingError, match="The loss became nan at step 11"):
        list(pretrain(config, tmp_path / "run"))
    stage = json.loads((tmp_path / "run" / "model" / "cloze.json").read_text())["chain"][-1]
    steps = [record for record in read_metrics(tmp_path / "run") if record["event"] == "step"][:5]
    assert stage["steps"] == 5 and stage["tokens"] == sum(record["num_tokens"] for record in steps)
    assert read_status(tmp_path / "run")["state"] == "failed"
    kept = load_tensors(tmp_path / "run" / "checkpoints" / "step-00000005" / "weights.safetensors")
    model, _ = load_pretraining(tmp_path / "run" / "model")
    assert all(torch.equal(kept[name], value) for name, value in model.state_dict().items())
