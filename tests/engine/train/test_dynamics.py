"""How sure a run was of each row that it learned from: whole after a stop, and told by the doctor."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.doctor.examine import examining
from engine.doctor.finding import NewFinding
from engine.doctor.learned import learned_by
from engine.doctor.part import reading_part
from engine.events import Evaluated, Step, result_of
from engine.text.roles import Roles
from engine.text.table import read_table
from engine.train.finetune import fine_tune, resume
from engine.train.run.dynamics import DYNAMICS, Dynamics, load_dynamics
from engine.train.run.majority import unbeaten_majority
from engine.train.run.records import record_of
from engine.train.run.runs import METRICS, MODEL, read_events
from tests.engine.made_runs import made_run
from tests.engine.tiny_runs import tiny_config

pytestmark = pytest.mark.slow

ROLES = Roles("text", "", "label")
MORE = {"num_epochs": 4, "validation_share": 0, "checkpoint_every_steps": 5}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dynamics")
    for _ in fine_tune(tiny_config(folder, **MORE), folder / "run"):
        pass
    return folder


def test_every_row_is_noted_once_an_epoch(made: Path) -> None:
    learned = learned_by(made / "run")
    assert learned is not None and learned.dynamics.num_epochs == 4
    sure, right = learned.dynamics.sure.astype(float), learned.dynamics.right
    assert sure.shape == (4, 53) and ((sure >= 0) & (sure <= 1)).all()
    assert (sure[right == 1] > 0.499).all() and (sure[right == 0] < 0.501).all(), "there are two labels"
    assert learned.rows.tolist() == list(range(53)) and learned.name == "run"


def test_a_run_that_was_stopped_and_goes_on_has_noted_the_same(made: Path) -> None:
    task = fine_tune(tiny_config(made, **MORE), made / "stopped")
    for event in task:
        if isinstance(event, Step) and event.step >= 17:
            task.close()  # type: ignore[attr-defined]
            break
    for _ in resume(made / "stopped"):
        pass
    one, other = (load_dynamics(made / name / DYNAMICS, 53) for name in ("run", "stopped"))
    assert one is not None and other is not None
    assert np.array_equal(one.sure, other.sure) and np.array_equal(one.right, other.right)


def test_the_doctor_names_the_rows_that_were_never_right_and_those_that_were_forgotten(made: Path) -> None:
    part = result_of(reading_part("reviews.csv", read_table(made / "reviews.csv"), ROLES))
    learned = learned_by(made / "run")
    assert learned is not None
    right, sure = np.ones((4, 53), np.int8), np.full((4, 53), 0.9, np.float16)
    right[:, [4, 11]], sure[:, 4], sure[:, 11] = 0, 0.3, 0.1
    right[2, 20], sure[2, 20] = 0, 0.2
    right[0, 30] = 0  # learned later, and never lost again
    learned = replace(learned, dynamics=Dynamics(sure, right))
    found = {
        one.finding.kind: one.finding
        for one in examining([part], None, 128, learned)
        if isinstance(one, NewFinding)
    }
    assert found["never_learned"].rows.tolist() == [11, 4], "the least sure comes first"
    assert found["forgotten"].rows.tolist() == [20]
    assert "4 epochs" in str(found["never_learned"].sentence) and "run" in str(
        found["never_learned"].sentence
    )
    part = replace(part, table=replace(part.table, sha256="another state"))
    kinds = {one.finding.kind for one in examining([part], None, 128, learned) if isinstance(one, NewFinding)}
    assert not kinds & {"never_learned", "forgotten"}


def test_no_row_is_blamed_for_a_run_or_for_a_label_that_was_not_learned(made: Path) -> None:
    part = result_of(reading_part("reviews.csv", read_table(made / "reviews.csv"), ROLES))
    learned = learned_by(made / "run")
    assert learned is not None
    sure = np.full((4, 53), 0.4, np.float16)

    def found(right: np.ndarray, has_learned: bool = True) -> dict[str, list[int]]:
        seen = replace(learned, dynamics=Dynamics(sure, right.astype(np.int8)), has_learned=has_learned)
        made = examining([part], None, 128, seen)
        kept = (one.finding for one in made if isinstance(one, NewFinding))
        return {one.kind: one.rows.tolist() for one in kept if one.kind in ("never_learned", "forgotten")}

    mostly = np.ones((4, 53))
    mostly[:, 4] = 0
    assert found(mostly) == {"never_learned": [4]}
    assert not found(mostly, has_learned=False), "validation says that it answers one label"
    one_label = np.tile(learned.labels == 0, (4, 1))
    assert not found(one_label), "every row of the other label is wrong"
    one_label[0] = ~one_label[0]
    assert not found(one_label), "it went from one label to the other"


@pytest.mark.parametrize(("right", "said"), [(90, None), (55, True), (50, False)])
def test_a_result_is_held_against_the_commonest_label(tmp_path: Path, right: int, said: bool | None) -> None:
    run = made_run(tmp_path, "films")
    seen = next(each for each in read_events(run) if isinstance(each, Evaluated))
    counts = np.array([[right // 2, 50 - right // 2], [50 - right + right // 2, right - right // 2]])
    with (run / METRICS).open("a", encoding="utf-8") as file:
        file.write(json.dumps(record_of(replace(seen, confusion=counts))) + "\n")
    model = run / MODEL
    model.mkdir()
    (model / "cloze.json").write_text('{"trained": {"step": 12}}', encoding="utf-8")
    found = unbeaten_majority(model)
    assert (None if found is None else found.is_above) is said
    assert unbeaten_majority(tmp_path) is None, "it is of no run"


def test_a_file_of_another_size_is_no_dynamics(made: Path, tmp_path: Path) -> None:
    assert load_dynamics(made / "run" / DYNAMICS, 52) is None
    (tmp_path / DYNAMICS).write_bytes(b"nothing")
    assert load_dynamics(tmp_path / DYNAMICS, 53) is None
    assert load_dynamics(tmp_path / "none", 53) is None
