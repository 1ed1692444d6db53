"""What the tensors of Google's checkpoints are called in published folders, and which are transposed."""

from __future__ import annotations

import re

_LEFT = re.compile(r"(.*/)?(adam_[mv]|AdamWeightDecayOptimizer.*|Adam(_1)?|lamb_[mv])$")
_ALONE = {"global_step", "good_steps", "loss_scale", "beta1_power", "beta2_power", "save_counter"}
_WHOLE = {
    "cls/predictions/output_bias": "cls.predictions.bias",
    "cls/seq_relationship/output_weights": "cls.seq_relationship.weight",
    "cls/seq_relationship/output_bias": "cls.seq_relationship.bias",
    "cls/squad/output_weights": "qa_outputs.weight",
    "cls/squad/output_bias": "qa_outputs.bias",
    "output_weights": "classifier.weight",  # of run_classifier.py
    "output_bias": "classifier.bias",
}
_ENDS = {"gamma": "weight", "beta": "bias", "kernel": "weight"}


def is_of_training(name: str) -> bool:
    """Whether a tensor only served to train: an optimizer's, or a count of steps."""
    return name in _ALONE or name.startswith("_CHECKPOINTABLE") or _LEFT.fullmatch(name) is not None


def published(name: str) -> tuple[str, bool]:
    """Return a tensor's published name, and whether its rows and columns change places."""
    if name in _WHOLE:
        return _WHOLE[name], False
    *path, last = name.split("/")
    path = [re.sub(r"^layer_(\d+)$", r"layer.\1", part) for part in path]
    if last.endswith("_embeddings"):
        return ".".join([*path, last, "weight"]), False
    return ".".join([*path, _ENDS.get(last, last)]), last == "kernel"
