"""Every intermediate of one text in a model, by a pass written out plainly over the model's own weights.

The kernels that answer everywhere else show none of these. So they are computed step by step (forward.py), in
float32 and in the paper's order; without changes the end has to be the model's own, or `trace` fails.
"""

# T tokens, padding included; D hidden_size, E width of the embeddings, which is D in BERT, H heads,
# d = D / H, F intermediate_size, V words

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from engine.errors import UserError, marked
from engine.inspect.anatomy.changes import AS_IT_IS, PassSettings
from engine.inspect.anatomy.forward import ModelInput, answers, compute, sees, stored_layer, weights_of
from engine.inspect.anatomy.steps import PassPlan, plan_of
from engine.inspect.attention.weights import Floats, explained_memory, free_bytes, read_only
from engine.inspect.loaded_model import LoadedModel, ModelSummary, looking
from engine.model.config import BertConfig
from engine.text.tokenizer import Encoding

TOLERANCE = (
    1e-4  # of the largest value, or of 1: what the order of sums may change between two ways to compute
)
_SHARE_OF_FREE = 0.5


@dataclass(frozen=True, eq=False)
class Anatomy:
    """One text in one model, every number of it.

    arrays: by name, read-only, layers counted from 1. A model has those of its own `plan`:

        embeddings.word, embeddings.segment, embeddings.position, embeddings.sum, embeddings.norm   (T, E)
        embeddings.projected: where E is not D                   (T, D)
        layer.N.attention_input: what was normed for attention   (T, D)
        layer.N.query, layer.N.key, layer.N.value                (H, T, d)
        layer.N.query_turned, layer.N.key_turned: by the place   (H, T, d)
        layer.N.scores: query · key / √d; layer.N.softmax        (H, T, T), [head, query, key]
        layer.N.distances: what is added to scores for them      (H, T, T)
        layer.N.heads: each head's weighted sum of values        (H, T, d)
        layer.N.joined: the heads side by side; layer.N.output; layer.N.attention_residual;
        layer.N.attention_norm, or layer.N.feed_forward_input    (T, D)
        layer.N.feed_forward_in, layer.N.activation              (T, F)
        layer.N.feed_forward_gate, layer.N.gated: the product    (T, F)
        layer.N.feed_forward_out, layer.N.residual, layer.N.norm (T, D)
        T: what the last layer gives, normed                     (T, D)
        pooler.dense, pooler.activation: where a norm follows    (D,)
        C: the pooled output                                     (D,), where there is a pooler
        masked_word.dense, masked_word.activation, masked_word.norm   (T, E)
        masked_word.logits                                       (P, V), of the `places`
        next_sentence.logits, next_sentence.softmax              (2,), 0: B follows A
        label.logits, label.softmax                              (C,)

    weights: by their published names, read-only. ids, segments, positions, mask: (T,), as the model read
    them; mask is 0 where padded. places: the tokens that masked_word.logits are of.
    """

    about: ModelSummary
    text: str
    text_pair: str | None
    encoding: Encoding
    changes: PassSettings
    ids: tuple[int, ...]
    segments: tuple[int, ...]
    positions: tuple[int, ...]
    mask: tuple[int, ...]
    places: tuple[int, ...]
    arrays: Mapping[str, Floats] = field(repr=False)
    weights: Mapping[str, Floats] = field(repr=False)

    def __getitem__(self, name: str) -> Floats:
        """Return one of the arrays."""
        return self.arrays[name]

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    @property
    def config(self) -> BertConfig:
        return self.about.config

    @cached_property
    def plan(self) -> PassPlan:
        """The steps of the pass."""
        return plan_of(self.config)

    def compared(self, layer: int) -> tuple[str, str]:
        """Return the names of the queries and keys whose products are a layer's scores."""
        own = f"layer.{layer}."
        is_turned = f"{own}query_turned" in self.arrays
        return (f"{own}query_turned", f"{own}key_turned") if is_turned else (f"{own}query", f"{own}key")

    def seen(self, layer: int, place: int) -> np.ndarray:
        """Return which tokens one may look at in a layer, (T,) bool."""
        return np.asarray(sees(self.config, layer, torch.tensor(self.mask))[place].numpy())

    @cached_property
    def pieces(self) -> tuple[str, ...]:
        """The tokens, padding included."""
        return tuple(self.about.wordpiece.shown[number] for number in self.ids)

    @property
    def num_tokens(self) -> int:
        """T."""
        return len(self.ids)

    def logits_at(self, place: int) -> Floats:
        """Return the score of every word at one of the `places`, (V,)."""
        return np.asarray(self.arrays["masked_word.logits"][self.places.index(place)])


