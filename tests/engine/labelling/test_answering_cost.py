"""What answers cost: a meter that begins again, watts that are assumed, and a column beside the model."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.events import result_of
from engine.labelling.answering_cost import (
    AnsweringCost,
    agreeing,
    costing,
    energy_words,
    joules_between,
    metered,
)
from engine.model.model_name import ModelName
from engine.questions.at_hand import ModelsAtHand
from engine.text.roles import Roles
from engine.text.table import read_table
from engine.train.finetune import fine_tune
from tests.engine.tiny_runs import reviews, tiny_config, write_table


def meter(folder: Path, name: str, now: int) -> None:
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "energy_uj").write_text(f"{now}\n")
    (folder / name / "max_energy_range_uj").write_text("999\n")


def test_a_meter_that_begins_again_is_read_rightly_and_parts_of_a_processor_do_not_count(
    tmp_path: Path,
) -> None:
    for name, now in (("intel-rapl:0", 900), ("intel-rapl:1", 5), ("intel-rapl:0:0", 3)):
        meter(tmp_path, name, now)
    before = metered(tmp_path)
    for name, now in (("intel-rapl:0", 100), ("intel-rapl:1", 55), ("intel-rapl:0:0", 700)):
        meter(tmp_path, name, now)
    assert joules_between(before, metered(tmp_path)) == pytest.approx(250e-6)
    (tmp_path / "intel-rapl:1" / "energy_uj").unlink()
    assert metered(tmp_path) == {} and joules_between(before, metered(tmp_path)) is None


def test_energy_is_metered_or_says_which_watts_it_assumes() -> None:
    assumed = AnsweringCost(rows=500, seconds=2.0, processor_s=3.6, joules=None, watts=10.0)
    assert assumed.watt_hours == pytest.approx(0.02) and assumed.rows_per_s == 250
    said = " ".join(map(str, assumed.sentences()))
    assert "250 a second" in said and "about 0.02 Wh" in said and "10 W for a core are assumed" in said
    counted = AnsweringCost(rows=500, seconds=2.0, processor_s=3.6, joules=3.6, watts=10.0)
    said = " ".join(map(str, counted.sentences()))
    assert "0.002 Wh by the processor’s own meter" in said and "assumed" not in said
    assert [energy_words(one) for one in (0.00035, 0.0351, 12.4)] == ["0.35 mWh", "0.035 Wh", "12 Wh"]


@pytest.mark.slow
def test_a_column_is_compared_on_the_rows_that_the_model_did_not_learn_from(tmp_path: Path) -> None:
    rows = reviews(60, seed=3)
    sample = write_table(tmp_path / "reviews-random-sample.csv", rows[:20])
    write_table(tmp_path / "reviews.csv", rows[20:])
    list(fine_tune(tiny_config(tmp_path, test_data=str(sample)), tmp_path / "run"))
    swapped = {"good": "bad", "bad": "good"}
    answered = [
        (text, "", swapped[label] if number < 5 or number >= 20 else label.upper())
        for number, (text, label) in enumerate(rows)
    ]
    table = read_table(write_table(tmp_path / "all.csv", answered, "text,label,llm"))
    predictor = ModelsAtHand().predictor(ModelName(tmp_path / "run" / "model"))
    roles = Roles(text="text", label="label")
    model, column = result_of(agreeing(tmp_path / "run", predictor.labels, table, roles))
    assert (model.column, model.rows, column.column, column.rows) == ("", 20, "llm", 20)
    assert column.raw.value == pytest.approx(0.75) and column.raw.interval is not None
    cost = result_of(costing(predictor, table, roles, watts=5.0, meters=tmp_path))
    assert cost.rows == 60 and cost.joules is None and cost.rows_per_s > 0
