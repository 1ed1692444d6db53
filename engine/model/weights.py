"""Model folders in and out, in the layout everybody uses, with a report in plain words.

Not to be broken: only a pooler or a classifier may start from random weights, and the report says so then.
All else that config.json asks for is loaded or refused, and shapes are compared before any memory is taken.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from engine.durable import replaced_folder
from engine.errors import ModelError, Sentence, marked
from engine.model import names
from engine.model.bert import Bert
from engine.model.config import BertConfig
from engine.model.folder import (
    StoredWeights,
    file_in,
    open_weights,
    read_json,
    refuse_other_files,
    write_json,
)
from engine.model.heads import SequenceClassifier
from engine.model.tensor_files import load_tensors, save_tensors, unreadable_type

__all__ = [
    "LoadReport",
    "check_weights",
    "load_classifier",
    "load_encoder",
    "load_tensors",
    "read_config",
    "save_model",
    "save_tensors",
]
_PARTS = ("pooler", "classifier")  # these may be missing
_FLOATS: dict[torch.dtype, str] = {
    getattr(torch, kind): kind for kind in ("float32", "float16", "bfloat16", "float64")
}
_HEADS = {
    part: names.published_names(f"{part}.weight") + names.published_names(f"{part}.bias") for part in _PARTS
}
_MOST_NAMES = 3  # listed in one sentence

Model = TypeVar("Model", bound=nn.Module)


class Tokenizer(Protocol):
    """What `save_model` needs of a tokenizer: `WordPiece` is one."""

    def save(self, folder: Path, *, model_max_length: int | None = None) -> None:
        """Write vocab.txt, tokenizer.json and tokenizer_config.json."""


@dataclass(frozen=True)
class LoadReport:
    """What became of each weight.

    loaded, unexpected: names as the files spell them. missing: published names of those started at random.
    refused: (name, the sentence that says why). notes: what else a person should know.
    """

    loaded: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    unexpected: tuple[str, ...] = ()
    refused: tuple[tuple[str, Sentence], ...] = ()
    notes: tuple[Sentence, ...] = ()

    def sentences(self) -> list[Sentence]:
        """Return the report for a person: what was loaded, what is new, what was left out and why."""
        encoder = sum(names.part_of(names.plain_name(name)) == "encoder" for name in self.loaded)
        said = [
            Sentence(marked("engine", "All {count} weights of the encoder were loaded."), {"count": encoder})
        ]
        said += {str(reason): reason for _, reason in self.refused}.values()  # each reason once
        said += self.notes
        heads: dict[str, int] = {}
        for name in self.unexpected:
            heads[names.head_sentence(name)] = heads.get(names.head_sentence(name), 0) + 1
        said += [Sentence(template, {"count": count}) for template, count in heads.items() if template]
        unknown = [name for name in self.unexpected if not names.head_sentence(name)]
        if unknown:
            template = marked(
                "engine", "Left out, for config.json does not ask for them: {names} ({count} weights)."
            )
            said.append(Sentence(template, {"names": _listed(unknown), "count": len(unknown)}))
        return said


def read_config(folder: Path) -> BertConfig:
    """Return a model folder's shape. Raises: ModelError: no folder, no config.json, or no possible BERT."""
    path = file_in(folder, "config.json")
    if path is None:
        template = marked(
            "engine", "{folder} holds no config.json, so it is no model. Choose the folder with it."
        )
        raise ModelError(template, folder=folder)
    return BertConfig.from_json(read_json(path))


def check_weights(folder: Path) -> None:
    """Refuse a folder whose encoder cannot be loaded; no weights are read. Raises: ModelError."""
    with open_weights(folder) as stored:
        _Source(stored).check(partial(Bert, with_pooler=False), read_config(folder))