@dataclass(frozen=True, slots=True)
class Product:
    """A matrix between two vectors of the text, both by their names in `Anatomy`.

    weight: its published name, (made, taken); its bias is beside it.
    """

    weight: str
    taken: str
    made: str

    @property
    def bias(self) -> str:
        return self.weight.removesuffix("weight") + "bias"


def products(config: BertConfig) -> dict[str, Product]:
    """Return every matrix of the encoder and the masked-word head by the vector that it makes."""
    plan, found = plan_of(config), []
    is_gated = config.family.rotation(config) is not None
    for number in range(1, config.num_hidden_layers + 1):
        taken, normed = plan.names("qkv", number)[0], plan.names("feed_forward", number)[0]
        own, stored = f"layer.{number}.", stored_layer(config, number)
        found += [
            Product(f"{stored}attention.self.query.weight", taken, f"{own}query"),
            Product(f"{stored}attention.self.key.weight", taken, f"{own}key"),
            Product(f"{stored}attention.self.value.weight", taken, f"{own}value"),
            Product(f"{stored}attention.output.dense.weight", f"{own}joined", f"{own}output"),
        ]
        inner = f"{own}feed_forward_in"
        if is_gated:
            found.append(Product(f"{stored}intermediate.gate.weight", normed, inner))
            found.append(Product(f"{stored}intermediate.up.weight", normed, f"{own}feed_forward_gate"))
        else:
            found.append(Product(f"{stored}intermediate.dense.weight", normed, inner))
        active = f"{own}gated" if is_gated else f"{own}activation"
        found.append(Product(f"{stored}output.dense.weight", active, f"{own}feed_forward_out"))
    if config.family.has_projection:
        found.append(Product("embeddings_project.weight", "embeddings.norm", "embeddings.projected"))
    found.append(Product("cls.predictions.transform.dense.weight", "T", "masked_word.dense"))
    return {one.made: one for one in found}


def trace(
    subject: LoadedModel,
    text: str,
    text_pair: str | None = None,
    *,
    changes: PassSettings = AS_IT_IS,
    pad_to: int = 0,
    places: tuple[int, ...] | None = None,
) -> Anatomy:
    """Return every number of a text or pair.

    Args:   pad_to: how many tokens the model reads, with [PAD] behind the text; 0: the text alone. places:
            whose words are scored; None: those of every token.
    Raises: UserError: an empty text, too many pieces, too little memory, a change that the text or the model
            has no place for, weights that are not finite. ModelError: a pair does not fit the model.
    """
    encoding = subject.encode(text, text_pair)
    given = input_of(subject, encoding, changes, pad_to)
    length = len(given.ids)
    places = tuple(range(length)) if places is None else places
    changes.check(subject.config, length)
    check_memory(subject.config, length, len(places) if subject.has_masked_words else 0)
    with explained_memory(length), looking(subject):
        weights = weights_of(subject)
        found = compute(weights, subject.config, given, changes)
        found |= answers(weights, subject, found, given, places)
        if not bool(found["T"].isfinite().all()):
            template = marked("engine", "The weights of {name} give no finite numbers for this text.")
            raise UserError(template, name=subject.name)
        if not changes:
            _check_end(subject, found, given, places)
        arrays = {name: read_only(tensor.float().cpu().numpy()) for name, tensor in found.items()}
        kept = {name: _seen(tensor) for name, tensor in weights.items()}
    return Anatomy(
        about=subject.about,
        text=text,
        text_pair=text_pair,
        encoding=encoding,
        changes=changes,
        ids=tuple(given.ids.tolist()),
        segments=tuple(given.segments.tolist()),
        positions=tuple(given.positions.tolist()),
        mask=tuple(given.mask.tolist()),
        places=places,
        arrays=arrays,
        weights=kept,
    )


