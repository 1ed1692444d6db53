"""What runs and models are called: by one name on every page, in every sentence and under every picture."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QLocale

from app import shipped, words
from app.look.labels import PART
from app.work.later import later
from engine.errors import UserError
from engine.model.config import BertConfig
from engine.runs.marks import read_marks
from engine.settings.finetune import FineTuneConfig
from engine.train.run.kept import name_of, run_of
from engine.train.run.runs import MODEL, read_config
from engine.train.ways.names import AUTO, FINE_TUNED, SAID

if TYPE_CHECKING:
    from engine.inspect.loaded_model import ModelSummary
    from engine.model.info import read_info
else:
    read_info = later("engine.model.info", "read_info")

_STAMP = "%Y%m%d-%H%M%S"  # with which the names of run folders begin
_STAMP_LENGTH = 15
MOST_BEGAN = 24  # characters of the model that a run began with, and of its label
NO_NAMES = ("label", "labels", "class")  # of a column, that say nothing of its labels
_began: dict[str, str] = {}  # run -> that model; settings of a run never change


def parted(name: str) -> tuple[str, datetime | None]:
    """Return a run folder's name without the time before it, and that time; None where there is none."""
    stamp, rest = name[:_STAMP_LENGTH], name[_STAMP_LENGTH:]
    try:
        began = datetime(*time.strptime(stamp, _STAMP)[:6])
    except ValueError:
        return name, None
    return (rest[1:], began) if rest.startswith("-") and len(rest) > 1 else (name, None)


def run_title(run: Path) -> str:
    """Return what a run is called, such as "films · sentiment · Starter model · 22 Nov 03:29:51": its table,
    the column of labels where that tells more than that it is one, the method where it is not the usual one,
    and the model that it began with. Two of them never share it.
    """
    if run == shipped.history_run():
        return words.translate("titles", "Small model with its history")
    given = read_marks(run).name
    return _with_time(run.name, given, "" if given else _began_with(run))


def _began_with(run: Path) -> str:
    """Return in a few words what a run fine-tunes, and how; "" for other runs."""
    key = str(run)
    if key not in _began:
        try:
            config = read_config(run)
        except UserError:
            return ""  # its settings may be written soon
        if not isinstance(config, FineTuneConfig) or not config.model.model:
            _began[key] = ""
            return ""
        way = _way_of(run, config)
        said = PART.join(_parts_of(config, way))
        if way == AUTO:
            return said  # it is not taken yet
        _began[key] = said
    return _began[key]


def _way_of(run: Path, config: FineTuneConfig) -> str:
    """Return how a run learns; where that is chosen by cross-validation, what was taken once it is over."""
    way = config.adapt.take or config.adapt.way
    if way != AUTO:
        return way
    try:
        told = read_info(run / MODEL).get("way")
    except UserError:
        return AUTO
    found = str(told.get("way")) if isinstance(told, Mapping) else ""
    return found if found in SAID else AUTO


def _parts_of(config: FineTuneConfig, way: str) -> Iterator[str]:
    """Yield what tells the runs on one table apart: the label, the method, the model."""
    label = config.data.label
    if label and label.casefold() not in NO_NAMES:
        yield words.shorten(label, MOST_BEGAN)
    if way != FINE_TUNED:
        yield words.choice_word("way", way)
    yield _short_title(config.model.model)


def _short_title(model: str) -> str:
    if model.startswith("new:"):
        return words.translate("titles", "new {size}").format(size=model.removeprefix("new:"))
    folder = Path(model).absolute()
    run = run_of(folder)
    name = model_title(folder) if run is None else read_marks(run).name or parted(run.name)[0]
    return words.shorten(name, MOST_BEGAN)


def model_title(folder: Path | str) -> str:
    """Return what a model is called: a run's result as its run, what does not ship else as its folder."""
    folder = Path(folder).absolute()
    if folder == shipped.starter_model():
        return words.translate("titles", "Starter model")
    if folder == shipped.chinese_model():
        return words.translate("titles", "Chinese starter")
    if folder == shipped.tuned_model():
        return words.translate("titles", "Small model, fine-tuned on film reviews")
    if folder == shipped.chinese_tuned_model():
        return words.translate("titles", "Chinese starter, fine-tuned on questions")
    run = run_of(folder)
    if run is None:
        return _with_time(name_of(folder))
    if folder.name == MODEL:
        return run_title(run)
    step = words.number(int(folder.name.rpartition("-")[2]))
    return words.translate("titles", "{run}, step {step}").format(run=run_title(run), step=step)


def shape_words(config: BertConfig) -> str:
    """Return layers and width: 4×256."""
    return f"{config.num_hidden_layers}×{config.hidden_size}"


def about_words(about: ModelSummary) -> str:
    """Return a model in a line: size, what it answers, its fingerprint."""
    heads = words.counted(
        about.config.num_attention_heads,
        words.translate("looking_model", "1 head a layer"),
        words.translate("looking_model", "{count} heads a layer"),
    )
    can = {"masked_words": about.has_masked_words, "next_sentence": about.has_next_sentence}
    answers = [what for what, has in {**can, "labels": bool(about.labels)}.items() if has]
    said = answer_words(answers, len(about.labels))
    return " · ".join((shape_words(about.config), heads, said, about.fingerprint))


def answer_words(answers: Sequence[str], num_labels: int) -> str:
    """Return what a model can be asked, in words. Args: answers: as `Inventory.answers`."""
    from engine.model.inventory import ANSWERS  # which has read the model, and torch with it, by now

    said = (words.tr_engine(ANSWERS[what]).format(count=words.number(num_labels)) for what in answers)
    return words.phrases(said) or words.translate("models", "no trained head")


def _with_time(folder_name: str, given: str = "", model: str = "") -> str:
    """Return a folder's name, or the one that a person gave, and behind it the time at its beginning.

    Args: model: to be named between the two.
    """
    name, began = parted(folder_name)
    name = given or name
    if model:
        name = f"{name} · {model}"
    if began is None:
        return name
    form = words.translate("titles", "d MMM HH:mm:ss")  # as QLocale takes it
    if began.year != datetime.now().year:
        form = words.translate("titles", "d MMM yyyy HH:mm:ss")
    moment = QDateTime(began.year, began.month, began.day, began.hour, began.minute, began.second)
    return f"{name} · {QLocale().toString(moment, form)}"
