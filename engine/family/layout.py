"""A trained member on the disk: config.json, its numbers, and the vocabulary as everywhere else.

BERT's folder is the published one; the others' are our own, and config.json names the member. Whatever is
damaged is refused in a sentence.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from engine.durable import replaced_folder
from engine.errors import ModelError, RunError, UserError, marked
from engine.family.elmo import ELMo
from engine.family.glove import GloVe
from engine.family.gpt import GPT
from engine.family.members import ABOUT, Member
from engine.family.ngram import NGram
from engine.family.nnlm import NNLM
from engine.family.word2vec import Word2Vec
from engine.files import open_regular, read_json_object
from engine.model.tensor_files import load_tensors, save_tensors
from engine.own_process import command_words
from engine.settings.config import from_toml, with_values
from engine.settings.family import FamilyConfig
from engine.text.tokenizer import Tokenizer

SETTINGS = "family.toml"  # of a family
CONFIG, WEIGHTS, COUNTS = "config.json", "weights.safetensors", "counts.npz"
NEURAL: dict[str, type[NNLM] | type[ELMo] | type[GPT]] = {"nnlm": NNLM, "elmo": ELMo, "gpt": GPT}
SIZES = ("num_words", "width", "layers", "length")
_MOST = {"num_words": 10**6, "width": 2**14, "layers": 2**10, "length": 2**16}


def save_member(
    folder: Path, name: str, model: Any, wordpiece: Tokenizer, sizes: Mapping[str, int], **facts: Any
) -> None:
    """Write a member's folder, whole or not at all. Args: sizes: those of SIZES. facts: more to tell."""
    about = ABOUT[name]
    document = {"member": name, "name": about.said, "paper": about.paper, **sizes, **facts}
    with replaced_folder(folder) as beside:
        text = json.dumps(document, indent=1, ensure_ascii=False)
        (beside / CONFIG).write_text(text, encoding="utf-8")
        if isinstance(model, NGram):
            np.savez_compressed(beside / COUNTS, allow_pickle=False, **model.arrays())
        elif isinstance(model, nn.Module):
            save_tensors(beside / WEIGHTS, model.state_dict())
        else:
            arrays = vars(model).items()
            save_tensors(beside / WEIGHTS, {key: torch.from_numpy(value.copy()) for key, value in arrays})
        wordpiece.save(beside)


def load_member(folder: Path) -> Member:
    """Return the member in a folder that `save_member` wrote. Raises: ModelError."""
    document = read_json_object(folder / CONFIG, kind=ModelError)
    name = document.get("member")
    if name not in ABOUT:
        raise ModelError(
            marked("engine", "{path} is not a member of a family, because its config.json names none."),
            path=folder,
        )
    sizes = [document.get(size) for size in SIZES]
    if not all(
        type(value) is int and 0 < value <= _MOST[size] for size, value in zip(SIZES, sizes, strict=True)
    ):
        raise _damaged(folder)
    try:
        return _read(folder, name, *(int(size or 0) for size in sizes))
    except UserError:
        raise
    except (OSError, KeyError, ValueError, RuntimeError, TypeError, IndexError, zipfile.BadZipFile) as error:
        raise _damaged(folder) from error


def _read(folder: Path, name: str, num_words: int, width: int, layers: int, length: int) -> Member:
    if name == "ngram":
        with open_regular(folder / COUNTS) as file, np.load(file, allow_pickle=False) as arrays:
            model = NGram.from_arrays(dict(arrays))
        if len(model.first) != num_words:
            raise ValueError(name)
        return model
    tensors = {key: value.float() for key, value in load_tensors(folder / WEIGHTS).items()}
    if name == "gpt":
        tensors.setdefault("b", torch.zeros(num_words))  # one of before had none
    if name in NEURAL:
        network = NEURAL[name].new(num_words, width, layers, length, 0)
        network.load_state_dict(tensors)
        return network.eval().requires_grad_(False)
    arrays = {key: value.numpy() for key, value in tensors.items()}
    kind: Callable[..., Member] = GloVe if name == "glove" else Word2Vec
    if any(len(array) != num_words for array in arrays.values()):
        raise ValueError(name)
    return kind(**arrays)


def is_family(folder: Path) -> bool:
    """Whether a folder holds a family that was begun."""
    return (Path(folder) / SETTINGS).is_file()


def family_of(folder: Path) -> Path | None:
    """Return the family that a folder is, or a part of: a member, or a training of all; None: of none."""
    places = (folder, folder.parent, folder.parent.parent)
    return next((place for place in reversed(places) if is_family(place)), None)


def read_family(folder: Path) -> FamilyConfig:
    """Return the settings of a family. Raises: RunError, ConfigError."""
    return with_values(FamilyConfig(), _settings(folder))


def has_unequal_starts(folder: Path) -> bool:
    """Whether a family is one of before, whose members did not begin alike. Raises: as `read_family`."""
    return "starts" not in _settings(folder)


def _settings(folder: Path) -> dict[str, Any]:
    if not is_family(folder):
        raise RunError(
            marked("engine", "{path} is not a family: it has no {name}. Train one with: {command} family"),
            path=folder,
            command=" ".join(command_words()),
            name=SETTINGS,
        )
    return from_toml(Path(folder) / SETTINGS)


def _damaged(folder: Path) -> ModelError:
    return ModelError(
        marked("engine", "{path} is damaged, so this member cannot be asked. Train it again."), path=folder
    )
