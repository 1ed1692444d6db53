"""How a pretrained model is adapted: what stays as it is, what starts anew, how fast each layer learns.

What is frozen computes without dropout, as if it were not trained at all, so that the same text always gives
the same there.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from torch import nn

from engine.errors import ConfigError, Sentence, marked
from engine.model.attention import Attention
from engine.model.bert import Bert, initialize
from engine.model.config import FIRST_LAST, BertConfig
from engine.model.heads import HeadedEncoder
from engine.model.kernels import Dropout
from engine.model.sentence_files import read_sentence_files
from engine.settings.finetune import FineTuneConfig
from engine.train.optimizer import default_learning_rate

WEIGHTED, REPEATED = "weighted", "repeated"
MIX_RATE = 10.0  # times the learning rate: as ELMo's, where that is 1e-4; at 100 one layer took all
FEATURE_RATE = 5e-4  # of what stands on a frozen encoder: few weights, which begin anew
_READS = {  # by config.pooling
    "mean": marked(
        "engine",
        "The head reads the mean of all tokens. Other tools do not know that, so the "
        "model would answer differently there.",
    ),
    FIRST_LAST: marked(
        "engine",
        "The head reads the mean of all tokens after the embeddings and after the last layer. Other tools do "
        "not know that, so they do not open the model.",
    ),
}
ON_FROZEN = marked(
    "engine",
    "The embeddings and {frozen} of {layers} layers stay frozen: {learns:,} of {all:,} weights are trained.",
)
MOST_REPEATS = 10  # times that a row of a rare label is learned from in an epoch


def num_frozen(config: FineTuneConfig, shape: BertConfig) -> int | None:
    """Return how many of the first layers stay as they are, embeddings with them; None: nothing does."""
    if config.adapt.encoder == "frozen":
        return shape.num_hidden_layers
    return config.adapt.frozen_layers or None


def usual_rate(config: FineTuneConfig, shape: BertConfig, least: float = 0.0) -> float:
    """Return a good peak rate: what stands on a frozen encoder is little and new, and wants one of its own.

    Args: least: as `default_learning_rate` has it.
    """
    is_frozen = num_frozen(config, shape) == shape.num_hidden_layers
    return FEATURE_RATE if is_frozen else default_learning_rate(shape, least)


def check_adapt(config: FineTuneConfig, shape: BertConfig) -> None:
    """Refuse what cannot be done to a model of this shape. Raises: ConfigError naming the setting."""
    frozen, layers = num_frozen(config, shape), shape.num_hidden_layers
    if (config.adapt.pooling or shape.pooling) and (config.adapt.layer_mix or shape.layer_mix):
        raise ConfigError(
            marked("engine", "{field}: a mix of layers reads the first token. Choose the mix or the mean."),
            field="pooling",
        )
    for field in ("frozen_layers", "new_layers"):
        value = getattr(config.adapt, field)
        if value > layers:
            template = marked("engine", "{field} is {value}, but the model has {layers} layers.")
            raise ConfigError(template, field=field, value=value, layers=layers)
    if shape.family.shares_layers:
        _check_shared(config, frozen, layers)
    if frozen is None:
        return
    if config.model.model.startswith("new:"):
        raise ConfigError(
            marked(
                "engine",
                "{field}: a model with random weights knows nothing worth freezing. Choose a "
                "trained one, or let all of it learn.",
            ),
            field="encoder" if config.adapt.encoder == "frozen" else "frozen_layers",
        )
    if frozen + config.adapt.new_layers > layers:
        raise ConfigError(
            marked(
                "engine",
                "{field} is {value}, but {frozen} of the {layers} layers stay frozen. Layers "
                "that start from random weights have to learn.",
            ),
            field="new_layers",
            value=config.adapt.new_layers,
            frozen=frozen,
            layers=layers,
        )


def _check_shared(config: FineTuneConfig, frozen: int | None, layers: int) -> None:
    """Refuse to treat some layers otherwise than others where one block is all of them."""
    for field, value in (("frozen_layers", frozen), ("new_layers", config.adapt.new_layers)):
        if value and value != layers:
            template = marked(
                "engine",
                "{field} is {value}, but one block of weights is all {layers} layers of this model. Choose 0 "
                "or {layers}.",
            )
            raise ConfigError(template, field=field, value=value, layers=layers)


def on_pooling(config: FineTuneConfig) -> Sentence | None:
    """Return what to say of a model made for the mean of all tokens, where [CLS] is read; else None."""
    if config.model.model.startswith("new:") or config.adapt.pooling or config.adapt.layer_mix:
        return None
    made, _ = read_sentence_files(Path(config.model.model))
    if made is None or made.pooling != "mean":
        return None
    template = marked(
        "engine",
        "The starting model was made to be read as the mean of all tokens, but this run "
        "reads [CLS]. Set pooling to the mean if you want it.",
    )
    return Sentence(template)


def adapted(model: HeadedEncoder, config: FineTuneConfig, *, is_begun: bool) -> list[Sentence]:
    """Freeze and renew parts of a model as the settings say; return what a person should know of that.

    Args: is_begun: whether the model has the weights of a checkpoint, so that nothing starts anew.
    """
    notes: list[Sentence] = []
    frozen, num_new = num_frozen(config, model.config), config.adapt.new_layers
    if num_new and not is_begun:
        for part in (*model.bert.layers[-num_new:], *([model.bert.pooler] if model.bert.pooler else [])):
            initialize(part, model.config.initializer_range, config.training.seed)
        template = marked(
            "engine", "The pooler and the last {count} of {layers} layers start from random weights."
        )
        notes.append(Sentence(template, {"count": num_new, "layers": len(model.bert.layers)}))
    if model.mix is not None:
        template = marked(
            "engine",
            "The head reads a mix of all layers. Other tools do not know that, so the model "
            "would answer differently there.",
        )
        notes.append(Sentence(template))
    if model.config.pooling not in model.config.family.pools:
        notes.append(Sentence(_READS[model.config.pooling]))
    if frozen is not None:
        model.bert.num_frozen = frozen
        for part in (model.bert.embeddings, *model.bert.layers[:frozen]):
            _freeze(part)
        learns = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
        every = sum(weight.numel() for weight in model.parameters())
        values = {"frozen": frozen, "layers": len(model.bert.layers), "learns": learns, "all": every}
        notes.append(Sentence(ON_FROZEN, values))
    return notes


def mix_shares(model: HeadedEncoder) -> list[float]:
    """Return how much the embeddings and each layer count in a model's mix, together 1; none without one."""
    return [] if model.mix is None else model.mix.weights.detach().softmax(0).tolist()


