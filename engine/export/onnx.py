"""A model folder as ONNX: one graph for any batch and any length, with what another program needs beside it.

Not to be broken: it is run by onnxruntime at three shapes and on texts, beside this engine, before the folder
is there; what differs by more than TOLERANCE is not kept.
"""

from __future__ import annotations

import logging
import shutil
import warnings
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import torch

from engine.errors import ModelError, Sentence, marked
from engine.events import Beat, Progress, Steps
from engine.export.card import CARDS, Use, write_card
from engine.export.example import EXAMPLE, TOLERANCE, check_example, example_code, program_of
from engine.export.heads import INPUTS, Graph, example, graph_of
from engine.export.place import check_new, exported_folder
from engine.export.runtime import batches, needed, open_session, ours, read_part, theirs
from engine.files import file_in
from engine.model.weights import read_config
from engine.text.read_tokenizer import read_tokenizer
from engine.text.tokenizer import Tokenizer

GRAPH, SMALL = "model.onnx", "model.int8.onnx"
FILES = {GRAPH, SMALL, EXAMPLE, *CARDS, "config.json", "cloze.json", "vocab.txt", "vocab.json", "merges.txt"}
FILES |= {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"}  # these alone: written anew
ONNX = Use("onnx", '```sh\npython answer.py "A text"    # needs onnxruntime, tokenizers and numpy alone\n```')
SHAPES = ((1, 1), (3, 128), (2, 512))
OPSET = 20
_BESIDE = ("config.json", "cloze.json")  # the vocabulary is written anew
_EXPORTING = marked("engine", "Exporting")
_CHECKING = marked("engine", "Checking in onnxruntime")


@dataclass(frozen=True, slots=True)
class OnnxExport:
    """What was written. difference: the largest of any score, at the shapes and on the texts.

    num_bytes: of the graph. num_texts: that it was tried on. num_answered: texts and pairs that the program
    beside it was run on.
    """

    folder: Path
    num_bytes: int
    difference: float
    num_texts: int
    num_answered: int

    @property
    def said(self) -> tuple[Sentence, ...]:
        """What was checked, for a person."""
        template = marked(
            "engine",
            "{megabytes:.1f} MB. onnxruntime answers as Cloze does within {difference:.1g}, "
            "at 3 shapes and on {count} texts.",
        )
        values = {"megabytes": self.num_bytes / 1e6, "difference": self.difference, "count": self.num_texts}
        beside = marked(
            "engine",
            "answer.py, the program that comes with it, answers {count} texts and pairs as Cloze does.",
        )
        return (Sentence(template, values), Sentence(beside, {"count": self.num_answered}))


def exporting(folder: Path, out: Path, texts: Sequence[str]) -> Steps[OnnxExport]:
    """Write a model folder as ONNX into a new folder, or over an earlier export; yields Progress.

    Args:   texts: that the graph is tried on beside the engine, 200 or so.
    Raises: UserError: the packages for it are missing, `out` is there already, or onnxruntime answers
            otherwise than this engine. ModelError.
    """
    needed()
    check_new(out, FILES)
    graph, wordpiece = graph_of(folder), read_tokenizer(folder)
    program = program_of(graph, folder)
    size = read_config(folder).vocab_size
    yield Progress(stage=_EXPORTING, done=0, total=0)
    with exported_folder(out) as beside:
        _write_graph(graph, beside / GRAPH, size)
        yield Beat()
        session = open_session(beside / GRAPH)
        difference = yield from _compared(graph, session, wordpiece, size, texts)
        for name in _BESIDE:
            if (path := file_in(folder, name)) is not None:
                shutil.copyfile(path, beside / name)
        wordpiece.save(beside, model_max_length=graph.max_length)
        (beside / EXAMPLE).write_text(example_code(graph, program, wordpiece), encoding="utf-8")
        yield Beat()
        num_answered = check_example(graph, program, wordpiece, beside / EXAMPLE)
        num_bytes = (beside / GRAPH).stat().st_size
        found = OnnxExport(out, num_bytes, difference, len(texts), num_answered)
        write_card(folder, beside, found.said, ONNX)
    return found


def _write_graph(graph: Graph, path: Path, vocab_size: int) -> None:
    batch = torch.export.Dim("batch", min=1, max=4096)
    sequence = torch.export.Dim("sequence", min=1, max=graph.longest)
    given = example(2, min(9, graph.longest), vocab_size)
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings(), redirect_stdout(StringIO()), torch.no_grad():
            warnings.simplefilter("ignore")  # of the exporter's own inside
            program = torch.onnx.export(
                graph.module,
                given,
                dynamo=True,
                dynamic_shapes=({0: batch, 1: sequence},) * len(INPUTS),
                input_names=list(INPUTS),
                output_names=list(graph.outputs),
                opset_version=OPSET,
                external_data=False,
            )
            assert program is not None
            _fold_weights(program.model)
            path.write_bytes(_without_places(program.model_proto).SerializeToString(deterministic=True))
    finally:
        logger.setLevel(level)


def _fold_weights(model: Any) -> None:
    """Cut the weights that a graph cuts: only what is a weight is made 8 bits of."""
    from onnxscript.optimizer import optimize_ir

    most = max((value.const_value.size for value in model.graph.initializers.values()), default=0)
    optimize_ir(model, num_iterations=1, input_size_limit=most, output_size_limit=most)


def _without_places(model: Any) -> Any:
    """Return a graph without what the exporter notes beside it: paths of this machine, lines of code."""
    graph = model.graph
    del model.metadata_props[:], graph.metadata_props[:]
    for part in (*graph.node, *graph.value_info, *graph.input, *graph.output, *graph.initializer):
        part.doc_string = ""
        del part.metadata_props[:]
    assert not model.functions  # which would have notes of their own
    return model


def _compared(
    graph: Graph, session: Any, wordpiece: Tokenizer, vocab_size: int, texts: Sequence[str]
) -> Steps[float]:
    """Return the largest difference of any score. Raises: ModelError if it is above TOLERANCE."""
    tried = [example(rows, min(length, graph.longest), vocab_size, seed=1) for rows, length in SHAPES]
    tried += batches(graph, wordpiece, texts)
    largest = 0.0
    for done, batch in enumerate(tried):
        yield Progress(stage=_CHECKING, done=done, total=len(tried))
        for here, there in zip(ours(graph, batch), theirs(session, batch), strict=True):
            read = read_part(graph, here, batch)
            largest = max(largest, float(np.abs(here[read] - there[read]).max(initial=0.0)))
    if not largest <= TOLERANCE:
        template = marked(
            "engine", "onnxruntime answers differently, by {difference:.2g}, so nothing was kept."
        )
        raise ModelError(template, difference=largest)
    return largest
