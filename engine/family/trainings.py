"""A family that was trained several times, each time from another seed: its members, training by training.

The first training is the family that is asked; the others lie beside it, each a folder of the same layout.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from engine.family.ask import Family
from engine.family.layout import is_family
from engine.settings.family import MEMBERS, FamilyConfig

AGAIN = "training-{number}"  # the folder of the second training, and of those after it


def training_config(config: FamilyConfig, number: int) -> FamilyConfig:
    """Return the settings of one training of all members. Args: number: 0 for the first; each has a seed."""
    return replace(
        config,
        family=replace(config.family, trainings=1),
        budget=replace(
            config.budget,
            seed=config.budget.seed + number,
            minutes=config.budget.minutes / config.family.trainings,
        ),
    )


def training_folder(folder: Path, number: int) -> Path:
    """Return where a training of all members is. Args: number: 0 for the first."""
    return folder / AGAIN.format(number=number + 1) if number else folder


def training_number(folder: Path) -> int:
    """Return which training of all members a member's run in a folder is of, 1 for the first."""
    number = folder.parent.name.removeprefix(AGAIN.format(number=""))
    return int(number) if number.isdigit() and is_family(folder.parent) else 1


@dataclass(frozen=True)
class Trainings:
    """All trainings of a family, the first first; at least one."""

    families: tuple[Family, ...]

    @classmethod
    def open(cls, folder: Path, names: Sequence[str] = MEMBERS) -> Trainings:
        """Load the members of a family's folder, as often as they were trained. Raises: as `Family.open`."""
        return cls.beside(Family.open(folder, names))

    @classmethod
    def beside(cls, family: Family) -> Trainings:
        """Load the other trainings of a family that is open. Raises: as `Family.open`."""
        found, names = [family], tuple(family.members)
        while is_family(place := training_folder(family.folder, len(found))):
            found.append(Family.open(place, names))
        return cls(tuple(found))

    @property
    def first(self) -> Family:
        """The training that is asked where one is enough."""
        return self.families[0]
