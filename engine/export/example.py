"""The short program beside a graph: it answers a text by onnxruntime, tokenizers and numpy alone."""

from __future__ import annotations

from engine.export.heads import CLASSES, OUTPUTS, Graph

EXAMPLE = "answer.py"


def example_code(graph: Graph) -> str:
    """Return a short program that answers a text by onnxruntime, tokenizers and numpy alone."""
    labels = f"LABELS = {list(graph.labels)!r}\n" if graph.labels else ""
    say = _SAY.get(graph.problem if graph.kind == CLASSES else "") or _SAY[graph.kind]
    return (
        _CODE.replace("@OUTPUTS@", repr(list(OUTPUTS[graph.kind])))
        .replace("@LABELS@", labels)
        .replace("@LONGEST@", str(graph.longest))
        .replace("@SAY@", say)
        .replace("@TEMPERATURE@", f" / {graph.temperature!r}" if graph.temperature != 1 else "")
    )


_SAY = {
    "masked-words": """for place, token in enumerate(encoding.tokens):
    if token == "[MASK]":
        best = scores["logits"][0, place].argsort()[::-1][:5]
        print([tokenizer.id_to_token(int(number)) for number in best])""",
    "classes": """logits = scores["logits"][0]@TEMPERATURE@
shares = np.exp(logits - logits.max())
print(dict(zip(LABELS, (shares / shares.sum()).tolist())))""",
    "multi_label_classification": """shares = 1 / (1 + np.exp(-scores["logits"][0]))
print(dict(zip(LABELS, shares.tolist())))""",
    "regression": """print(float(scores["logits"][0, 0]))""",
    "tags": """for token, row in zip(encoding.tokens, scores["logits"][0]):
    print(token, LABELS[int(row.argmax())])""",
    "questions": """inside = np.array(encoding.sequence_ids) == 1  # the passage, not the question
begin, end = (
    int(np.where(inside, scores[name][0], -np.inf).argmax()) for name in ("start_logits", "end_logits")
)
print(sys.argv[2][encoding.offsets[begin][0] : encoding.offsets[end][1]])""",
    "encoder": """print(scores["last_hidden_state"][0].mean(0).tolist())""",
}
_CODE = '''"""Answers a text by onnxruntime alone: python answer.py TEXT [SECOND TEXT]"""

import sys
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

@LABELS@here = Path(__file__).parent
tokenizer = Tokenizer.from_file(str(here / "tokenizer.json"))
tokenizer.enable_truncation(@LONGEST@)
session = onnxruntime.InferenceSession(str(here / "model.onnx"), providers=["CPUExecutionProvider"])
encoding = tokenizer.encode(*sys.argv[1:3])
given = {
    "input_ids": np.array([encoding.ids]),
    "attention_mask": np.array([encoding.attention_mask]),
    "token_type_ids": np.array([encoding.type_ids]),
}
scores = dict(zip(@OUTPUTS@, session.run(None, given)))
@SAY@
'''
