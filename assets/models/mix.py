"""A model between two others: each weight a share of the one's and the rest of the other's.

Two models of one shape that began with the same weights can be mixed so, and the mixture knows something of
both (Wortsman et al. 2022). Those that began apart cannot.
"""

from __future__ import annotations

from pathlib import Path

import torch

from engine.model.folder import read_json
from engine.model.weights import load_pretraining, save_model
from engine.text.wordpiece import WordPiece

_ROWS = ("bert.embeddings.word.weight", "bias")  # with a row for each WordPiece


def mix(first: Path, second: Path, share: float, target: Path) -> None:
    """Write `share` of the first model and the rest of the second, with the first one's vocabulary.

    Where the second has no heads of pretraining, they are the first one's. The second has each WordPiece
    of the first, by whatever id.
    """
    model, _ = load_pretraining(first, seed=0)
    other, report = load_pretraining(second, seed=0)
    wordpiece = WordPiece.from_folder(first)
    ids = {token: number for number, token in enumerate(WordPiece.from_folder(second).tokens)}
    rows = torch.tensor([ids[token] for token in wordpiece.tokens])
    mixed = {}
    for name, value in other.state_dict().items():
        own = model.state_dict()[name]
        if report.missing and not name.startswith("bert."):
            mixed[name] = own
        else:
            mixed[name] = share * own + (1 - share) * (value[rows] if name in _ROWS else value)
    model.load_state_dict(mixed)
    save_model(target, model, wordpiece, read_json(first / "cloze.json"))