def load_encoder(folder: Path, *, config: BertConfig | None = None) -> tuple[Bert, LoadReport]:
    """Return the encoder of a model folder, float32, in `eval` mode, and what became of each weight.

    Args:   config: read_config(folder) with other dropouts, say. Without a stored pooler, `pooler` is None.
    Raises: ModelError, before memory is taken: no weights, damaged, of other shapes, or some are missing.
    """
    config = config or read_config(folder)
    with open_weights(folder) as stored:
        source = _Source(stored)
        with_pooler = source.has("pooler")
        model = source.fill(partial(Bert, with_pooler=with_pooler), config)
        notes = () if with_pooler else (Sentence(marked("engine", "The model has no pooler.")),)
        return model, source.report(notes=notes)


def load_classifier(
    folder: Path, labels: Sequence[str] | None = None, *, config: BertConfig | None = None, seed: int = 0
) -> tuple[SequenceClassifier, LoadReport]:
    """Return a classifier, float32, in `eval` mode, and what became of each weight.

    Args:   labels: those of the data, in the order of their ids. The folder's own head is kept if it knows
            just these (its rows are put in that order), else a new one starts from `seed`. None: its own.
            config: read_config(folder) with other dropouts, say.
    Raises: ModelError as `load_encoder`; without `labels` also where no fitting head or pooler is.
    """
    config = config or read_config(folder)
    with open_weights(folder) as stored:
        source = _Source(stored)
        source.check(
            partial(Bert, with_pooler=False), config
        )  # a fault of the encoder is told before the head's
        own, objection = source.labels(config)
        if labels is None:
            _require_head(folder, source, own, objection)
        wanted = own if labels is None else tuple(labels)
        if own and sorted(own) != sorted(wanted):
            template = marked(
                "engine", "The model's own classifier was not used: it tells apart {own}, not {labels}."
            )
            objection = Sentence(template, {"own": _listed(own), "labels": _listed(wanted)})
        fresh = {part for part in _PARTS if not source.has(part)} | ({"classifier"} if objection else set())
        new = {
            "pooler": marked("engine", "The pooler is new: it starts from random weights."),
            "classifier": marked("engine", "The classifier is new: it starts from random weights."),
        }
        config = dataclasses.replace(config, id2label=wanted)
        model = source.fill(SequenceClassifier, config, fresh, seed)
        if "classifier" not in fresh and own != wanted:
            order = [own.index(label) for label in wanted]
            for parameter in model.classifier.parameters():
                parameter.data = parameter.data[order]
        notes = tuple(Sentence(new[part]) for part in _PARTS if part in fresh)
        return model, source.report(notes=notes, fresh=fresh, objection=objection)


def save_model(
    folder: Path, model: Bert | SequenceClassifier, wordpiece: Tokenizer, cloze: Mapping[str, Any]
) -> None:
    """Write a model folder that `transformers` opens too: beside, synced, then in the place of an older one.

    Args:   cloze: what cloze.json keeps beside config.json: task, roles, lengths and where it came from.
    Raises: ModelError if `folder` holds anything but a model; UserError if the disk is full or read-only.
    """
    folder = Path(os.path.realpath(folder))
    refuse_other_files(folder)
    with replaced_folder(folder) as beside:
        write_json(beside / "config.json", _config_document(model))
        save_tensors(beside / "model.safetensors", _published(model))
        wordpiece.save(beside, model_max_length=model.config.max_position_embeddings)
        write_json(beside / "cloze.json", cloze)


