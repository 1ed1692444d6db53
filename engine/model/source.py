"""The weights of a model folder by their plain names, and how they become a module of ours.

Not to be broken: shapes, types and sizes are compared before any memory is taken.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from engine.errors import ModelError, Sentence, marked
from engine.model import names
from engine.model.config import BertConfig
from engine.model.families.family import class_of
from engine.model.families.known import family_of_tensors
from engine.model.families.refused import kind_of_tensors, refused
from engine.model.folder import StoredWeights
from engine.model.load_report import LoadReport, listed
from engine.model.tensor_files import unreadable_type

_FLOATS: dict[torch.dtype, str] = {
    getattr(torch, kind): kind for kind in ("float32", "float16", "bfloat16", "float64", "float8_e4m3fn")
}
_LACKING = {
    "masked_word": marked(
        "engine", "The model’s own masked-word head was not used, because its file lacks {names}."
    ),
    "next_sentence": marked(
        "engine", "The model’s own next-sentence head was not used, because its file lacks {names}."
    ),
}
_OTHER_CLASSIFIER = marked(
    "engine",
    "The model’s own classifier was not used, because {model}’s is not built like "
    "BERT’s. Fine-tune the model to make one.",
)
_UNTIED = marked(
    "engine",
    "The model’s own masked-word head was not used. It has its own word weights or "
    "biases, where BERT uses the token embeddings.",
)

MIX = "mix.weights"  # the one weight whose shape follows from how many layers there are

Model = TypeVar("Model", bound=nn.Module)


class StoredModel:
    """A model folder's weights, looked at but not read yet."""

    def __init__(self, stored: StoredWeights, config: BertConfig) -> None:
        self._stored, self.config = stored, config
        self._loaded: set[str] = set()
        self.family = family_of_tensors(stored.infos, config.family)
        own = config.family is self.family  # else it is read as another's, with the heads of that
        head = class_of(config.extra) if own else ""
        self.plain = {name: self.family.plain_name(name, head) for name in stored.infos}
        self._found: dict[str, str] = {}  # plain name -> name in the file
        for name, plain in self.plain.items():
            if self._found.setdefault(plain, name) != name:
                raise ModelError(
                    marked("engine", "{path} holds two weights for one place: {first} and {second}."),
                    path=stored.path,
                    first=self._found[plain],
                    second=name,
                )
        for first, second in config.family.shared.items():
            if first not in self._found and second in self._found:
                self._found[first] = self._found.pop(second)
        self._at_zero = set(self.family.at_zero) - self._found.keys()
        self._added = self.family.added(config)
        self._rows_before = config.family.rows_before(config)
        self._heads = {part: config.family.names_of_part(part, config) for part in names.PARTS}

    def is_added(self, plain: str) -> bool:
        """Whether a stored weight is a table whose first row is added to another weight."""
        return any(plain == table for table, _ in self._added.values())

    def has(self, part: str) -> bool:
        """Whether one of names.PARTS is there, whole."""
        return all(name in self._found for name in self._heads[part])

    def lend(self) -> bool:
        """Let a new pooler begin as layers of the masked-word head; return whether the family has it so."""
        lent = self.config.family.lent(self.config)
        if not lent or not all(name in self._found for name in lent.values()):
            return False
        self._found |= {new: self._found[old] for new, old in lent.items()}
        return True

    def objection(self, part: str, config: BertConfig) -> Sentence | None:
        """Return why the stored head of pretraining, "masked_word" or "next_sentence", cannot be used.

        None if it can, or there is none. Call `check` of the encoder first.
        """
        lacking = [name for name in self._heads[part] if name not in self._found]
        if lacking and len(lacking) < len(self._heads[part]):
            return Sentence(_LACKING[part], {"names": listed(lacking)})
        shapes = ((config.vocab_size, config.embedding_width), (config.vocab_size,))
        if lacking or part != "masked_word":
            return None
        pairs = zip(config.family.shared.items(), shapes, strict=False)  # of a decoder of its own none
        return None if all(self._agree(*pair, shape) for pair, shape in pairs) else Sentence(_UNTIED)

    def _agree(self, first: str, second: str, shape: tuple[int, ...]) -> bool:
        """Whether a weight that is stored twice is the same both times. A wrong shape is told elsewhere."""
        if second not in self._found or self._stored.infos[self._found[first]].shape != shape:
            return True
        if self._stored.infos[self._found[second]].shape != shape:
            return False
        values = [torch.empty(shape), torch.empty(shape)]
        for name, value in zip((first, second), values, strict=True):
            self._check_one(self._found[name], shape)
            self._stored.read_into(self._found[name], value)
        self._loaded.add(self._found[second])
        return torch.equal(*values)

    @property
    def notes(self) -> tuple[Sentence, ...]:
        """What a person should know of a model of this family."""
        note = self.family.note(self.config)
        return (Sentence(note),) if note else ()

    @property
    def other_classifier(self) -> Sentence | None:
        """Why a classifier that is not built like BERT's cannot be used; None where there is none."""
        is_there = self.family.other_classifier in self._found
        return Sentence(_OTHER_CLASSIFIER, {"model": self.family.name}) if is_there else None

    def labels(self, config: BertConfig) -> tuple[tuple[str, ...], Sentence | None]:
        """Return the labels of the stored classifier; or none and, if there is one, what is wrong with it."""
        if self.other_classifier is not None:
            return (), self.other_classifier
        if not self.has("classifier"):
            return (), None
        weight, bias = (self._stored.infos[self._found[name]].shape for name in self._heads["classifier"])
        count = len(config.id2label) or (bias[0] if len(bias) == 1 else 0)
        if count and weight == (count, config.read_width) and bias == (count,):
            return config.id2label or tuple(f"LABEL_{number}" for number in range(count)), None
        template = marked(
            "engine",
            "The model’s own classifier does not fit its config.json. classifier.weight has "
            "the shape {shape}, but {count} labels and a width of {width} are named there.",
        )
        return (), Sentence(template, {"shape": weight, "count": count, "width": config.read_width})

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
            if self._plain_names(own)[0] in self._at_zero:
                weights[own].zero_()
            elif names.part_of(own) not in fresh:
                self._read(own, weights[own])
            elif len(shape) == 1:
                weights[own].fill_(float(own.endswith(("norm.weight", "mix.scale"))))
            else:
                weights[own].normal_(0.0, config.initializer_range, generator=generator)
        model = unfilled(make, config)
        model.load_state_dict(weights, assign=True)
        return model.eval()

    def report(
        self,
        notes: Sequence[Sentence] = (),
        fresh: Collection[str] = (),
        objections: Mapping[str, Sentence] | None = None,
    ) -> LoadReport:
        """Return what became of each weight. Args: objections: part -> why it is not used."""
        stored = dict.fromkeys(self._found.values())
        refused = {
            self._found[name]: reason
            for part, reason in (objections or {}).items()
            for name in (*self._heads[part], *self.config.family.shared.values(), *self._found)
            if name in self._found
            and (names.part_of(name) == part or (part == "classifier" and self._is_of_classifier(name)))
        }
        kinds = {_FLOATS[dtype] for n in self._loaded if (dtype := self._stored.infos[n].dtype) in _FLOATS}
        notes = [*self.notes, *notes]
        converted = sorted(kinds - {"float32"})
        if converted:
            template = marked("engine", "The weights are stored as {kinds} and were converted to float32.")
            notes = [Sentence(template, {"kinds": converted}), *notes]
        left = [name for name in stored if name not in self._loaded and name not in refused]
        return LoadReport(
            loaded=tuple(name for name in stored if name in self._loaded and name not in refused),
            missing=tuple(name for part in names.PARTS if part in fresh for name in self._heads[part]),
            unexpected=tuple(name for name in left if not names.is_buffer(self.plain[name])),
            refused=tuple(refused.items()),
            notes=tuple(notes),
            new=tuple(part for part in names.PARTS if part in fresh),
            plain=self.plain,
            family=self.family,
        )

    def _is_of_classifier(self, plain: str) -> bool:
        below = self.family.other_classifier.rpartition(".")[0]  # of another kind
        return plain.startswith("classifier.") or (bool(below) and plain.startswith(f"{below}."))

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
                pieces = self._plain_names(own)
                wanted.update(dict.fromkeys(pieces, (shape[0] // len(pieces), *shape[1:])))
                before = [(name, self._rows_before[name]) for name in pieces if name in self._rows_before]
                wanted.update((name, (shape[0] + count, *shape[1:])) for name, count in before)
                added = [self._added[name] for name in pieces if name in self._added]
                wanted.update((table, (count, *shape[1:])) for table, count in added)
        missing = [name for name in wanted if name not in self._found and name not in self._at_zero]
        other = kind_of_tensors(self._found) if missing else None
        if other is not None:
            raise refused(other)
        if missing:
            template = marked(
                "engine", "{path} lacks {count} of the {total} weights that config.json asks for ({names})."
            )
            raise ModelError(
                template,
                path=self._stored.path,
                count=len(missing),
                total=len(wanted),
                names=listed(missing),
            )
        num_bytes = sum(
            self._check_one(self._found[name], shape)
            for name, shape in wanted.items()
            if name not in self._at_zero
        )
        if num_bytes > self._stored.num_bytes:
            raise ModelError(
                marked("engine", "{path} claims {claimed} bytes of weights, but is only {size} bytes long."),
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

    def _plain_names(self, own: str) -> list[str]:
        return [names.plain_name(name) for name in names.published_names(own, self.config.family.stacks)]

    def _read(self, own: str, target: Tensor) -> None:
        pieces = self._plain_names(own)
        for name, rows in zip(pieces, target.chunk(len(pieces)), strict=True):
            if name in self._rows_before:
                count = self._rows_before[name]
                whole = torch.empty(len(rows) + count, *rows.shape[1:])
                self._read_one(name, whole)
                rows.copy_(whole[count:])
                continue
            self._read_one(name, rows)
            arranged = self.config.family.arranged(name, rows, self.config)
            if arranged is not rows:
                rows.copy_(arranged)
            if name in self._added:
                table, count = self._added[name]
                own_table = torch.empty(count, *rows.shape[1:])
                self._read_one(table, own_table)
                rows += own_table[0]

    def _read_one(self, plain: str, target: Tensor) -> None:
        name = self._found[plain]
        self._stored.read_into(name, target)
        self._loaded.add(name)
        if not target.sum().isfinite() and not target.isfinite().all():
            template = marked(
                "engine", "{name} in {path} holds values that are not numbers. Choose another model."
            )
            raise ModelError(template, name=name, path=self._stored.path)


class _NoFilling(TorchFunctionMode):
    """Skips `normal_`: to fill a tensor without memory, torch imports its compiler (2 s, 70 MB)."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in (nn.init.normal_, Tensor.normal_):
            return None  # nobody looks at what they return
        return func(*args, **(kwargs or {}))


def unfilled(make: Callable[[BertConfig], Model], config: BertConfig) -> Model:
    """Return make(config) without memory for its parameters, drawing no random numbers."""
    with torch.device("meta"), _NoFilling():
        return make(config)


def _shapes(make: Callable[[BertConfig], nn.Module], config: BertConfig) -> dict[str, tuple[int, ...]]:
    """Return the shape of each of our parameters. Of blocks that are alike one is built, on no device."""
    count = config.num_blocks
    built = 1 if config.family.has_equal_layers else min(3, count)  # the first, one between, the last
    few = unfilled(make, dataclasses.replace(config, num_hidden_layers=built))
    shapes: dict[str, tuple[int, ...]] = {}
    for name, value in few.state_dict().items():
        start, layer, rest = name.partition("layers.")
        place, _, end = rest.partition(".")
        for number in _alike(int(place), built, count) if layer else ():
            shapes[f"{start}layers.{number}.{end}"] = tuple(value.shape)
        if not layer:
            shapes[name] = tuple(value.shape)
    if MIX in shapes:
        shapes[MIX] = (config.num_hidden_layers + 1,)
    return shapes


def _alike(place: int, built: int, count: int) -> range:
    """Return which of `count` layers have the weights of one that was built: all, the first, the last, or
    those between.
    """
    if built == 1:
        return range(count)
    begins = 0 if place == 0 else 1 if place < built - 1 else count - 1
    return range(begins, count - 1 if 0 < place < built - 1 else begins + 1)
