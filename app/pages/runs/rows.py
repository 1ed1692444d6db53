"""What each line of the table of runs says: filtered, grouped and ordered; no Qt but its translations."""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from app import words
from app.look.labels import PART
from app.pages.run.earlier_runs import state_words
from app.pages.run.facts import value_words
from app.pages.runs.state import RunsState
from app.pages.tasks.known import VIEWS, views_of
from app.words import translate
from app.work.titles import model_title
from engine.remote.contact import Contact
from engine.runs.facts import CROSS_VALIDATION, RunFacts
from engine.runs.groups import GroupScore, ListedRun, ScoreColumn, commonest, reached, score_of, varied

TOLD_SAME = ("batch_size", "max_length", "num_epochs", "learning_rate")  # where they are the same in all
_STAMP = re.compile(r"^\d{8}-\d{6}-(?=.)")  # with which the names of run folders begin


@dataclass(frozen=True, slots=True)
class RunRow:
    """A line: a run, or runs of the same settings. odd: the columns in which it is unlike most.

    heard: of one that trains on another computer, how it stands.
    """

    key: str
    name: str
    runs: tuple[RunFacts, ...]
    reached: GroupScore | None
    seeds: str = ""
    odd: frozenset[str] = frozenset()
    is_group: bool = False
    is_open: bool = False
    is_seed: bool = False  # one of a group that is unfolded
    heard: Contact | None = None

    @property
    def facts(self) -> RunFacts:
        """The run, or the first of the group."""
        return self.runs[0]


@dataclass(frozen=True, slots=True)
class RunRows:
    """The table. settings: the columns of settings. same: what all runs have alike, in words. metrics: by
    which they were measured, the commonest first.
    """

    rows: tuple[RunRow, ...] = ()
    settings: tuple[str, ...] = ()
    same: str = ""
    num_runs: int = 0
    metrics: tuple[str, ...] = ()

    @property
    def has_hosts(self) -> bool:
        """Whether a run was trained on another computer."""
        return any(facts.host for row in self.rows for facts in row.runs)

    @property
    def has_ended_early(self) -> bool:
        """Whether a line with a score has no whole training behind it."""
        return any(row.reached is not None and row.facts.state != "finished" for row in self.rows)


def shown(runs: Sequence[ListedRun], state: RunsState, heard: Mapping[str, Contact] | None = None) -> RunRows:
    """Return the table of those runs that a person looks at.

    Args: heard: how those stand that train on other computers, by their paths.
    """
    found = [run for run in runs if is_wanted(run.facts, state)]
    all_facts = [run.facts for run in found]
    columns = tuple(varied(all_facts))
    usual = commonest(all_facts, columns)
    lines = (
        _grouped(found, state.measure)
        if state.is_grouped
        else [(run.facts.folder, [run.facts]) for run in found]
    )
    rows = [_row(key, members, columns, usual, state) for key, members in lines]
    rows = [replace(row, heard=(heard or {}).get(row.facts.path)) for row in rows]
    rows.sort(key=lambda row: row.name.casefold())
    rows.sort(key=lambda row: _order(row, state), reverse=state.is_descending)
    times = Counter(row.reached.metric for row in rows if row.reached is not None)
    metrics = sorted(times, key=lambda metric: (-times[metric], metric))
    if state.sort == "score":  # scores by different metrics are not above or below one another
        rows.sort(key=lambda row: metrics.index(row.reached.metric) if row.reached is not None else 0)
    rows.sort(key=lambda row: _order(row, state)[0] == 0)
    every: list[RunRow] = []
    for row in rows:
        every.append(row)
        if row.is_open:
            seeds = (_seed_row(facts, state) for facts in row.runs)
            every += sorted(seeds, key=lambda one: _order(one, state), reverse=state.is_descending)
    return RunRows(tuple(every), columns, _same_words(all_facts, columns), len(found), tuple(metrics))