class _Source:
    """A model folder's weights by their plain names, and how they become a module of ours."""

    def __init__(self, stored: StoredWeights) -> None:
        self._stored = stored
        self._found: dict[str, str] = {}  # plain name -> name in the file
        self._loaded: set[str] = set()
        for name in stored.infos:
            if self._found.setdefault(names.plain_name(name), name) != name:
                raise ModelError(
                    marked("engine", "{path} holds two weights for one place: {first} and {second}."),
                    path=stored.path,
                    first=self._found[names.plain_name(name)],
                    second=name,
                )

    def has(self, part: str) -> bool:
        """Whether the pooler or classifier is there, whole."""
        return all(name in self._found for name in _HEADS[part])

    def labels(self, config: BertConfig) -> tuple[tuple[str, ...], Sentence | None]:
        """Return the labels of the stored classifier; or none and, if there is one, what is wrong with it."""
        if not self.has("classifier"):
            return (), None
        weight, bias = (self._stored.infos[self._found[name]].shape for name in _HEADS["classifier"])
        count = len(config.id2label) or (bias[0] if len(bias) == 1 else 0)
        if count and weight == (count, config.hidden_size) and bias == (count,):
            return config.id2label or tuple(f"LABEL_{number}" for number in range(count)), None
        template = marked(
            "engine",
            "The model's own classifier does not fit its config.json: classifier.weight has the shape "
            "{shape}, but {count} labels and a width of {width} are named there.",
        )
        return (), Sentence(template, {"shape": weight, "count": count, "width": config.hidden_size})

    def fill(
        self,
        make: Callable[[BertConfig], Model],
        config: BertConfig,
        fresh: Collection[str] = (),
        seed: int = 0,
    ) -> Model:
        """Return make(config) with the stored weights, allocated once; parts in `fresh` start from `seed`."""
        shapes = self.check(make, config, fresh)
        generator = torch.Generator().manual_seed(seed)  # its own, so that nobody else's numbers change
        weights: dict[str, Tensor] = {}
        for own, shape in shapes.items():
            weights[own] = torch.empty(shape)
            if names.part_of(own) not in fresh:
                self._read(own, weights[own])
            elif len(shape) == 1:
                weights[own].zero_()
            else:
                weights[own].normal_(0.0, config.initializer_range, generator=generator)
        model = _unfilled(make, config)
        model.load_state_dict(weights, assign=True)
        return model.eval()

    def report(
        self, notes: Sequence[Sentence] = (), fresh: Collection[str] = (), objection: Sentence | None = None
    ) -> LoadReport:
        """Return what became of each weight."""
        refused = [self._found[name] for name in _HEADS["classifier"]] if objection else []
        kinds = {_FLOATS[dtype] for n in self._loaded if (dtype := self._stored.infos[n].dtype) in _FLOATS}
        converted = ", ".join(sorted(kinds - {"float32"}))
        if converted:
            template = marked("engine", "The weights are stored as {kinds} and were converted to float32.")
            notes = [Sentence(template, {"kinds": converted}), *notes]
        left = [n for n in self._found.values() if n not in self._loaded and n not in refused]
        return LoadReport(
            loaded=tuple(name for name in self._found.values() if name in self._loaded),
            missing=tuple(name for part in _PARTS if part in fresh for name in _HEADS[part]),
            unexpected=tuple(name for name in left if not names.is_buffer(name)),
            refused=tuple((name, objection) for name in refused if objection),
            notes=tuple(notes),
        )

    def check(
        self, make: Callable[[BertConfig], nn.Module], config: BertConfig, fresh: Collection[str] = ()
    ) -> dict[str, tuple[int, ...]]:
        """Return our parameters' shapes, once names, shapes, types and sizes in the files are found to fit.

        Raises: ModelError: what is wrong with the weights of all parts but those in `fresh`.
        """
        shapes = _shapes(make, config)
        wanted: dict[str, tuple[int, ...]] = {}
        for own, shape in shapes.items():
            if names.part_of(own) not in fresh:
                pieces = _plain_names(own)
                wanted.update(dict.fromkeys(pieces, (shape[0] // len(pieces), *shape[1:])))
        missing = [name for name in wanted if name not in self._found]
        if missing:
            template = marked(
                "engine", "{path} lacks {count} of the {total} weights that config.json asks for ({names})."
            )
            raise ModelError(
                template,
                path=self._stored.path,
                count=len(missing),
                total=len(wanted),
                names=_listed(missing),
            )
        num_bytes = sum(self._check_one(self._found[name], shape) for name, shape in wanted.items())
        if num_bytes > self._stored.num_bytes:
            raise ModelError(
                marked("engine", "{path} claims {claimed} bytes of weights but is only {size} bytes long."),
                path=self._stored.path,
                claimed=num_bytes,
                size=self._stored.num_bytes,
            )
        return shapes

    def _check_one(self, name: str, expected: tuple[int, ...]) -> int:
        """Return the bytes that a stored weight must have. Raises: ModelError: another shape, no floats."""
        info = self._stored.infos[name]
        if info.shape != expected:
            raise ModelError(
                marked("engine", "{name} in {path} has the shape {shape}; config.json asks for {expected}."),
                name=name,
                path=self._stored.path,
                shape=info.shape,
                expected=expected,
            )
        if info.dtype not in _FLOATS:
            raise unreadable_type(self._stored.path, name)
        return math.prod(expected) * info.dtype.itemsize

    def _read(self, own: str, target: Tensor) -> None:
        pieces = _plain_names(own)
        for name, rows in zip(pieces, target.chunk(len(pieces)), strict=True):
            self._stored.read_into(self._found[name], rows)
            self._loaded.add(self._found[name])
            if not rows.sum().isfinite() and not rows.isfinite().all():
                template = marked(
                    "engine", "{name} in {path} holds values that are no numbers. Choose another model."
                )
                raise ModelError(template, name=self._found[name], path=self._stored.path)


class _NoFilling(TorchFunctionMode):
    """Skips `normal_`: to fill a tensor without memory, torch imports its compiler (2 s, 70 MB)."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (nn.init.normal_, Tensor.normal_):
            return None  # nobody looks at what they return
        return func(*args, **(kwargs or {}))


def _unfilled(make: Callable[[BertConfig], Model], config: BertConfig) -> Model:
    """Return make(config) without memory for its parameters, drawing no random numbers."""
    with torch.device("meta"), _NoFilling():
        return make(config)


def _plain_names(own: str) -> list[str]:
    return [names.plain_name(name) for name in names.published_names(own)]


def _shapes(make: Callable[[BertConfig], nn.Module], config: BertConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of each of our parameters. One layer is built, on no device; all are alike."""
    one = _unfilled(make, dataclasses.replace(config, num_hidden_layers=1))
    shapes: dict[str, tuple[int, ...]] = {}
    for name, value in one.state_dict().items():
        start, layer, end = name.partition("layers.0.")
        for number in range(config.num_hidden_layers if layer else 1):
            shapes[f"{start}layers.{number}.{end}" if layer else name] = tuple(value.shape)
    return shapes


def _require_head(folder: Path, source: _Source, own: tuple[str, ...], objection: Sentence | None) -> None:
    if objection:
        raise ModelError(objection.template, **objection.values)
    if not own:
        template = marked(
            "engine", "{folder} holds no classifier. Fine-tune it first, or choose a fine-tuned model."
        )
        raise ModelError(template, folder=folder)
    if not source.has("pooler"):
        template = marked(
            "engine", "{folder} holds a classifier without the pooler it needs. Fine-tune it first."
        )
        raise ModelError(template, folder=folder)


def _published(model: Bert | SequenceClassifier) -> dict[str, Tensor]:
    tensors: dict[str, Tensor] = {}
    for own, value in model.state_dict().items():
        published = names.published_names(own)
        rows = value.detach().to("cpu", torch.float32).chunk(len(published))
        tensors.update(zip(published, rows, strict=True))
    return tensors


def _config_document(model: Bert | SequenceClassifier) -> dict[str, Any]:
    document = model.config.to_json()
    document.pop("torch_dtype", None)  # the older name of dtype; the weights are written in float32 now
    document["dtype"] = "float32"
    document["architectures"] = ["BertModel"]
    if isinstance(model, SequenceClassifier):
        document["architectures"] = ["BertForSequenceClassification"]
        document["problem_type"] = "single_label_classification"
    return document


def _listed(values: Sequence[str]) -> str:
    return ", ".join(value[:60] for value in values[:_MOST_NAMES]) + (
        ", ..." if len(values) > _MOST_NAMES else ""
    )
