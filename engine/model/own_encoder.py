"""An encoder of its own, which a model folder may have beside the layers that guess words.

Pretraining on masked words costs a sentence encoder some of what it knew of whole texts. Such a folder keeps
both: `model.safetensors` is read for masked words and next sentences, and for whatever reads texts without
those heads the layers in ENCODER_WEIGHTS take the place of the layers there. Word vectors, most of a small
model, lie there once: those of the encoder follow from the model's by a linear map, the shift.
Not to be broken: a folder has an encoder only where its cloze.json says so, and whoever reads whole texts
opens the folder by `open_encoder_weights`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import ModelError, Sentence, marked
from engine.files import damaged, file_in
from engine.model.folder import ENCODER_WEIGHTS, StoredWeights, open_weights
from engine.model.info import INFO, encoder_in, read_info
from engine.model.tensor_files import TensorFile, TensorInfo, open_tensors

READ_BY = marked("engine", "Texts are read by the layers of {name}.")
WORDS = "embeddings.word_embeddings.weight"  # how the name of the word vectors ends, (V, D)
SHIFT, SHIFT_BIAS = "word_shift.weight", "word_shift.bias"  # (D, D) and (D,)
_RIDGE = 1e-6

# V words of the vocabulary, D width of their vectors


def encoder_of(folder: Path) -> str:
    """Return the name of the encoder that a folder has of its own; "": one model does both.

    Raises: ModelError: its cloze.json is damaged.
    """
    return encoder_in(read_info(folder))


def read_by(name: str) -> tuple[Sentence, ...]:
    """Return what to say where whole texts are read. Args: name: as `encoder_of` returns it."""
    return (Sentence(READ_BY, {"name": name}),) if name else ()


@contextmanager
def open_encoder_weights(folder: Path) -> Iterator[StoredWeights]:
    """Open a model folder's weights for reading whole texts: those of its own encoder in place of the others.

    Raises: ModelError: as `open_weights`; or the encoder is missing, or does not fit the model.
    """
    with open_weights(folder) as stored:
        if not encoder_of(folder):
            yield stored
            return
        path = file_in(folder, ENCODER_WEIGHTS)
        if path is None:
            template = marked(
                "engine", "{path} names {file}, but that file is not there. Copy or download it as well."
            )
            raise ModelError(template, path=folder / INFO, file=ENCODER_WEIGHTS)
        with open_tensors(path) as file:
            layers = [name for name in file.infos if name not in (SHIFT, SHIFT_BIAS)]
            unknown = next((name for name in layers if name not in stored.infos), None)
            if unknown is not None:
                raise damaged(path, marked("engine", "the model has no weight {name}"), name=unknown[:60])
            words = next((name for name in stored.infos if name.endswith(WORDS)), "")
            homes: dict[str, TensorFile] = dict.fromkeys(layers, file)
            homes[words] = _ShiftedWords(stored, words, file, path)
            yield stored.replaced(homes, path)


def word_shift(words: Tensor, wanted: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Return the linear map, (D, D) and (D,), that added to some word vectors makes them most like others.

    A word weighs as the square root of how frequent it is, so that those fit best which texts are made of.

    Args: words, wanted: (V, D). bias: (V,) of a masked-word head, which knows the logarithm of that.
    """
    rows = torch.cat([words, torch.ones(len(words), 1)], 1).double()
    heavy = rows * (bias.double() / 2).softmax(0)[:, None]
    square = heavy.T @ rows + _RIDGE * torch.eye(rows.shape[1], dtype=torch.double)
    found = torch.linalg.solve(square, heavy.T @ (wanted.double() - words.double()))
    return found[:-1].T.float(), found[-1].float()


class _ShiftedWords:
    """The encoder's word vectors as a file: the model's, and what the shift adds to them."""

    def __init__(self, stored: StoredWeights, name: str, file: TensorFile, path: Path) -> None:
        shape = stored.infos[name].shape if name else ()
        found = [file.infos[one].shape if one in file.infos else None for one in (SHIFT, SHIFT_BIAS)]
        if len(shape) != 2 or found != [(shape[1], shape[1]), (shape[1],)]:
            raise damaged(path, marked("engine", "its word vectors do not fit those of the model"))
        self.infos: Mapping[str, TensorInfo] = {name: TensorInfo(shape, torch.float32)}
        self.num_bytes = 4 * shape[0] * shape[1]
        self._stored, self._file = stored, file

    def read_into(self, name: str, target: Tensor) -> None:
        words, shift = torch.empty(self.infos[name].shape), torch.empty(self._file.infos[SHIFT].shape)
        bias = torch.empty(self._file.infos[SHIFT_BIAS].shape)
        self._stored.read_into(name, words)
        for one, value in ((SHIFT, shift), (SHIFT_BIAS, bias)):
            self._file.read_into(one, value)
        target.copy_(torch.addmm(words + bias, words, shift.T))
