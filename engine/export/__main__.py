"""The child process that exports: one target, as the window asks for it, told of as it goes on."""

from __future__ import annotations

from engine.child import Line, Tell, serve, tell_event
from engine.export.targets.known import TARGETS


def answer(asked: Line, tell: Tell) -> Line:
    """Export, and return where it is, what is said of it, and the 8-bit numbers that wait beside it.

    Raises: UserError; nothing is left then.
    """
    target = next(one for one in TARGETS if one.flag.name == asked["target"]).from_line(asked)
    steps = target.writing()
    while True:
        try:
            tell_event(next(steps), tell)
        except StopIteration as end:
            found = end.value
            waiting = found.small and {"path": str(found.small.path), "said": found.small.said}
            return {"path": str(found.path), "said": found.said, "small": waiting}


if __name__ == "__main__":
    serve(answer, tidies_up=True)
