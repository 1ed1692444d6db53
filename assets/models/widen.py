"""More WordPieces for a model, from the encoder that it was begun from: some that trimming had left out.

They stand in recipes/starter-pieces.tsv, with how often each is in the first 16 MB of the articles and
24 MB of the novels. Everyday prose uses them and an encyclopedia seldom does, so that reviews and letters are
cut less while articles stay nearly as they were: of all pieces left out they are the 3,808 with the largest
sqrt(n + 1) / ((a + 5) (i + 1)), where n counts the novels, a the articles, and i is the piece's place in the
encoder's vocabulary, which is by frequency.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from engine.model.folder import read_json
from engine.model.heads import PreTraining
from engine.model.source import unfilled
from engine.model.trim import trimmed
from engine.model.weights import load_pretraining, save_model
from engine.text.wordpiece import WordPiece

PIECES = Path(__file__).parent / "recipes" / "starter-pieces.tsv"
BIAS = 0.8384252, -14.898324  # of a piece by the log of its count: the line through the starter's own
RIDGE = 10.0


def widen(starter_dir: Path, encoder_dir: Path, target: Path, pieces: Path = PIECES) -> None:
    """Write a starter that knows the new pieces too; all else of it is as it was.

    What the encoder knew of a new piece is moved as training moved the known ones, by the linear map that
    fits these best.
    """
    starter, _ = load_pretraining(starter_dir, seed=0)
    encoder, _ = load_pretraining(encoder_dir, seed=0)
    own, theirs = WordPiece.from_folder(starter_dir), WordPiece.from_folder(encoder_dir)
    counts = {piece: int(count) for piece, count in map(str.split, pieces.read_text("utf-8").splitlines())}
    ids = {token: number for number, token in enumerate(theirs.tokens)}
    keep = np.sort([ids[token] for token in (*own.tokens, *counts)])
    wide, wordpiece = trimmed(encoder, theirs, keep)
    places = {token: number for number, token in enumerate(wordpiece.tokens)}
    known = torch.tensor([places[token] for token in own.tokens])
    state = starter.state_dict()
    words = "bert.embeddings.word.weight"
    state[words] = _moved(wide.state_dict()[words], state[words], known)
    state["bias"] = _biases(state["bias"], known, places, counts)
    widened = unfilled(PreTraining, wide.config)
    widened.load_state_dict(state, assign=True)
    save_model(target, widened, wordpiece, read_json(starter_dir / "cloze.json"))


def _moved(before: Tensor, after: Tensor, known: Tensor) -> Tensor:
    """Return vectors of all pieces, (V, D): those known as they are, the others moved as these were.

    Args: before: (V, D), the encoder's. after: (K, D), the starter's of the known ones. known: (K,), places.
    """
    rows = torch.cat([before, torch.ones(len(before), 1)], 1).double()
    there = rows[known]
    square = there.T @ there + RIDGE * torch.eye(there.shape[1], dtype=torch.double)
    how = torch.linalg.solve(square, there.T @ (after.double() - before[known].double()))
    moved = (before.double() + rows @ how).float()
    moved[known] = after
    return moved


def _biases(own: Tensor, known: Tensor, places: Mapping[str, int], counts: Mapping[str, int]) -> Tensor:
    """Return the masked-word head's bias of all pieces, (V,), those that are new by how frequent they are."""
    biases = torch.zeros(len(places))
    biases[known] = own
    for token, count in counts.items():
        biases[places[token]] = BIAS[0] * math.log(count + 1.0) + BIAS[1]
    return biases