def is_wanted(facts: RunFacts, state: RunsState) -> bool:
    """Whether a run has the data and all the words that are looked for."""
    if state.data and facts.data != state.data:
        return False
    sought = state.search.casefold().split()
    if not sought:
        return True
    own = (facts.name, facts.note, *facts.tags, facts.folder, facts.host)
    places = (*own, data_name(facts), model_name(facts.model))
    text = "\n".join((*places, facts.task, facts.state, facts.why)).casefold()
    return all(word in text for word in sought)


def _grouped(found: Iterable[ListedRun], measure: ScoreColumn) -> list[tuple[str, list[RunFacts]]]:
    """Return (key, runs); a run without a score, or not trained to its end, stands alone and says why."""
    groups: dict[str, list[RunFacts]] = {}
    for run in found:
        is_whole = run.facts.state == "finished" and score_of(run.facts, measure) is not None
        groups.setdefault(run.key if is_whole else run.facts.folder, []).append(run.facts)
    return [(key, sorted(members, key=lambda one: (one.seed, one.began))) for key, members in groups.items()]


def _row(
    key: str, members: list[RunFacts], columns: tuple[str, ...], usual: dict[str, Any], state: RunsState
) -> RunRow:
    first, is_group = members[0], len(members) > 1
    odd = frozenset(name for name in columns if first.settings.get(name) != usual.get(name))
    seeds = words.number(len(members)) if state.is_grouped else str(first.seed)
    found = reached(members, state.measure)
    is_open = is_group and key in state.unfolded
    return RunRow(key, name_of(members), tuple(members), found, seeds, odd, is_group, is_open)


def _seed_row(facts: RunFacts, state: RunsState) -> RunRow:
    name = translate("runs", "seed {seed}").format(seed=facts.seed)
    return RunRow(facts.folder, name, (facts,), reached([facts], state.measure), is_seed=True)


def cell_words(row: RunRow, column: str) -> str:
    """Return what stands in a cell; asked for when it is seen."""
    found = row.reached
    if column == "name":
        return row.name
    if column == "seeds":
        return row.seeds
    if column == "where":
        named = dict.fromkeys(facts.host or translate("runs", "here") for facts in row.runs)
        return words.listed(named)
    if column == "time":
        seconds = [facts.seconds for facts in row.runs if facts.seconds is not None]
        return clock(sum(seconds) / len(seconds)) if seconds else ""
    if column == "size":
        return words.file_size(sum(facts.size for facts in row.runs))
    if column == "when":
        return words.day(max(facts.began for facts in row.runs))
    if column == "score":
        return "" if found is None else score_words(found.metric, found.mean)
    if column == "metric":
        return "" if found is None else metric_words(found.metric)
    if column == "state":
        return "" if found is None else ended_words(row.facts, row.heard)
    if column == "spread":
        return "" if found is None or found.spread is None else f"± {score_words(found.metric, found.spread)}"
    return "" if row.is_seed else setting_words(column, row.facts.settings.get(column))


def _order(row: RunRow, state: RunsState) -> tuple[int, Any]:
    """Return what a line is ordered by; lines without it have 0 before it, and stand last."""
    column = state.sort
    if column == "score":
        return (0, 0.0) if row.reached is None else (1, row.reached.mean)
    if column in ("name", "metric", "state", "where"):
        return 1, cell_words(row, column).casefold()
    if column == "seeds":
        return 1, len(row.runs) if state.is_grouped else row.facts.seed
    if column == "time":
        seconds = [facts.seconds for facts in row.runs if facts.seconds is not None]
        return (1, sum(seconds) / len(seconds)) if seconds else (0, 0.0)
    if column == "size":
        return 1, sum(facts.size for facts in row.runs)
    if column == "when":
        return 1, max(facts.began for facts in row.runs)
    value = row.facts.settings.get(column)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return (1, value) if is_number else (2, str(value or ""))


