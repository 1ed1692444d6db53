"""Feature-based against fine-tuned: the same rows and seeds, figures that stand in the runs, gone on with."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from engine.commands.command_line import main
from engine.errors import ConfigError, RunError
from engine.events import Event, Finished, Gained, Noted, Started
from engine.settings.config import with_values
from engine.train.adapt import FEATURE_RATE
from engine.train.comparison import WAYS, compare, config_of, read_report, resume, table
from engine.train.run.runs import read_config, read_metrics
from tests.engine.tiny_runs import tiny_config

NAMES = [way.name for way in WAYS]
RARELY = {"checkpoint_every_steps": 500}  # a checkpoint after each evaluation is enough


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, list[Event]]]:
    """A comparison with two seeds, and what it said."""
    folder = tmp_path_factory.mktemp("whole")
    yield folder, list(compare(tiny_config(folder, **RARELY), folder / "compared", 2))


@pytest.mark.slow
def test_each_way_learns_from_the_same_rows_with_each_seed_and_is_reported(
    done: tuple[Path, list[Event]],
) -> None:
    folder, events = done[0] / "compared", done[1]
    report = read_report(folder)
    assert [way["way"] for way in report["ways"]] == NAMES and report["seeds"] == [42, 43]
    splits: dict[int, set[str]] = {42: set(), 43: set()}
    for way in report["ways"]:
        if way["way"] == "tfidf":  # of which there is no run: it learns from the rows of fine-tuning's
            assert all(value > 0.9 for value in way["values"])
            continue
        places = [folder / f"{way['way']}-seed{seed}" for seed in (42, 43)]
        assert way["values"] == [read_metrics(place)[-1]["best_metric"] for place in places]
        assert way["mean"] == pytest.approx(statistics.fmean(way["values"]))
        assert way["spread"] == pytest.approx(statistics.stdev(way["values"]))
        for seed, place in zip(splits, places, strict=True):
            splits[seed].add(json.loads((place / "setup/setup.json").read_text())["split"]["sha256"])
        assert not any((place / "model").exists() for place in places)
    assert len(splits[42]) == len(splits[43]) == 1 and splits[42] != splits[43]  # of so few rows others
    assert report["shared"] == report["rows"]["validation"] / report["rows"]["train"]
    first, *others = report["ways"]
    for way in others:
        differences = [one - base for one, base in zip(way["values"], first["values"], strict=True)]
        assert way["difference"] == pytest.approx(statistics.fmean(differences))
    assert first["difference"] is None
    assert sum(report["ways"][NAMES.index("mix")]["layer_mix"]) == pytest.approx(1, abs=1e-5)
    gained = [event for event in events if isinstance(event, Gained)]
    assert [event.stage for event in gained] == NAMES * 2 and gained[-1].seeds_done == 2
    assert isinstance(events[-1], Finished)
    lines = table(report)
    assert lines.index("") == 1 + len(WAYS) and "95 %" not in "".join(lines[: 1 + len(WAYS)])
    assert lines[-3].startswith("Number of seeds: 2. From 3 seeds on") and lines[-1] == report["notes"][-1]
    assert "So few decide nothing" in lines[-2]
    looks = {way["way"]: way["looks"] for way in report["ways"]}
    assert looks["regression"] == looks["tfidf"] == 1 and looks["fine-tuned"] < looks["cls"]
    said = f"the best of up to {looks['cls']}, training all weights the best of {looks['fine-tuned']}"
    assert said in lines[-1]


@pytest.mark.slow
def test_what_is_done_is_kept_and_gone_on_with(done: tuple[Path, list[Event]], tmp_path: Path) -> None:
    config = tiny_config(tmp_path, **RARELY)
    begun = compare(config, tmp_path / "compared", 1)
    for event in begun:
        if isinstance(event, Gained) and event.stage == "cls":
            break
    list(islice(begun, 9))
    begun.close()  # type: ignore[attr-defined]
    events = list(resume(tmp_path / "compared"))
    begun_again = {event.run_dir.name for event in events if isinstance(event, Started)}
    assert begun_again == {"mean-seed42", "mix-seed42"}
    values = {way["way"]: way["values"] for way in read_report(tmp_path / "compared")["ways"]}
    assert values == {way["way"]: way["values"][:1] for way in read_report(done[0] / "compared")["ways"]}
    with pytest.raises(RunError, match="begun with other settings"):
        next(iter(compare(with_values(config, {"batch_size": 7}), tmp_path / "compared")))


def test_a_frozen_way_learns_at_a_rate_of_its_own_and_for_longer(tmp_path: Path) -> None:
    config = tiny_config(tmp_path)
    own = {way.name: config_of(config, way, 7) for way in WAYS}
    assert own["fine-tuned"] == with_values(config, {"seed": 7, "least_steps": 60})
    for way in ("regression", "contrastive"):
        assert own[way] == with_values(config, {"seed": 7, "way": way})
    for one in (own["cls"], own["mean"], own["mix"]):
        assert one.training.least_steps == 100
        assert one.adapt.encoder == "frozen" and one.training.learning_rate == FEATURE_RATE
        assert one.training.num_epochs == 10 and one.training.seed == 7 and one.data == config.data


def test_what_is_compared_cannot_be_set_and_a_new_model_has_no_features(tmp_path: Path) -> None:
    config = tiny_config(tmp_path)
    for values in ({"encoder": "frozen"}, {"layer_mix": True}, {"pooling": "mean"}, {"model": "new:tiny"}):
        with pytest.raises(ConfigError) as refused:
            next(iter(compare(with_values(config, values), tmp_path / "compared")))
        assert refused.value.field == next(iter(values))
    assert not (tmp_path / "compared").exists()
    with pytest.raises(ConfigError, match="No column"):
        list(compare(with_values(config, {"label": ""}), tmp_path / "compared"))
    begun = compare(config, tmp_path / "compared")  # what was refused stands in nobody's way
    assert isinstance(next(begun), Noted)
    begun.close()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_the_command_prints_a_row_for_each_way(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tiny_config(tmp_path)
    words = ["compare-ways", "--run", str(tmp_path / "compared"), "--seeds", "1"]
    words += ["--data", config.data.data, "--text", "text", "--label", "label", "--model", config.model.model]
    for setting in ("device=cpu", "max_length=23", "num_epochs=1", "batch_size=5"):
        words += ["--set", setting]
    assert main(words) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said[: 1 + len(NAMES)]] == ["way", *NAMES]
    assert read_config(tmp_path / "compared" / "cls-seed42").adapt.encoder == "frozen"
