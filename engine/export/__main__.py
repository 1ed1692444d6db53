"""The child process that exports: one kind, as the window asks for it, told of as it goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from engine.child import Line, Tell, serve, tell_event
from engine.events import Steps
from engine.export.archive import writing_zip
from engine.export.folders import writing_folder, writing_sentence_folder
from engine.export.int8 import quantizing
from engine.export.onnx import exporting
from engine.export.tried import texts_for
from engine.settings.config import with_values
from engine.settings.finetune import FineTuneConfig


def answer(asked: Line, tell: Tell) -> Line:
    """Export, and return where it is, what is said of it, and the 8-bit numbers that wait beside it."""
    steps = exported(asked)
    while True:
        try:
            tell_event(next(steps), tell)
        except StopIteration as end:
            found: Line = end.value
            return found


def exported(asked: Line) -> Steps[Line]:
    """Write a model for another tool. Raises: UserError; nothing is left then."""
    model, out = Path(asked["model"]), Path(asked["out"])
    small: Any = None
    if asked["kind"] == "transformers":
        folder = yield from writing_folder(model, out)
        path, said = folder.path, folder.said
    elif asked["kind"] == "sentence-transformers":
        folder = yield from writing_sentence_folder(model, out, asked["pooling"], asked["is_normed"])
        path, said = folder.path, folder.said
    elif asked["kind"] == "zip":
        texts = yield from texts_for(model)
        packed = yield from writing_zip(model, out, texts)
        path, said = packed.path, packed.said
    else:
        texts = yield from texts_for(model)
        graph = yield from exporting(model, out, texts)
        path, said = graph.folder, graph.said
        if asked["with_int8"]:
            config = with_values(FineTuneConfig(), {"data": asked["data"]})
            small = yield from quantizing(model, out, texts, config.data if asked["data"] else None)
    waiting = small and {"path": str(small.path), "said": small.said}
    return {"path": str(path), "said": said, "small": waiting}


if __name__ == "__main__":
    serve(answer, tidies_up=True)
