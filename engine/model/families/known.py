"""All families that are opened. Not to be broken: each gives what its own code gives, to the last layer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.model.families.albert import Albert
from engine.model.families.bart import Bart
from engine.model.families.deberta import Deberta
from engine.model.families.distilbert import DistilBert
from engine.model.families.electra import Electra
from engine.model.families.ernie import Ernie
from engine.model.families.family import BERT, Family, class_of
from engine.model.families.gte import Gte
from engine.model.families.modernbert import ModernBert
from engine.model.families.mpnet import Mpnet
from engine.model.families.nomicbert import NomicBert
from engine.model.families.refused import REFUSED, refused
from engine.model.families.roberta import Camembert, Roberta, XlmRoberta

FAMILIES: dict[str, Family] = {
    family.model_type: family
    for family in (
        *(BERT, DistilBert(), Electra(), Ernie(), Albert(), Roberta(), XlmRoberta(), Camembert()),
        *(ModernBert(), NomicBert(), Deberta(), Bart(), Mpnet(), Gte()),
    )
}
_OLDER = {kind: family for family in FAMILIES.values() for kind in family.older}
MODEL_TYPES = frozenset((*FAMILIES, *_OLDER))  # as published config.json files and hubs name them


def family_of(document: Mapping[str, Any]) -> Family:
    """Return the family that a config.json's object is of. Raises: ModelError: one that is not read."""
    kind = _kind_of(document)
    family = FAMILIES.get(kind, _OLDER.get(kind)) if isinstance(kind, str) else None
    if family is None:
        raise refused(kind)
    return family


def family_of_tensors(names: Iterable[str], stated: Family) -> Family:
    """Return the family that wrote some weights, by their names; the stated one where they tell none."""
    stored = tuple(names)
    return next((family for family in FAMILIES.values() if family.has_written(stored)), stated)


def _kind_of(document: Mapping[str, Any]) -> Any:
    """Return the model_type; where there is none, as it follows from the class that is named."""
    if "model_type" in document:
        return document["model_type"]
    plain = class_of(document).lower()
    known = {kind.translate({45: None, 95: None}): kind for kind in (*FAMILIES, *REFUSED)}
    found = [start for start in known if plain.startswith(start)]
    return known[max(found, key=len)] if found else BERT.model_type