def input_of(
    subject: LoadedModel,
    encoding: Encoding,
    changes: PassSettings = AS_IT_IS,
    pad_to: int = 0,
    device: torch.device | None = None,
) -> ModelInput:
    """Return what a model reads of a text, by default where the model is.

    Args: as of `trace`. Raises: UserError: no room for padding.
    """
    length = len(encoding.input_ids)
    if pad_to and not length <= pad_to <= subject.max_length:
        template = marked(
            "engine",
            "Padding to {length}: this text has {count} pieces, and the model reads at most {most}.",
        )
        raise UserError(template, length=pad_to, count=length, most=subject.max_length)
    filler = max(0, pad_to - length)
    of_texts = encoding.token_type_ids if subject.config.has_segments else [0] * length
    segments = changes.placed(changes.segments, [*of_texts, *[0] * filler])
    positions = changes.placed(changes.positions, list(range(length + filler)))
    ids = [*encoding.input_ids, *[subject.config.pad_token_id] * filler]
    lists = (ids, segments, positions, [1] * length + [0] * filler)
    return ModelInput(*(torch.tensor(one, device=device or subject.device) for one in lists))


def _check_end(
    subject: LoadedModel, found: Mapping[str, Tensor], given: ModelInput, places: tuple[int, ...]
) -> None:
    """Hold the end against the model's own answer. Raises: ArithmeticError: a fault of ours."""
    ids, segments, mask = given.ids[None], given.segments[None], given.mask[None]
    asked = mask if not bool(given.mask.all()) else None
    own = subject.bert(ids, segments, asked)
    ends = {"T": own.last_hidden_state[0]}
    if "C" in found and subject.classifier is None:
        ends["C"] = own.pooled_output[0]
    if subject.classifier is not None:
        ends["label.logits"] = subject.classifier(ids, segments, asked)[0]
    if subject.language is not None and "masked_word.logits" in found:
        rows = torch.tensor(places, dtype=torch.long, device=ids.device)
        read = subject.language.read(own.last_hidden_state[0][rows])
        ends["masked_word.logits"] = subject.language.logits(read)
    for name, tensor in ends.items():
        off = float((found[name] - tensor).abs().max()) if tensor.numel() else 0.0
        if not off <= TOLERANCE * max(1.0, float(tensor.abs().max()) if tensor.numel() else 0.0):
            raise ArithmeticError(f"{name} is {off:g} next to the model's own")


def check_memory(config: BertConfig, length: int, num_places: int) -> None:
    """Refuse what memory does not suffice for, before it is taken. Raises: UserError."""
    width, inner = config.hidden_size, config.intermediate_size
    of_layer = 2 * config.num_attention_heads * length * length + length * (13 * width + 4 * inner)
    floats = config.num_hidden_layers * of_layer + length * 10 * width + 2 * num_places * config.vocab_size
    free = free_bytes()
    if free is not None and 4 * floats > _SHARE_OF_FREE * free:
        template = marked(
            "engine",
            "Every number of {length} pieces in this model takes {needed} GB of memory, "
            "and {free} GB are free. Shorten the text, choose a smaller model, or close "
            "other programs.",
        )
        raise UserError(
            template, length=length, needed=f"{4 * floats / 2**30:.2f}", free=f"{free / 2**30:.2f}"
        )


def _seen(tensor: Tensor) -> Floats:
    """Return a weight to be read, not written; no copy where it is on a CPU."""
    return read_only(tensor.detach().cpu().numpy().view())
