"""What is frozen stays to the last bit, what is new starts anew, and labels count as other libraries say."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.utils.class_weight import compute_class_weight
from torch import Tensor

from engine.device import open_device
from engine.errors import ConfigError
from engine.events import Evaluated, Noted, Step, result_of
from engine.inspect.anatomy.vectors import trace
from engine.inspect.anatomy.working import Spot, working
from engine.inspect.attention.ablation import outcome
from engine.inspect.loaded_model import LoadedModel
from engine.model.arithmetic import arithmetic
from engine.model.bert import initialize
from engine.model.heads import SequenceClassifier
from engine.model.inventory import take_stock
from engine.model.weights import load_classifier, read_config, save_model
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.settings.shared import DeviceConfig
from engine.text.batch import Bounds, EncodedRows, collate
from engine.train.adapt import adapted, label_weights, mix_shares, rates_of, repeated
from engine.train.feed import EpochFeed
from engine.train.finetune import fine_tune, resume
from engine.train.frozen import with_states
from engine.train.plan import plan
from engine.train.task import weights_on
from engine.train.tasks.classification.task import Classification
from engine.train.tasks.known import CLASSIFICATION
from tests.engine.tiny_runs import tiny_config
from tests.fakes import model_folder, tiny_classifier, tiny_wordpiece
from tests.fakes import tiny_config as tiny_shape


def weights_of(folder: Path) -> dict[str, Tensor]:
    model, _ = load_classifier(folder)
    return dict(model.state_dict())


def changed(tmp_path: Path, **settings: Any) -> set[str]:
    """Return the weights that a run with these settings changes."""
    config = tiny_config(tmp_path, num_epochs=1, **settings)
    list(fine_tune(config, tmp_path / "run"))
    before, after = weights_of(Path(config.model.model)), weights_of(tmp_path / "run" / "model")
    return {name for name, value in after.items() if not torch.equal(value, before[name])}


HEAD = {f"{part}.{kind}" for part in ("bert.pooler", "classifier") for kind in ("weight", "bias")}


@pytest.mark.slow
def test_a_frozen_encoder_stays_to_the_last_bit_and_its_head_learns(tmp_path: Path) -> None:
    assert changed(tmp_path, encoder="frozen") == HEAD


@pytest.mark.slow
def test_frozen_layers_stay_with_the_embeddings_and_those_above_learn(tmp_path: Path) -> None:
    learned = changed(tmp_path, frozen_layers=1)
    assert learned >= HEAD and not any(name.startswith("bert.embeddings") for name in learned)
    layers = {name.split(".")[2] for name in learned if name.startswith("bert.layers")}
    assert layers == {"1"}


@pytest.mark.slow
@pytest.mark.parametrize(("pooling", "is_told"), [("", True), ("mean", False)])
def test_a_model_made_for_the_mean_that_is_read_at_its_first_token_is_told(
    tmp_path: Path, pooling: str, is_told: bool
) -> None:
    config = tiny_config(tmp_path, num_epochs=1, pooling=pooling)
    start = tmp_path / "start"
    kinds = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    kinds += [{"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}]
    (start / "modules.json").write_text(json.dumps(kinds))
    (start / "1_Pooling").mkdir()
    settings = {"word_embedding_dimension": 12, "pooling_mode_mean_tokens": True}
    (start / "1_Pooling" / "config.json").write_text(json.dumps(settings))
    said = [str(event.sentence) for event in fine_tune(config, tmp_path / "run") if isinstance(event, Noted)]
    assert any("made to be read as the mean of all tokens" in one for one in said) == is_told


def test_what_labels_count_is_brought_to_the_device_once() -> None:
    first, device = weights_on((0.5, 2.0), torch.device("cpu")), torch.device("cpu")
    assert weights_on((0.5, 2.0), device) is first and first.tolist() == [0.5, 2.0]


@pytest.mark.slow
def test_new_layers_start_from_the_seed_and_are_told(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("again", 1), ("other", 2)):
        config = tiny_config(tmp_path, new_layers=1, seed=seed, kept_weights=2, num_epochs=1)
        events = list(fine_tune(config, tmp_path / name))
        told = [str(event.sentence) for event in events if isinstance(event, Noted)]
        assert "The pooler and the last 1 of 2 layers start from random weights." in told
    losses = {
        name: [event.loss for event in fine_tune(tiny_config(tmp_path, new_layers=1, seed=seed, num_epochs=1),
                                                 tmp_path / f"{name} again") if isinstance(event, Step)]
        for name, seed in (("one", 1), ("other", 2))
    }  # fmt: skip
    assert losses["one"] != losses["other"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"encoder": "frozen"},
        {"frozen_layers": 1, "layer_decay": 0.5},
        {"new_layers": 1, "rare_labels": "repeated"},
        {"rare_labels": "weighted", "label_smoothing": 0.1},
    ],
    ids=lambda settings: " ".join(settings),
)
def test_a_run_that_is_stopped_goes_on_to_the_same_weights(tmp_path: Path, settings: dict[str, Any]) -> None:
    config = tiny_config(tmp_path, **settings)
    list(fine_tune(config, tmp_path / "whole"))
    begun = fine_tune(config, tmp_path / "run")
    next(event for event in begun if isinstance(event, Step) and event.step == 5)
    begun.close()  # type: ignore[attr-defined]
    list(resume(tmp_path / "run"))
    whole, run = (weights_of(tmp_path / name / "model") for name in ("whole", "run"))
    assert all(torch.equal(value, run[name]) for name, value in whole.items())


@pytest.mark.parametrize(
    ("settings", "refusal"),
    [
        ({"frozen_layers": 3}, "frozen_layers is 3, but the model has 2 layers"),
        ({"new_layers": 3}, "new_layers is 3, but the model has 2 layers"),
        ({"encoder": "frozen", "new_layers": 1}, "new_layers is 1, but 2 of the 2 layers stay frozen"),
        ({"frozen_layers": 1, "new_layers": 2}, "new_layers is 2, but 1 of the 2 layers stay frozen"),
        ({"encoder": "frozen", "model": "new:tiny"}, "encoder: a model with random weights knows nothing"),
        ({"rare_labels": "loud"}, "rare_labels is 'loud'; it can be one of: 'weighted', 'repeated'"),
    ],
)
def test_what_cannot_be_done_to_a_model_is_refused_before_the_table_is_read(
    tmp_path: Path, settings: dict[str, Any], refusal: str
) -> None:
    with pytest.raises(ConfigError) as told:
        settings = {"vocab": str(tmp_path / "start" / "vocab.txt")} | settings
        list(fine_tune(tiny_config(tmp_path, **settings), tmp_path / "run"))
    assert refusal in str(told.value)
    assert not (tmp_path / "run").exists()


def examples(targets: np.ndarray) -> EncodedRows:
    lengths = np.random.default_rng(0).integers(3, 9, len(targets))
    pieces = [np.full(length, 5, np.int32) for length in lengths]
    return EncodedRows.from_pieces(pieces, lengths.tolist(), targets.tolist(), list(range(len(targets))))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("weights", [(), (0.5, 2.0, 1.5)])
def test_the_loss_of_a_step_in_parts_is_torchs_mean_over_all_of_it(
    weights: tuple[float, ...], smoothing: float
) -> None:
    targets = np.array([0, 0, 1, 2, 0, 1, 0])
    data, model = examples(targets), tiny_classifier(("a", "b", "c")).eval()
    task = Classification(("a", "b", "c"), weights, smoothing)
    parts = [collate(data, np.array(places)) for places in ([0, 1, 2], [3, 4], [5, 6])]
    totals = task.count(parts)
    found = [task.loss(model, part, totals) for part in parts]
    logits = torch.cat([task.forward(model, part) for part in parts])
    wanted = torch.nn.functional.cross_entropy(
        logits,
        torch.from_numpy(targets),
        torch.tensor(weights) if weights else None,
        label_smoothing=smoothing,
    )
    assert torch.allclose(sum(loss for loss, _ in found), wanted, rtol=1e-6)  # type: ignore[arg-type]
    read = task.read(sum(tally for _, tally in found), totals)  # type: ignore[arg-type]
    right = (logits.argmax(-1).numpy() == targets).mean()
    assert read.accuracy == pytest.approx(right)


def test_rare_labels_weigh_what_scikit_learn_calls_balanced() -> None:
    targets = np.random.default_rng(1).choice(4, 500, p=[0.7, 0.2, 0.08, 0.02])
    wanted = compute_class_weight("balanced", classes=np.arange(4), y=targets)
    assert label_weights(targets, 4) == pytest.approx(wanted.tolist())
    assert label_weights(np.array([0, 0]), 3) == pytest.approx((1 / 3, 2 / 3, 2 / 3))


def test_an_epoch_has_every_example_and_those_of_rare_labels_ten_times_at_most() -> None:
    targets = np.array([0] * 60 + [1] * 20 + [2] * 2)
    order = repeated(targets, 4)
    assert Counter(targets[order].tolist()) == {0: 60, 1: 60, 2: 20}
    feed = EpochFeed(examples(targets), 8, 1, 3, order=order)
    taken = [place for step in range(1, feed.steps_per_epoch + 1) for place in feed.take(step, 0.0)]
    assert feed.steps_per_epoch == 18 and sorted(taken) == sorted(order.tolist())


def test_a_run_makes_the_steps_that_were_told_where_rare_labels_are_repeated(tmp_path: Path) -> None:
    config = with_values(
        FineTuneConfig(), {"rare_labels": "repeated", "batch_size": 8, "validation_share": 0}
    )
    counts = (60, 20, 2)
    told = plan(config, num_examples=82, num_tokens=600, model=tiny_shape(), label_counts=counts)
    order = repeated(np.repeat(np.arange(3), counts), 3)
    assert told.steps_per_epoch == -(-len(order) // 8) == 18


def test_each_layer_learns_at_a_share_of_the_rate_of_the_one_above() -> None:
    model = tiny_classifier()
    rates = rates_of(model, 0.5, 10.0)
    assert set(rates) == {name for name, _ in model.named_parameters()}
    assert {rates[name] for name in HEAD} == {1.0}
    for place, wanted in (("layers.1.", 1.0), ("layers.0.", 0.5), ("embeddings.norm", 0.25)):
        assert {rate for name, rate in rates.items() if place in name} == {wanted}
    assert rates["bert.embeddings.word.weight"] == 2.5


@pytest.mark.slow
def test_measuring_knows_neither_weights_nor_smoothing(tmp_path: Path) -> None:
    found = []
    for name, settings in (("plain", {}), ("odd", {"rare_labels": "weighted", "label_smoothing": 0.3})):
        config = tiny_config(tmp_path, learning_rate=1e-8, **settings)
        events = fine_tune(config, tmp_path / name)
        found.append(next(event for event in events if isinstance(event, Evaluated)))
    plain, odd = found
    assert plain.loss == pytest.approx(odd.loss, rel=1e-5) and plain.metrics == odd.metrics


@pytest.mark.parametrize("frozen", [1, 2])
def test_kept_states_give_the_logits_and_gradients_of_the_whole_model(frozen: int) -> None:
    config = with_values(FineTuneConfig(), {"frozen_layers": frozen, "max_length": 9})
    data, model = examples(np.array([0, 1, 2, 1, 0, 1, 0])), tiny_classifier(("a", "b", "c"))
    adapted(model, config, is_begun=False)
    task = Classification(("a", "b", "c"))
    device = replace(open_device(DeviceConfig(device="cpu", num_threads=1)), micro_batch_tokens=16)
    kept = result_of(with_states(model, data, device))
    assert kept.states is not None and kept.states.shape[0] == (7 if frozen == 2 else data.bounds[-1])
    found = []
    for one in (data, kept):
        batch = collate(one, np.array([6, 2, 0, 3]), multiple=32)
        assert (batch.states is None) == (one is data)
        model.zero_grad()
        model.train().bert.noise.seed(5)
        loss, _ = task.loss(model, batch, task.count([batch]))
        loss.backward()  # type: ignore[no-untyped-call]
        found.append((loss, {n: p.grad for n, p in model.named_parameters() if p.grad is not None}))
    (whole, slopes), (above, same) = found
    assert torch.allclose(whole, above, rtol=1e-6) and slopes.keys() == same.keys()
    for name, slope in slopes.items():
        assert torch.allclose(slope, same[name], rtol=1e-4, atol=1e-7), name


@pytest.mark.parametrize("frozen", [0, 1, 2])
@pytest.mark.parametrize("pooling", ["mean", "first_last"])
def test_a_mean_is_of_each_texts_own_tokens_padded_packed_or_kept(pooling: str, frozen: int) -> None:
    model = tiny_classifier(("a", "b", "c"), pooling=pooling)
    data = examples(np.array([0, 1, 2, 1, 0]))
    if frozen:
        adapted(model, with_values(FineTuneConfig(), {"frozen_layers": frozen}), is_begun=True)
    device = replace(open_device(DeviceConfig(device="cpu", num_threads=1)), micro_batch_tokens=16)
    kept = result_of(with_states(model, data, device))
    assert (kept.states is None) == (not frozen or (pooling == "first_last" and frozen < 2))
    task, order = Classification(("a", "b", "c")), np.array([4, 2, 0, 3])
    with torch.no_grad():
        found = [task.forward(model, collate(one, order, multiple=32)) for one in (data, kept)]
        for place, which in enumerate(order):
            ids = torch.from_numpy(data.input_ids[data.bounds[which] : data.bounds[which + 1]]).long()[None]
            second = (torch.arange(ids.shape[1]) >= int(data.num_a[which])).long()[None]
            states = model.bert(ids, second, output_hidden_states=True).hidden_states
            read = torch.tanh(model.bert.pooler(states[-1].mean(1)))
            if pooling == "first_last":
                read = torch.cat([read, states[0].mean(1)], -1)
            wanted = model.classifier(read)[0]
            filler, mask = torch.nn.functional.pad(ids, (0, 3)), torch.ones_like(ids)
            mask = torch.nn.functional.pad(mask, (0, 3))
            padded = model(filler, torch.nn.functional.pad(second, (0, 3)), mask)[0]
            for one in (*(each[place] for each in found), padded):
                assert torch.allclose(one, wanted, atol=1e-5)


def test_states_that_are_too_many_are_computed_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = tiny_classifier(), examples(np.array([0, 1]))
    device = open_device(DeviceConfig(device="cpu", num_threads=1))
    assert result_of(with_states(model, data, device)) is data  # nothing is frozen
    adapted(model, with_values(FineTuneConfig(), {"frozen_layers": 1}), is_begun=False)
    monkeypatch.setattr("engine.train.frozen.MOST_BYTES", 100)
    assert result_of(with_states(model, data, device)) is data


def mixed(num_layers: int = 2) -> SequenceClassifier:
    """Return a classifier whose mix of layers is neither even nor of scale 1."""
    labels = ("a", "b", "c")
    model = SequenceClassifier(tiny_shape(num_hidden_layers=num_layers, id2label=labels, layer_mix=True))
    initialize(model, 0.5, 3)
    assert model.mix is not None
    with torch.no_grad():
        model.mix.weights.copy_(torch.linspace(-1.0, 2.0, num_layers + 1))
        model.mix.scale.fill_(1.5)
    return model.eval()


def test_a_mix_is_the_weighted_mean_of_the_first_token_at_every_layer_padded_or_packed() -> None:
    model, ids = mixed(), torch.randint(5, 30, (3, 7), generator=torch.Generator().manual_seed(1))
    assert model.mix is not None
    with torch.no_grad():
        states = model.bert(ids, output_hidden_states=True).hidden_states
        shares = model.mix.weights.softmax(0)
        first = 1.5 * sum(share * state[:, 0] for share, state in zip(shares, states, strict=True))
        wanted = model.classifier(torch.tanh(model.bert.pooler(first)))
        bounds = Bounds([7, 7, 7])
        packed = model(ids.flatten(), bounds=bounds)
        assert torch.allclose(model(ids), wanted, atol=1e-6)
        assert torch.allclose(packed, wanted, atol=1e-5)


def test_a_mix_is_saved_and_loaded_and_a_model_without_one_gets_an_even_one(tmp_path: Path) -> None:
    model = mixed()
    save_model(tmp_path / "mixed", model, tiny_wordpiece())
    again, report = load_classifier(tmp_path / "mixed")
    assert all(torch.equal(value, again.state_dict()[name]) for name, value in model.state_dict().items())
    assert not report.unexpected and not report.missing
    found = take_stock(tmp_path / "mixed")
    assert found.heads.layer_mix and found.counts["layer_mix"] == 4 and not found.leftovers
    plain = tiny_classifier(("a", "b", "c"))
    save_model(tmp_path / "plain", plain, tiny_wordpiece())
    assert "layer_mix" not in json.loads((tmp_path / "plain" / "config.json").read_text())
    shape = replace(read_config(tmp_path / "plain"), layer_mix=True)
    new, report = load_classifier(tmp_path / "plain", ("a", "b", "c"), config=shape)
    assert mix_shares(new) == pytest.approx([1 / 3] * 3)
    assert "The mix of layers is new and starts from equal weights." in list(map(str, report.notes))


@pytest.mark.parametrize("pooling", ["mean", "first_last"])
def test_a_classifier_of_means_is_counted_and_answers_alike_wherever_it_is_asked(
    tmp_path: Path, pooling: str
) -> None:
    folder = model_folder(tmp_path / "model", pooling=pooling)
    model, report = load_classifier(folder)
    found = take_stock(folder)
    assert not report.unexpected and not report.missing and not found.leftovers
    config = model.config
    assert found.counts["classifier"] == sum(one.numel() for one in model.classifier.parameters())
    assert sum(one.numel() for one in model.parameters()) == arithmetic(config, found.heads).total
    answer = CLASSIFICATION.predictor(folder, "cpu").predict("good film").tolist()
    subject = LoadedModel.open(folder, "cpu")
    assert [dict(outcome(subject, "good film").classes)[label] for label in config.id2label] == pytest.approx(
        answer, abs=1e-5
    )
    inside = trace(subject, "good film")
    assert inside["label.softmax"].tolist() == pytest.approx(answer, abs=1e-5)
    means = inside["embeddings.norm"].mean(0) if pooling == "first_last" else inside["C"][:0]
    assert np.allclose(inside["C"][config.hidden_size :], means, atol=1e-6)
    for number in range(len(inside["C"])):
        worked = working(inside, Spot("C", number=number))
        assert worked.way == ("pooled" if number < config.hidden_size else "taken")
    other = replace(config, pooling="")
    _, report = load_classifier(folder, config.id2label, config=other)
    assert f"reads something else of a text (pooling {pooling})" in str(report.refused[0][1])


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ["frozen", "fine-tuned"])
def test_a_mix_is_learned_told_and_answers_alike_wherever_it_is_asked(tmp_path: Path, encoder: str) -> None:
    config = tiny_config(tmp_path, layer_mix=True, encoder=encoder)
    events = list(fine_tune(config, tmp_path / "run"))
    told = [str(event.sentence) for event in events if isinstance(event, Noted)]
    assert any(said.startswith("The mix of layers, from the embeddings to the last layer:") for said in told)
    model, _ = load_classifier(tmp_path / "run" / "model")
    assert len(set(mix_shares(model))) > 1
    predictor = CLASSIFICATION.predictor(tmp_path / "run" / "model", "cpu")
    answer = predictor.predict("good film")
    subject = LoadedModel.open(tmp_path / "run" / "model", "cpu")
    found = outcome(subject, "good film")
    assert dict(found.classes)["good"] == pytest.approx(
        answer[list(predictor.labels).index("good")], abs=1e-5
    )


def test_kept_states_of_a_mix_give_the_logits_of_the_whole_model() -> None:
    model, data = mixed(), examples(np.array([0, 1, 2, 1, 0]))
    adapted(model, with_values(FineTuneConfig(), {"frozen_layers": 2, "max_length": 9}), is_begun=True)
    device = open_device(DeviceConfig(device="cpu", num_threads=1))
    kept = result_of(with_states(model, data, device))
    assert kept.states is not None and kept.states.shape == (5, 3, model.config.hidden_size)
    task = Classification(("a", "b", "c"))
    whole, above = (task.forward(model, collate(one, np.array([3, 1]))) for one in (data, kept))
    assert torch.allclose(whole, above, atol=1e-5)
    adapted(model, with_values(FineTuneConfig(), {"frozen_layers": 1}), is_begun=True)
    assert result_of(with_states(model, data, device)) is data  # lower layers are read, too