def name_of(members: Sequence[RunFacts]) -> str:
    """Return what a run is called, or runs of the same settings: as a person named one of them."""
    given = next((facts.name for facts in members if facts.name), "")
    if given:
        return given
    folder = members[0].folder
    outer, _, inner = folder.rpartition("/")
    name = _STAMP.sub("", inner)
    return f"{_STAMP.sub('', outer)}/{name}" if outer else name


def ended_words(facts: RunFacts, heard: Contact | None = None) -> str:
    """Return where a run with a score is, or where it ended; "" of one that was trained to its end."""
    if facts.state == "finished":
        return ""
    state = facts.state if heard is None else heard.state
    values = {"state": state_words(state), "step": words.number(facts.step)}
    text = translate("runs", "{state} at step {step} of {total}")
    if not facts.num_steps:
        text = translate("runs", "{state} at step {step}")
    said = text.format(**values, total=words.number(facts.num_steps))
    return PART.join(filter(None, [said, heard_words(heard)]))


def heard_words(heard: Contact | None) -> str:
    """Return since when a run of another computer is not heard; "" of one that is, and of one of this one."""
    if heard is None or heard.is_connected:
        return ""
    moment = words.day(heard.since)
    clock_time = time.strftime("%H:%M", time.localtime(heard.since))
    text = translate("runs", "not connected since {time}")
    if words.day(time.time()) != moment:
        text = translate("runs", "not connected since {day}, {time}")
    return text.format(time=clock_time, day=moment)


def untested_words(facts: RunFacts) -> str:
    """Return that a run's test part was kept apart and never scored; "" of others."""
    if facts.rows.get("test", 0) and facts.score("test") is None and facts.state != "running":
        return translate("runs", "the test part was never scored")
    return ""


def state_line(facts: RunFacts, split: str = "validation", heard: Contact | None = None) -> tuple[str, str]:
    """Return (level, words) of a run that has no score: where it is, or where it ended and why.

    Args: split: the part of the data whose score is looked for. heard: of a run of another computer.
    """
    state = facts.state if heard is None else heard.state
    values = {"state": state_words(state), "step": words.number(facts.step)}
    if facts.state == "running":
        text = translate("runs", "{state}: step {step}")
        if facts.num_steps:
            text = translate("runs", "{state}: step {step} of {total}")
        said = text.format(**values, total=words.number(facts.num_steps))
        return "note", PART.join(filter(None, [heard_words(heard), said]))
    why = why_words(facts)
    if split == "test" and facts.score() is not None:
        if not untested_words(facts):
            return "note", translate("runs", "no test rows were held out")
        ended = ended_words(facts)
        return "look", PART.join([*([ended] if ended else []), untested_words(facts)])
    judged = facts.score(CROSS_VALIDATION)
    if judged is not None and judged.interval is not None and split == "validation":
        text = translate("runs", "cross-validated: {score} ({low} to {high})")
        score, low, high = (words.score(value) for value in (judged.value, *judged.interval))
        return "note", text.format(score=score, low=low, high=high)
    if facts.state == "finished":
        return ("look", why) if why else ("note", translate("runs", "not measured: no rows were held out"))
    said = translate("runs", "{state} at step {step}").format(**values)
    level = "wrong" if facts.state == "failed" else "look"
    return level, words.captioned(said, why) if why else said


def why_words(facts: RunFacts) -> str:
    """Return why a run ended, as far as it is known: its own words, else the worst it was told."""
    if facts.why:
        return words.shorten(facts.why, 300)
    worst = [one for one in facts.remarks if one.get("level") == "wrong"]
    return words.shorten(str(worst[-1].get("text", "")), 300) if worst else ""


def setting_words(name: str, value: Any) -> str:
    """Return the value of a setting as it stands in the table."""
    about = words.settings().get(name)
    if name == "model":
        return model_name(str(value or ""))
    if about is not None and about.kind == "path":
        return Path(str(value or "").splitlines()[0]).name if value else "–"
    return words.shorten(value_words(name, about, value) if about is not None else str(value), 60)


