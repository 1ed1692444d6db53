"""What a model's answers cost on this computer, and how far they agree with a person's labels: what there is
to say to who asks why not a large language model.

Everything is measured here, but the watts of a core where no meter can be read, and the reports of others,
which are cited.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.errors import Sentence, UserError, VerbatimText, marked
from engine.events import Steps, beats
from engine.labelling.agreement import Measure, measured
from engine.labelling.table_shares import HeldOut, examples_of, held_out_rows
from engine.text.examples import LabelSettings
from engine.text.roles import Roles
from engine.text.table import Table
from engine.train.evaluate import answers_of
from engine.train.learned import AT_ONCE, hashes_of
from engine.train.tasks.rows.predict import RowModel

Meters = Mapping[str, tuple[int, int]]  # by name: microjoules, and where they begin again
METERS = Path("/sys/class/powercap")
MEASURED_S, FIRST_ROWS, MOST_ROWS = 4.0, 64, 2000  # how long is measured, after some rows that say how fast
LEAST_KNOWN = 0.5  # share of a column's cells that are labels of the model
LEAST_COMPARED = 10  # rows
CITED = (
    marked(
        "engine",
        "Reported elsewhere: Gemma-2 9B, by Ollama on a MacBook Pro, labelled 7,000 rows in 45 minutes, 2.6 "
        "rows per second (Towards Data Science, 2026).",
    ),
    marked(
        "engine",
        "Energy for such answers: from under 1 mWh to over 1 kWh, and run time predicts it well (Zschache "
        "and Hartwig, Scientific Reports, 2026).",
    ),
)
_SPEED = marked(
    "engine", "This computer answered {rows:,} texts in {seconds} s, {rate} a second, and sent none away."
)
_METERED = marked(
    "engine",
    "1,000 texts take {energy} by the processor’s own meter, which counts all programs.",
)
_ASSUMED = marked(
    "engine",
    "1,000 texts take about {energy}: {processor} s of processor time were measured, and {watts} W for a "
    "core are assumed.",
)
_AGREES = marked(
    "engine",
    "On {held:,} {part} texts that it did not learn from, the model agrees with {share} % of your labels "
    "(95 % interval {low} to {high} %).",
)
_COLUMN = marked(
    "engine",
    "On {held:,} of the same texts, column {column} agrees with {share} % of your labels (95 % interval "
    "{low} to {high} %).",
)
_KAPPA = marked("engine", "Cohen’s kappa is {kappa}.")
_KAPPA_BETWEEN = marked("engine", "Cohen’s kappa is {kappa} ({low} to {high}).")


@dataclass(frozen=True, slots=True)
class AnsweringCost:
    """What some rows took. processor_s: of all cores together. joules: by the meter, None where there is
    none. watts: of a core, assumed without one.
    """

    rows: int
    seconds: float
    processor_s: float
    joules: float | None
    watts: float

    @property
    def rows_per_s(self) -> float:
        return self.rows / self.seconds

    @property
    def watt_hours(self) -> float:
        """For 1,000 rows."""
        joules = self.processor_s * self.watts if self.joules is None else self.joules
        return 1000 * joules / self.rows / 3600

    def sentences(self) -> Iterator[Sentence]:
        """Say it."""
        about = {"seconds": f"{self.seconds:.1f}", "rate": f"{self.rows_per_s:,.0f}"}
        if self.rows_per_s < 10:
            about["rate"] = f"{self.rows_per_s:.1f}"
        about |= {"energy": energy_words(self.watt_hours), "processor": f"{self.processor_s:.1f}"}
        about |= {"watts": f"{self.watts:g}"}
        values = {name: VerbatimText(value) for name, value in about.items()}
        yield Sentence(_SPEED, {**values, "rows": self.rows})
        yield Sentence(_ASSUMED if self.joules is None else _METERED, values)


@dataclass(frozen=True, slots=True)
class HandAgreement:
    """How far some answers agree with a person's labels. column: whose answers, "": the model's."""

    column: str
    part: str
    rows: int
    raw: Measure
    kappa: Measure

    def sentences(self) -> Iterator[Sentence]:
        """Say it."""
        low, high = self.raw.interval or (0.0, 1.0)
        ends = {"share": self.raw.value or 0.0, "low": low, "high": high}
        about = {name: VerbatimText(f"{100 * one:.0f}") for name, one in ends.items()}
        template = _COLUMN if self.column else _AGREES
        yield Sentence(template, {**about, "held": self.rows, "part": self.part, "column": self.column})
        if self.kappa.value is not None:
            ends = dict(zip(("low", "high"), self.kappa.interval or (), strict=False))
            said = {name: VerbatimText(f"{one:.2f}".replace("-", "−")) for name, one in ends.items()}
            kappa = VerbatimText(f"{self.kappa.value:.2f}".replace("-", "−"))
            yield Sentence(_KAPPA_BETWEEN if said else _KAPPA, {"kappa": kappa, **said})


@dataclass(frozen=True, slots=True)
class WhyNot:
    """All that is said. no_agreement: why nothing is told of it."""

    cost: AnsweringCost
    agreements: tuple[HandAgreement, ...]
    no_agreement: Sentence | None = None

    def sentences(self) -> Iterator[Sentence]:
        """Say it, what others report at the end."""
        yield from self.cost.sentences()
        for one in self.agreements:
            yield from one.sentences()
        if self.no_agreement is not None:
            yield self.no_agreement
        yield from map(Sentence, CITED)


def energy_words(watt_hours: float) -> str:
    """Return energy with two digits that count: "0.035 Wh", "12 Wh"."""
    if watt_hours >= 10:
        return f"{watt_hours:,.0f} Wh"
    return f"{float(f'{watt_hours:.2g}'):g} Wh" if watt_hours >= 0.001 else f"{1000 * watt_hours:.2g} mWh"


def metered(meters: Path = METERS) -> Meters:
    """Return the meter of each processor; {} where one cannot be read."""
    found = {}
    for folder in sorted(meters.glob("intel-rapl:*")):  # AMD's are called so, too
        if folder.name.count(":") != 1:
            continue  # a part of a processor
        try:
            now, most = (int((folder / name).read_text()) for name in ("energy_uj", "max_energy_range_uj"))
        except (OSError, ValueError):
            return {}
        found[folder.name] = (now, most)
    return found


def joules_between(before: Meters, after: Meters) -> float | None:
    """Return what meters have counted; None where there are none, or others."""
    if not before or before.keys() != after.keys():
        return None
    return sum((after[name][0] - now) % (most + 1) for name, (now, most) in before.items()) / 1e6


def costing(
    predictor: RowModel, table: Table, roles: Roles, watts: float, meters: Path = METERS
) -> Steps[AnsweringCost]:
    """Return what it costs to read and answer rows of a table, those measured spread over it.

    Raises: UserError: no row can be answered.
    """
    model = predictor.over_columns(roles)
    rules = LabelSettings(model.labels)
    found = yield from beats(model.reading.finding(table, roles.with_columns(label=""), rules))
    if not len(found.examples):
        raise UserError(marked("engine", "{path} holds no text that can be read."), path=table.path)

    def answering(limit: int) -> Steps[AnsweringCost]:
        some = found.examples.spread_out(limit)
        before, start, busy = metered(meters), time.perf_counter(), time.process_time()
        encoded, _ = yield from beats(
            model.reading.encode(found, some, model.wordpiece, model.max_length, model.truncation)
        )
        yield from answers_of(
            model.model, model.task, encoded, model.device, marked("engine", "Measuring the speed")
        )
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
        return AnsweringCost(len(some), seconds, busy, joules_between(before, metered(meters)), watts)

    first = yield from answering(min(FIRST_ROWS, len(found.examples)))
    wanted = int(np.clip(MEASURED_S * first.rows_per_s, FIRST_ROWS, MOST_ROWS))
    return (yield from answering(min(wanted, len(found.examples))))


def agreeing(
    run: Path, labels: tuple[str, ...], table: Table, roles: Roles, column: str = "", device: str = "auto"
) -> Steps[tuple[HandAgreement, ...]]:
    """Return how far the model, and a column of the table, agree with the labels of the rows held out.

    Args: labels: of the model. roles: the columns that it reads, and that of the labels. column: of another's
    answers; "": one that looks so, if there is any.
    Raises: UserError: no rows were held out.
    """
    held = yield from held_out_rows(run, labels, device)
    name = "random" if held.is_sample else held.part
    found = [_agreement("", name, held.true, held.predicted, len(labels))]
    column = table.column(column) if column else likely_column(table, labels, roles)
    if column:
        true, other = yield from _by_column(held, labels, table, roles, column)
        if len(true) >= LEAST_COMPARED:
            found.append(_agreement(column, name, true, other, len(labels)))
    return tuple(found)


def likely_column(table: Table, labels: Sequence[str], roles: Roles) -> str:
    """Return the column without a role most of whose cells are labels; "" for none."""
    known = {label.casefold() for label in labels}
    for name in table.columns:
        cells = [cell for cell in map(str.strip, table.frame[name].tolist()) if cell]
        alike = sum(cell.casefold() in known for cell in cells)
        if name not in roles.columns and cells and alike / len(cells) > LEAST_KNOWN:
            return name
    return ""


def _by_column(
    held: HeldOut, labels: Sequence[str], table: Table, roles: Roles, column: str
) -> Steps[tuple[np.ndarray, np.ndarray]]:
    """Return (K,) labels, and what a column says, of the rows held out that stand in the table."""
    place_of = {label.casefold(): place for place, label in enumerate(labels)}
    examples = examples_of(table, roles, np.arange(table.num_rows))
    hashes = yield from hashes_of((one.texts(), one.pairs()) for one in examples.blocks(AT_ONCE))
    said = [place_of.get(cell.strip().casefold(), -1) for cell in table.frame[column].tolist()]
    keys, firsts = np.unique(hashes, return_index=True)
    at = np.minimum(np.searchsorted(keys, held.hashes), len(keys) - 1)
    rows = np.where(keys[at] == held.hashes, firsts[at], -1)
    other = np.where(rows >= 0, np.array(said, np.int64)[rows], -1)
    return held.true[other >= 0], other[other >= 0]


def _agreement(column: str, part: str, true: np.ndarray, other: np.ndarray, count: int) -> HandAgreement:
    raw, kappa, _alpha = measured(true, other, count)
    return HandAgreement(column, part, len(true), raw, kappa)
