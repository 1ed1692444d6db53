"""A child process for test_child: makes a file, says something, and waits until it is ended."""

from __future__ import annotations

import time
from pathlib import Path

from engine.child import Line, Tell, serve, tell_event
from engine.errors import Sentence, UserError, VerbatimText
from engine.events import Progress


def answer(asked: Line, tell: Tell) -> Line:
    path = Path(asked["path"])
    path.touch()
    try:
        print("what a library prints is not for the parent")
        tell(
            "noted",
            Sentence("{what} is {whole}", {"what": VerbatimText("x"), "whole": Sentence("a {n}", {"n": 2})}),
        )
        tell_event(Progress(stage="Waiting", done=1, total=2), tell)
        if asked["how"] == "refuse":
            raise UserError("{path} is refused", path=path)
        if asked["how"] == "fail":
            raise ValueError("a fault of its own")
        while asked["how"] == "wait":
            time.sleep(0.05)
        return {"path": path, "said": (Sentence("done"),)}
    finally:
        path.unlink()


if __name__ == "__main__":
    serve(answer, tidies_up=True)