def column_words(name: str) -> str:
    """Return what stands over a column."""
    known = {
        "name": translate("runs", "name"),
        "seeds": translate("runs", "seeds"),
        "seed": translate("runs", "seed"),
        "time": translate("runs", "time"),
        "size": translate("runs", "size"),
        "when": translate("runs", "when"),
        "metric": translate("runs", "measured by"),
        "state": translate("runs", "state"),
        "where": translate("runs", "where"),
    }
    if name in known:
        return known[name]
    return words.within(words.label_of(name))


def metric_words(metric: str) -> str:
    """Return what a metric is called within a sentence, whatever the task."""
    said = (views.metric(metric) for views in VIEWS.values())
    return next((one for one in said if one != metric), words.metric_words(metric))


def measure_words(measure: ScoreColumn) -> str:
    """Return what a measure is called where it is chosen."""
    parts = {
        "validation": (translate("runs", "Validation score"), translate("runs", "Validation {metric}")),
        "test": (translate("runs", "Test score"), translate("runs", "Test {metric}")),
        CROSS_VALIDATION: (translate("runs", "Cross-validated score"), ""),
    }
    own, named = parts.get(measure.split, (measure.split, f"{measure.split} {{metric}}"))
    return named.format(metric=metric_words(measure.metric)) if measure.metric else own


def score_words(metric: str, value: float, digits: int = 1) -> str:
    """Return a score without its unit: 76.2 of an accuracy of 0.762, 0.812 of a correlation."""
    return words.decimal(100 * value, digits) if words.is_share(metric) else words.decimal(value, digits + 2)


def scale_words(metric: str, ticks: Sequence[float]) -> list[str]:
    """Return the values of a scale, each with as many digits as they need; the last with its unit."""
    factor = 100 if words.is_share(metric) else 1
    values = [factor * tick for tick in ticks]
    digits = next((n for n in range(4) if all(abs(v - round(v, n)) < 1e-9 for v in values)), 4)
    said = [words.decimal(value, digits) for value in values]
    return [*said[:-1], words.per_cent(said[-1])] if said and factor == 100 else said


def data_name(facts: RunFacts) -> str:
    """Return what a run's data are called: their file's name, of several the first and how many more."""
    places = [line for line in facts.data.splitlines() if line.strip()]
    if not places:
        return "–"
    name = Path(places[0]).name or places[0]
    return f"{name} +{len(places) - 1}" if len(places) > 1 else name


@cache
def model_name(model: str) -> str:
    """Return what a run began with is called."""
    if not model or model.startswith("new:"):
        return model.removeprefix("new:") or "–"
    return model_title(model)


def clock(seconds: float) -> str:
    """Return how long a run took, to the second: 4:02, 1:07:33."""
    if not math.isfinite(seconds):
        return "–"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def moment_words(moment: float) -> str:
    """Return a moment in full, for a tooltip."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def task_words(facts: RunFacts) -> str:
    """Return what a run learned to do."""
    if facts.kind == "family":
        return translate("runs", "Family: {member}").format(member=facts.model)
    return translate("runs", "Pretraining") if facts.kind == "pretrain" else views_of(facts.task).title()


def _same_words(runs: Sequence[RunFacts], columns: Sequence[str]) -> str:
    """Return what all runs have alike and is worth saying, in one line."""
    if len(runs) < 2:
        return ""
    first, parts = runs[0], list[str]()
    if len({facts.data for facts in runs}) == 1:
        parts.append(data_name(first))
    if "model" not in columns:
        parts.append(model_name(first.model))
    for name in TOLD_SAME:
        if name not in columns and first.settings.get(name):
            parts.append(f"{column_words(name)} {setting_words(name, first.settings[name])}")
    rows = {facts.rows.get("validation", 0) for facts in runs if facts.rows}
    if len(rows) == 1 and (count := rows.pop()):
        parts.append(words.counted(count, translate("runs", "1 text"), translate("runs", "{count} texts")))
    return translate("runs", "the same in all: {parts}").format(parts=PART.join(parts)) if parts else ""
