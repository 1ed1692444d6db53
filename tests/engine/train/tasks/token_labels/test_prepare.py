"""How a file of tagged words is split: texts of the same words stay on one side."""

from __future__ import annotations

from pathlib import Path

from engine.events import result_of
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig
from engine.train.tasks.token_labels.prepare import reading_parts
from tests.engine.train.tasks.token_labels.tiny_words import sentences, write_conll


def test_texts_of_the_same_words_never_stand_in_training_and_validation(tmp_path: Path) -> None:
    texts = sentences(60)
    path = write_conll(tmp_path / "words.conll", [*texts, *texts[:30], *texts[:30]])
    config = with_values(FineTuneConfig(), {"data": str(path), "validation_share": 0.3})
    _, parts, places = result_of(reading_parts(config))
    train, validation = (set(result_of(parts[name].keys()).tolist()) for name in ("train", "validation"))
    assert not train & validation
    assert sorted(place for part in places for place in part.tolist()) == list(range(120))
    assert 0.2 < len(places[1]) / 120 < 0.4
    again = result_of(reading_parts(config))[2]
    assert [part.tolist() for part in again] == [part.tolist() for part in places]
