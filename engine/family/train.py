"""A whole family on one text, one member after the other, each for an equal share of the minutes.

folder/
    family.toml     all settings
    vocab.txt       the words, the commonest of the text
    text/           the text as ids, and what is kept apart of it
    <member>/       a run folder for each; its model/ is what is asked
    training-2/     the same members again, trained from another seed, where several trainings are asked for
    word_counts.safetensors    how often the text has each word: with what all networks begin
    family.json     what each reached, once all are done; card.md says it to a person

The run folders are the truth: the same command goes on where an earlier one ended.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from engine.device import open_device
from engine.durable import check_place, explained, sweep_partials, write_text
from engine.errors import ConfigError, RunError, Sentence, UserError, marked
from engine.events import Event, Finished, Noted, Steps
from engine.family import neural, rounds
from engine.family.blanks import draw_blanks
from engine.family.card import card
from engine.family.claims import both_sides, two_in_a_row
from engine.family.curves import curve
from engine.family.layout import NEURAL, SETTINGS, has_unequal_starts, is_family, read_family
from engine.family.members import ABOUT
from engine.family.reading import TEXT, VOCAB, Streams, as_pretraining, prepared, streams
from engine.family.scores import document_of, scores
from engine.family.starts import WORD_COUNTS, write_counts
from engine.family.trainings import Trainings, training_config, training_folder, training_number
from engine.family.verdicts import document_of as claims_document
from engine.family.verdicts import judged_of
from engine.family.word2vec import import_gensim
from engine.files import read_json_object
from engine.own_process import command_words
from engine.settings.config import absolute, to_toml, values_of
from engine.settings.family import FamilyConfig, members_of
from engine.text.corpus.corpus import find_files
from engine.train import lifecycle
from engine.train.metrics import LEAST_SEEDS
from engine.train.pipeline import finished_run
from engine.train.pretraining.setup import PretrainSetup
from engine.train.ranks import check_alone
from engine.train.run.folder import discard
from engine.train.run.lock import locked
from engine.train.run.runs import CONFIG, LOCK, MODEL, chain_of

REPORT, CARD = "family.json", "card.md"
LEAST_MINUTES = 0.01  # of a member
BY_GENSIM = ("cbow", "skipgram")


def train_family(config: FamilyConfig, folder: Path) -> Iterator[Event]:
    """Train the members, the oldest first; several `Started`, one `Finished` at the end.

    In a folder where it was begun, members that are finished are kept, and others go on.
    Raises: UserError in one sentence, before time is spent where the input is to blame.
    """
    check_alone()
    folder = Path(folder).absolute()
    config = absolute(config)
    names, missing = _with_gensim(_checked(config, folder))
    was_there = folder.is_dir()
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
    try:
        yield from _work(config, folder, names, missing)
    except UserError:
        if not (folder / TEXT).is_dir():  # the text was refused, and nothing is worth keeping
            for name in (SETTINGS, VOCAB):
                (folder / name).unlink(missing_ok=True)
            discard(folder, was_there)
        raise


def _work(
    config: FamilyConfig, folder: Path, names: Sequence[str], missing: Sequence[Noted]
) -> Iterator[Event]:
    """Train the members that are not done yet. Args: missing: what is said of those left out."""
    with locked(folder / LOCK):
        sweep_partials(folder)
        write_text(folder / SETTINGS, to_toml(config))
        setup = yield from prepared(config, folder)
        write_counts(folder, streams(config, setup).counts)
        yield from missing
        seconds = 0.0
        for number in range(config.family.trainings):
            own, place = training_config(config, number), training_folder(folder, number)
            if number:
                with explained(place):
                    place.mkdir(exist_ok=True)
                write_text(place / SETTINGS, to_toml(own))
                shutil.copyfile(folder / WORD_COUNTS, place / WORD_COUNTS)
            text = streams(own, setup)
            for name in names:
                one = member_config(own, name)
                seconds += yield from _member(one, place / name, folder / VOCAB, setup, text)
        report = yield from reporting(config, folder, names, streams(config, setup))
        write_report(folder, report)
    yield Finished(path=folder / REPORT, seconds=seconds)


def resume(folder: Path) -> Iterator[Event]:
    """Go on with a family from its folder alone. Raises: RunError if it is none, or is one of before."""
    _check_starts(folder)
    return train_family(read_family(folder), folder)


def _check_starts(folder: Path) -> None:
    """Refuse a family of before: its further members would begin otherwise than those it has."""
    if has_unequal_starts(folder):
        raise RunError(
            marked(
                "engine",
                "The family in {path} is from an earlier version, in which members did not have the "
                "same start. It can be asked, but not continued. Train a new one.",
            ),
            path=folder,
        )


def write_report(folder: Path, report: Mapping[str, Any]) -> None:
    """Write what a family reached, and the card that says it to a person."""
    write_text(folder / REPORT, json.dumps(report, indent=1, ensure_ascii=False))
    write_text(folder / CARD, "\n".join(card(report)) + "\n")


def read_report(folder: Path) -> dict[str, Any]:
    """Return what a family that has come to its end reached. Raises: RunError if it has not."""
    return read_json_object(Path(folder) / REPORT, kind=RunError)


def member_config(config: FamilyConfig, name: str) -> FamilyConfig:
    """Return the settings of one member's run: its share of the minutes."""
    count = len(members_of(config))
    minutes = config.budget.minutes / count
    return replace(
        config, family=replace(config.family, members=name), budget=replace(config.budget, minutes=minutes)
    )


