"""What all entries of a journal together come to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from engine.labelling.entry import COLUMN, GIVE, OPEN, JournalEntry
from engine.labelling.kinds import KINDS, ONE_LABEL, LabelKind

RANDOM_SHARE = 0.25  # of the texts that come next, where nobody has chosen another


@dataclass(frozen=True, slots=True)
class AskedAgain:
    """A row whose label was split. before: what was given, without that label. among: what it became."""

    before: JournalEntry
    among: tuple[int, ...]


@dataclass(slots=True)
class Labelled:
    """What all entries together come to.

    kind: of what is given. names, rules: of labels by their numbers, in the order in which they were made.
    given: row -> the entry that gave its label, in that order; its labels are among `names`. Rows that were
    taken over share one that names no row. asked: rows that are to be asked again, the first first. skipped:
    rows. notes: by row. columns: that were taken over; taken_over: rows whose label such a column has, also
    where somebody gave them another one since: those that look wrong are no sample of anything. random_share:
    of the texts that come next, how many are drawn at random.
    """

    kind: LabelKind = ONE_LABEL
    names: dict[int, str] = field(default_factory=dict)
    rules: dict[int, str] = field(default_factory=dict)
    given: dict[int, JournalEntry] = field(default_factory=dict)
    asked: dict[int, AskedAgain] = field(default_factory=dict)
    skipped: dict[int, None] = field(default_factory=dict)
    notes: dict[int, str] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    taken_over: dict[int, None] = field(default_factory=dict)
    random_share: float = RANDOM_SHARE
    num_made: int = 0  # labels, those that are no more, too

    def take(self, entry: JournalEntry) -> None:
        """Add an entry other than UNDO. Raises: ValueError, as `check`."""
        self.check(entry)
        match entry.do:
            case "kind":
                self.kind = KINDS[entry.text]
            case "define":
                self._define(entry.label, entry.text, entry.rule)
            case "merge":
                self._forget_label(entry.label)
                self._replace(entry.label, (entry.into,))
            case "split":
                self._forget_label(entry.label)
                self._replace(entry.label, tuple(map(self._named, entry.names)))
            case "share":
                self.random_share = float(entry.text)
            case "take over":
                self._take_over(entry)
            case "give":
                self._close(entry.row)
                self.given[entry.row] = entry
            case "skip":
                self._close(entry.row)
                self.skipped[entry.row] = None
            case "note" if entry.text:
                self.notes[entry.row] = entry.text
            case "note":
                self.notes.pop(entry.row, None)

    def count(self) -> dict[int, int]:
        """Return how often each label is given."""
        found = dict.fromkeys(self.names, 0)
        for entry in self.given.values():
            for label in self.kind.labels_in(entry):
                found[label] += 1
        return found

    @property
    def can_choose_kind(self) -> bool:
        """Whether nothing has been given yet, so that it can be of another kind."""
        return not self.given and not self.asked

    def number_of(self, name: str) -> int | None:
        """Return the number of the label of a name, in whatever case; None: there is none."""
        return next((one for one, own in self.names.items() if own.casefold() == name.casefold()), None)

    def copy(self) -> Labelled:
        """Return one that can be changed without this one."""
        return replace(
            self,
            names={**self.names},
            rules={**self.rules},
            given={**self.given},
            asked={**self.asked},
            skipped={**self.skipped},
            notes={**self.notes},
            taken_over={**self.taken_over},
        )

    def check(self, entry: JournalEntry) -> None:
        """Refuse an entry that does not go with the others. Raises: ValueError."""
        match entry.do:
            case "kind":
                fits = entry.text in KINDS and self.can_choose_kind
            case "define":
                fits = entry.label == self.num_made or entry.label in self.names
            case "merge":
                fits = entry.label in self.names and entry.into in self.names and entry.label != entry.into
            case "split":
                names = {name.casefold() for name in entry.names if name}
                fits = entry.label in self.names and len(names) == len(entry.names) > 1
            case "share":
                fits = 0 < float(entry.text) <= 1
            case "take over":
                fits = len(entry.rows) == len(entry.sets) == len({*entry.rows}) and all(
                    map(self.kind.fits, self._cells(entry, [*range(len(entry.names))]).values())
                )
            case "give":
                labels = self.kind.labels_in(entry)
                fits = self.kind.fits(entry) and all(one in self.names for one in labels)
            case _:
                fits = True
        if not fits:
            raise ValueError(entry)

    # ---- labels

    def _define(self, label: int, name: str, rule: str = "") -> None:
        self.num_made = max(self.num_made, label + 1)
        self.names[label], self.rules[label] = name, rule

    def _named(self, name: str) -> int:
        """Return the number of the label of a name, made where there is none."""
        number = self.number_of(name)
        if number is None:
            number = self.num_made
            self._define(number, name)
        return number

    def _forget_label(self, label: int) -> None:
        del self.names[label], self.rules[label]

    def _replace(self, label: int, labels: tuple[int, ...]) -> None:
        """Give what had a label another one; where there are several, it is asked again which."""
        into = labels[0] if len(labels) == 1 else OPEN
        for row, one in [*self.asked.items()]:
            among = tuple(other for each in one.among for other in (labels if each == label else (each,)))
            before = self.kind.with_label(one.before, label, into)
            self.asked[row] = AskedAgain(before, tuple(dict.fromkeys(among)))
        for row, entry in [*self.given.items()]:
            if label in self.kind.labels_in(entry):
                moved = self.kind.with_label(entry, label, into)
                if into == OPEN:
                    del self.given[row]
                    self.asked[row] = AskedAgain(moved, labels)
                else:
                    self.given[row] = moved

    # ---- rows

    def _close(self, row: int) -> None:
        for one in (self.given, self.asked, self.skipped):  # the newest is the last
            one.pop(row, None)  # type: ignore[attr-defined]

    def _take_over(self, entry: JournalEntry) -> None:
        """Give the rows that nobody has labelled or skipped what a column has."""
        numbers = [*map(self._named, entry.names)] if self.kind.has_codebook else [*range(len(entry.names))]
        cells = self._cells(entry, numbers)
        for row, places in zip(entry.rows, entry.sets, strict=True):
            if row not in self.given and row not in self.asked and row not in self.skipped:
                self.taken_over[row] = None
                self.given[row] = cells[places]  # the same of many rows: it may be a hundred thousand
        self.columns = (*self.columns, entry.text)

    def _cells(self, entry: JournalEntry, numbers: Sequence[int]) -> dict[tuple[int, ...], JournalEntry]:
        """Return what each of the different sets gives. Args: numbers: of the labels that `names` are.

        Raises: IndexError: a place is none in `names`.
        """
        made = JournalEntry(GIVE, why=COLUMN, who=entry.text, when=entry.when)
        return {
            places: self.kind.of_cell(
                made, tuple(numbers[one] for one in places), tuple(entry.names[one] for one in places)
            )
            for places in {*entry.sets}
        }


def folded(entries: Iterable[JournalEntry]) -> Labelled:
    """Return what entries come to, UNDO not among them. Raises: ValueError: they do not go together."""
    made = Labelled()
    for entry in entries:
        made.take(entry)
    return made
