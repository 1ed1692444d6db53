"""ELECTRA: a BERT without a pooler, whose discriminator told replaced words from those that stood there.

Source: Clark et al. 2020.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.errors import ModelError, marked
from engine.model.families.family import SAME_HEADS, Family, as_plain_bert

_SIZES = {  # where config.json leaves them out: those of the small one
    "embedding_size": 128,
    "hidden_size": 256,
    "num_attention_heads": 4,
    "intermediate_size": 1024,
}


_NOT_NEEDED = {
    "discriminator_predictions.": (
        marked("engine", "ELECTRA’s replaced words"),
        marked("engine", "Not needed here: ELECTRA’s head for replaced words ({count} tensors)."),
    ),
    "classifier.dense.": (marked("engine", "ELECTRA’s classifier"), ""),
    "classifier.out_proj.": (marked("engine", "ELECTRA’s classifier"), ""),
}


class Electra(Family):
    """What differs from BERT."""

    model_type = "electra"
    name = "ELECTRA"
    stem = "Electra"
    prefix = "electra."
    marks = ("electra.", "discriminator_")
    not_needed = _NOT_NEEDED
    other_classifier = "classifier.dense.weight"
    note = marked("engine", "An ELECTRA, read as a BERT. It detects replaced words and guesses none.")

    def read_config(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        found = {**_SIZES, **document}
        if found["embedding_size"] != found["hidden_size"]:
            template = marked(
                "engine",
                "config.json describes an ELECTRA whose word vectors are narrower than its "
                "layers ({embedding_size} and {hidden_size}); BERT’s are not. Use the "
                "discriminator of a base or large one, such as {instead}.",
            )
            sizes = {name: str(found[name])[:40] for name in ("embedding_size", "hidden_size")}
            raise ModelError(template, **sizes, instead="google/electra-base-discriminator")
        plain = {
            key: value for key, value in found.items() if key != "embedding_size" and "summary_" not in key
        }
        return plain | as_plain_bert(document, SAME_HEADS[:2])