def _checked(config: FamilyConfig, folder: Path) -> tuple[str, ...]:
    """Return the names of the members. Raises: UserError, where the input is to blame."""
    names = members_of(config)
    budget = config.budget
    if sum(map(bool, (budget.minutes, budget.steps, budget.tokens))) != 1:
        raise ConfigError(
            marked(
                "engine",
                "Say how long to train: give --minutes for all members together, or --tokens, the words that "
                "each member reads.",
            ),
            field="minutes",
        )
    count = len(names) * config.family.trainings
    if budget.minutes and budget.minutes / count < LEAST_MINUTES:
        raise ConfigError(
            marked(
                "engine", "{minutes:g} minutes are too few for {count} trainings. Give {least:g} or more."
            ),
            field="minutes",
            minutes=budget.minutes,
            count=count,
            least=LEAST_MINUTES * count,
        )
    if config.family.informed_start:
        raise ConfigError(
            marked(
                "engine",
                "{field} would give BERT alone a head start. Leave it off: starts says with what all begin.",
            ),
            field="informed_start",
        )
    if 1 < config.family.trainings < LEAST_SEEDS:
        raise ConfigError(
            marked(
                "engine",
                "Two trainings cannot show what a third would reach. Give 1 training, or {least} or more.",
            ),
            field="trainings",
            least=LEAST_SEEDS,
        )
    if config.family.width % 8:
        raise ConfigError(
            marked("engine", "{field} is {value}; it must be a multiple of 8."),
            field="width",
            value=config.family.width,
        )
    places = [line for line in config.text.text.split("\n") if line]
    if not places:
        raise ConfigError(marked("engine", "No text was chosen. Give text files or folders."), field="text")
    find_files(places, column=config.text.column)
    check_place(folder)
    _check_folder(config, folder)
    return names


def _with_gensim(names: tuple[str, ...]) -> tuple[tuple[str, ...], list[Noted]]:
    """Return who can be trained here, and what to say of the others. Raises: UserError: nobody can."""
    try:
        if set(names) & set(BY_GENSIM):
            import_gensim()
    except UserError as error:
        rest = tuple(name for name in names if name not in BY_GENSIM)
        if not rest:
            raise
        return rest, [Noted(sentence=error.sentence)]
    return names, []