def on_mix(model: HeadedEncoder) -> Sentence:
    """Return the sentence that says what the mix of layers has learned."""
    shares = mix_shares(model)
    best = max(range(len(shares)), key=shares.__getitem__)
    said = [f"{share:.0%}" for share in shares]
    template = marked(
        "engine",
        "The mix of layers, from the embeddings to the last layer: {shares}. Layer {best} contributes most.",
    )
    if not best:
        template = marked(
            "engine",
            "The mix of layers, from the embeddings to the last layer: {shares}. The "
            "embeddings contribute most.",
        )
    return Sentence(template, {"shares": said, "best": best})


def _freeze(part: nn.Module) -> None:
    part.requires_grad_(False)
    for module in part.modules():
        if isinstance(module, Dropout):
            module.p = 0.0
        if isinstance(module, Attention):
            module.dropout_p = 0.0


def rates_of(model: nn.Module, layer_decay: float, embedding_rate: float) -> dict[str, float]:
    """Return name of a weight -> how many times the learning rate it learns at.

    The last layer, the pooler and the head learn at the rate itself, each layer below at `layer_decay` times
    that of the one above, the embeddings below all, the word embeddings at `embedding_rate` times that. The
    weights of a mix of layers are few and begin equal: at the rate itself they would hardly move.
    """
    bert = next(module for module in model.modules() if isinstance(module, Bert))
    times: dict[int, float] = {}
    blocks = list(bert.layers.children())  # one, where it is every layer
    for number, layer in enumerate(blocks):
        fallen = layer_decay ** (len(blocks) - 1 - number)
        times |= {id(weight): fallen for weight in layer.parameters()}
    lowest = layer_decay ** len(blocks)
    times |= {id(weight): lowest for weight in bert.embeddings.parameters()}
    times[id(bert.embeddings.word.weight)] = lowest * embedding_rate
    if isinstance(model, HeadedEncoder) and model.mix is not None:
        times[id(model.mix.weights)] = MIX_RATE
    return {name: times.get(id(weight), 1.0) for name, weight in model.named_parameters()}


def label_weights(targets: np.ndarray, num_labels: int) -> tuple[float, ...]:
    """Return what an example of each label counts, so that all labels count alike; 1 on average.

    A label without examples counts as one with one. Source: scikit-learn's class_weight="balanced".
    """
    counts = np.maximum(np.bincount(targets, minlength=num_labels), 1)
    return tuple((len(targets) / (num_labels * counts)).tolist())


def repeated(targets: np.ndarray, num_labels: int) -> np.ndarray:
    """Return the places of an epoch's examples: those of rare labels several times, MOST_REPEATS at most.

    So often that their label has as many as the commonest, to rounding. Args: targets: (E,) int64.
    """
    times = np.asarray(repeats(np.bincount(targets, minlength=num_labels).tolist()))
    return np.repeat(np.arange(len(targets)), times[targets])


def repeats(counts: Sequence[int]) -> list[int]:
    """Return how often an epoch learns from each example of the labels that have so many."""
    most = max(counts, default=0)
    return [min(MOST_REPEATS, round(most / count)) if count else 1 for count in counts]


def on_rare(labels: Sequence[str], targets: np.ndarray, how: str) -> Sentence:
    """Return the sentence that says what becomes of the commonest and the rarest label."""
    counts = np.bincount(targets, minlength=len(labels))
    seen = np.flatnonzero(counts)
    common, rare = int(seen[counts[seen].argmax()]), int(seen[counts[seen].argmin()])
    values = {"rare": labels[rare][:80], "common": labels[common][:80]}
    if how == WEIGHTED:
        weights = label_weights(targets, len(labels))
        template = marked(
            "engine",
            "Labels are weighted by rarity: an example of {rare} counts {high:.2g}, one of "
            "{common} {low:.2g}.",
        )
        return Sentence(template, {**values, "high": weights[rare], "low": weights[common]})
    template = marked(
        "engine",
        "Rare labels are repeated. An epoch sees each example of {rare} {times} times, "
        "each example of {common} once.",
    )
    return Sentence(template, {**values, "times": repeats(counts.tolist())[rare]})
