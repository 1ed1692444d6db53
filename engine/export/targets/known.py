"""All targets, in the order in which `export --help` and the window tell of them."""

from __future__ import annotations

from engine.export.targets.graph import GraphFolder
from engine.export.targets.one_file import OneFile
from engine.export.targets.sentence_transformers import SentenceFolder
from engine.export.targets.target import ExportTarget
from engine.export.targets.transformers import TransformersFolder

TARGETS: tuple[type[ExportTarget], ...] = (TransformersFolder, SentenceFolder, GraphFolder, OneFile)
