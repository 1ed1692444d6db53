"""What is started where it trains: `agent FOLDER` answers over ssh, `job HOME [LOCK]` is a run's process."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from engine.remote.agent import serve
from engine.remote.jobs import job_at


def main(words: list[str]) -> int:
    """Return the exit code."""
    if words[0] == "job":
        return job_at(Path(words[1])).be(int(words[2]) if len(words) > 2 else None)
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints is not for the line
    serve(os.fdopen(0, "rb"), sink, Path(words[1]).expanduser())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
