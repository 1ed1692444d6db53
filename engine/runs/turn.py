"""One training at a time: the window's and the queue's wait for each other, whoever came first goes first.

It is a lock beside the runs, which dies with its process. Where it cannot be taken at all, as in a folder
that nobody may write to, nobody waits.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from engine.errors import RunError, UserError, marked
from engine.events import Event, Progress
from engine.train.run.lock import locked

COMPUTING = ".computing"
LOOK_S = 0.3  # between two looks whether the other has ended
WAITING = marked("engine", "Waiting for another training to end")


def in_turn(root: Path, task: Callable[[], Iterator[Event]]) -> Iterator[Event]:
    """Run a task once no other training of these runs is under way; Progress until then."""
    with ExitStack() as held:
        while not _takes(held, root / COMPUTING):
            yield Progress(stage=WAITING, done=0, total=0)
            time.sleep(LOOK_S)
        yield from task()


def _takes(held: ExitStack, path: Path) -> bool:
    try:
        held.enter_context(locked(path))
    except RunError:
        return False
    except UserError:
        return True
    return True
