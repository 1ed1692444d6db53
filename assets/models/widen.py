"""The whole vocabulary of its encoder for a model that was begun from it and trained with a part of it.

Each piece has the encoder's id again, which for all-MiniLM-L6-v2 is that of bert-base-uncased.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from engine.model.folder import read_json
from engine.model.heads import PreTraining
from engine.model.source import unfilled
from engine.model.weights import load_encoder, load_pretraining, save_model
from engine.text.wordpiece import WordPiece

RIDGE = 10.0
FEW = 20  # a piece that a text has no more often tells little of what its bias has to do with that


def widen(starter_dir: Path, encoder_dir: Path, counts: np.ndarray, target: Path) -> None:
    """Write a starter that knows every piece of its encoder; all else of it is as it was.

    What the encoder knew of a new piece is moved as training moved the known ones, by the linear map that
    fits these best; its bias follows from how frequent it is, by the line through the known ones.

    Args: counts: (V,), how often a text has each of the encoder's pieces.
    """
    starter, _ = load_pretraining(starter_dir, seed=0)
    encoder, _ = load_encoder(encoder_dir)
    wordpiece = WordPiece.from_folder(encoder_dir)
    places = {token: number for number, token in enumerate(wordpiece.tokens)}
    known = torch.tensor([places[token] for token in WordPiece.from_folder(starter_dir).tokens])
    state = starter.state_dict()
    words = "bert.embeddings.word.weight"
    state[words] = _moved(encoder.embeddings.word.weight.detach(), state[words], known)
    state["bias"] = _biases(state["bias"], known, torch.from_numpy(counts))
    config = dataclasses.replace(
        starter.config, vocab_size=wordpiece.vocab_size, pad_token_id=wordpiece.pad_id
    )
    widened = unfilled(PreTraining, config)
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


def _biases(own: Tensor, known: Tensor, counts: Tensor) -> Tensor:
    """Return the masked-word head's bias of all pieces, (V,): those known as they are."""
    logs = (counts + 1).double().log()
    line = torch.stack([logs, torch.ones_like(logs)], 1)
    told = counts[known] > FEW
    how = torch.linalg.lstsq(line[known][told], own[told, None].double()).solution
    biases = (line @ how)[:, 0].float()
    biases[known] = own
    return biases
