"""One weight learns from one hidden word: the loss, its gradient back to the weight, and one plain step.

Plain: the weight less the learning rate times its gradient. No momentum, no decay, nothing else moves. All of
it is computed in float64, on the CPU: one weight moves a loss by less than the last digits of float32.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from engine.errors import UserError, marked
from engine.inspect.anatomy.changes import AS_IT_IS
from engine.inspect.anatomy.forward import ModelInput, Weights, compute, masked_words, weights_of
from engine.inspect.anatomy.vectors import Product, input_of, products
from engine.inspect.attention.weights import Floats, explained_memory, read_only
from engine.inspect.loaded_model import LoadedModel
from engine.inspect.masked.score import must_spell
from engine.model.config import BertConfig

WORDS = "embeddings.word_embeddings.weight"  # which also scores the words
LEARNING_RATE = 0.1  # so that one step is seen; pretraining takes a thousandth of it


@dataclass(frozen=True, eq=False)
class Lesson:
    """What one hidden word teaches one weight.

    place: of the [MASK]. answer: the id that stood there. weight: its published name; row, column: of it.
    taken, made: (T,), at each token the number that the weight is multiplied by, and the gradient of the
    number that it adds to: their products add up to `gradient`. (L T,), layer after layer, where one block is
    every layer. direct: what else does: of the word
    embeddings, which also score the words, p − 1 or p times the number that is scored; else 0.
    """

    place: int
    answer: int
    weight: str
    row: int
    column: int
    rate: float
    loss: float
    probability: float
    taken: Floats
    made: Floats
    direct: float
    gradient: float
    before: float
    loss_after: float
    probability_after: float

    @property
    def after(self) -> float:
        """The weight after the step."""
        return self.before - self.rate * self.gradient

    @property
    def slope(self) -> float:
        """How much the loss falls if it goes on as steeply as it begins: rate times gradient squared."""
        return self.rate * self.gradient**2


def learn(
    subject: LoadedModel,
    text: str,
    text_pair: str | None,
    *,
    answer: str,
    weight: str,
    row: int,
    column: int,
    place: int = -1,
    rate: float = LEARNING_RATE,
) -> Lesson:
    """Return what a hidden word teaches one weight.

    Args:   answer: the word that stood there, one piece. weight: a published name, of a matrix that
            `products` names or the word embeddings. place: of the [MASK]; the first where it is below 0.
    Raises: UserError: no [MASK], a word of several pieces, no such weight. ModelError: without the head.
    """
    subject.require("masked_words")
    encoding = subject.encode(text, text_pair)
    target = _target(subject, answer)
    place = _place(subject, encoding.input_ids, place)
    given = input_of(subject, encoding, device=torch.device("cpu"))
    with explained_memory(len(encoding.input_ids)):
        weights = {name: one.detach().cpu().double() for name, one in weights_of(subject).items()}
        matrix = _matrix(weights, subject.config, weight, row, column)
        leaf = matrix.clone().requires_grad_()
        found, loss = _loss({**weights, weight: leaf}, subject.config, given, place, target)
        taken, made, direct = _parts(subject.config, weight, row, column, found, loss, given, place, target)
        (slopes,) = torch.autograd.grad(loss, [leaf])
        gradient = float(slopes[row, column])
        with torch.no_grad():
            stepped = matrix.clone()
            stepped[row, column] -= rate * gradient
            _, later = _loss({**weights, weight: stepped}, subject.config, given, place, target)
    return Lesson(
        place=place,
        answer=target,
        weight=weight,
        row=row,
        column=column,
        rate=rate,
        loss=loss.item(),
        probability=math.exp(-loss.item()),
        taken=_plain(taken),
        made=_plain(made),
        direct=direct,
        gradient=gradient,
        before=float(matrix[row, column]),
        loss_after=later.item(),
        probability_after=math.exp(-later.item()),
    )


def _target(subject: LoadedModel, answer: str) -> int:
    ids = must_spell(subject.wordpiece, answer)
    if len(ids) > 1:
        pieces = " ".join(subject.wordpiece.shown[number] for number in ids)
        template = marked(
            "engine", "{word} is {count} pieces ({pieces}), but a [MASK] hides one. Name one piece."
        )
        raise UserError(template, word=answer.strip()[:80], count=len(ids), pieces=pieces)
    return ids[0]


def _place(subject: LoadedModel, ids: list[int], place: int) -> int:
    hidden = [number for number, piece in enumerate(ids) if piece == subject.wordpiece.mask_id]
    if not hidden:
        raise UserError(marked("engine", "Nothing is masked in this text. Write [MASK] in place of a word."))
    if place >= 0 and place not in hidden:
        raise UserError(marked("engine", "Token {place} is not a [MASK]."), place=place)
    return place if place >= 0 else hidden[0]


def _matrix(weights: Weights, config: BertConfig, name: str, row: int, column: int) -> Tensor:
    matrix = weights.get(name)
    if matrix is None or not (name == WORDS or _products_of(config, name)):
        raise UserError(
            marked("engine", "{name} is not a matrix that can be followed here."), name=name[:120]
        )
    if not (0 <= row < matrix.shape[0] and 0 <= column < matrix.shape[1]):
        template = marked("engine", "{name} has rows 0 to {rows} and columns 0 to {columns}.")
        raise UserError(template, name=name, rows=matrix.shape[0] - 1, columns=matrix.shape[1] - 1)
    return matrix


def _loss(
    weights: Weights, config: BertConfig, given: ModelInput, place: int, target: int
) -> tuple[dict[str, Tensor], Tensor]:
    """Return all vectors, and −ln of the answer's probability."""
    found = compute(weights, config, given, AS_IT_IS)
    found |= masked_words(weights, config, found["T"], (place,))
    answer = torch.tensor([target])
    return found, F.cross_entropy(found["masked_word.logits"], answer)


def _parts(
    config: BertConfig,
    weight: str,
    row: int,
    column: int,
    found: dict[str, Tensor],
    loss: Tensor,
    given: ModelInput,
    place: int,
    target: int,
) -> tuple[Tensor, Tensor, float]:
    """Return at each token what a weight is multiplied by and the gradient it gets, and what comes beside."""
    if weight == WORDS:
        (slopes,) = torch.autograd.grad(loss, [found["embeddings.word"]], retain_graph=True)
        share = found["masked_word.logits"].softmax(-1)[0, row].item()
        direct = (share - (row == target)) * found["masked_word.norm"][place, column].item()
        return (given.ids == row).to(slopes.dtype), slopes[:, column], direct
    uses = _products_of(config, weight)
    made = torch.autograd.grad(loss, [found[one.made] for one in uses], retain_graph=True)
    # (H, T, d) -> (T, D)
    whole = [one.transpose(0, 1).flatten(1) if one.ndim == 3 else one for one in made]
    taken = torch.cat([found[one.taken][:, column] for one in uses])
    return taken, torch.cat([one[:, row] for one in whole]), 0.0


def _products_of(config: BertConfig, weight: str) -> list[Product]:
    """Return where a matrix is used: once, or in every layer where one block is all of them."""
    return [one for one in products(config).values() if one.weight == weight]


def _plain(tensor: Tensor) -> Floats:
    return read_only(tensor.detach().float().cpu().numpy().copy())