def _check_folder(config: FamilyConfig, folder: Path) -> None:
    """Refuse a folder of other work, or of a family with other settings; more members are welcome."""
    if is_family(folder):
        _check_starts(folder)
        before, now = values_of(read_family(folder)), values_of(config)
        shares = [
            values["minutes"] / (len(values["members"].split(",")) * values["trainings"])
            for values in (before, now)
        ]
        other = [
            name
            for name, value in now.items()
            if value != before[name] and name not in ("members", "minutes", "trainings")
        ]
        if abs(shares[0] - shares[1]) > 1e-9:
            other.append("minutes")
        if other:
            raise RunError(
                marked(
                    "engine",
                    "The family in {path} was started with other settings ({names}). Name a new "
                    "folder, or continue it unchanged: {command} resume {path}",
                ),
                path=folder,
                command=" ".join(command_words()),
                names=other,
            )
    elif folder.is_dir() and any(one.name != LOCK for one in folder.iterdir()):
        raise RunError(
            marked("engine", "The folder {path} is not empty. Name a new one for the family."), path=folder
        )


def _member(
    config: FamilyConfig, place: Path, vocab: Path, setup: PretrainSetup, text: Streams
) -> Generator[Event, None, float]:
    """Bring one member to its end, whatever was done of it; return the seconds that it learned."""
    number = training_number(place)
    again = marked("engine", "Training {member} again, from another seed: training {number}")
    template = marked("engine", "Training {member}") if number == 1 else again
    values = {"member": ABOUT[config.family.members].said, "number": number}
    note = Noted(sentence=Sentence(template, values), level="fine")
    begin = partial(_begun, config, place, vocab, setup, text)
    return (yield from finished_run(place, begin, note, go_on=lambda _: begin()))


def _begun(
    config: FamilyConfig, place: Path, vocab: Path, setup: PretrainSetup, text: Streams
) -> Iterator[Event]:
    name, is_begun = config.family.members, (place / CONFIG).is_file()
    training: neural.MemberTraining | neural.BertTraining
    if name == "bert":
        settings = as_pretraining(config, vocab)
        training = neural.BertTraining(settings, streams=text, starts=config.family.starts)
    elif name in NEURAL:
        training = neural.MemberTraining(config, setup)
    else:
        return rounds.learn(config, place, setup, text)
    if is_begun:
        return lifecycle.resume(training, place)
    return lifecycle.begin(training, place, open_device(config.device), setup)


def reporting(
    config: FamilyConfig, folder: Path, names: Sequence[str], text: Streams
) -> Steps[dict[str, Any]]:
    """Return what family.json holds: what each member is, and what it reaches on the held-out text."""
    trainings = Trainings.open(folder, names)
    family = trainings.first
    found = yield from scores(trainings, text.held_out, text.counts)
    blanks = draw_blanks(text.held_out)
    claims = [*both_sides(trainings, blanks), *two_in_a_row(trainings, blanks)]
    report = {
        "schema_version": 1,
        "text": [Path(place).name for place in config.text.text.split("\n")],
        "minutes": config.budget.minutes / (len(members_of(config)) * config.family.trainings),
        "words_each": config.budget.tokens,
        "steps_each": config.budget.steps,
        "machine": open_device(config.device).describe(),
        "starts": config.family.starts,
        "trainings": len(trainings.families),
        "members": list(family.members),
        "reached": {
            name: {"weights": member.num_weights, **_learned(folder / name)}
            for name, member in family.members.items()
        },
        "scores": document_of(found),
        "at_start": list(found.at_start),
        "chance": dict(found.chance),
        "curves": {name: [asdict(point) for point in curve(folder / name)] for name in family.members},
        "claims": [asdict(one) for one in claims],
    }
    judge(report)
    return report


def judge(report: dict[str, Any]) -> None:
    """Write into a report what all its figures together say to its claims."""
    report["claims"] = claims_document(judged_of(report))


def _learned(place: Path) -> dict[str, Any]:
    """Return how much text a member read, and in how many seconds."""
    if place.name == "bert":
        stages = chain_of(str(place / MODEL))
        found = {"words_read": stages[-1]["tokens"], "seconds": stages[-1]["seconds"]} if stages else {}
    else:
        found = read_json_object(place / MODEL / "config.json", kind=RunError)
    return {name: found.get(name, 0) for name in ("words_read", "seconds")}
