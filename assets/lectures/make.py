"""Makes the lectures kept from pages anew, where a page keeps scenes otherwise or a model has changed.

    python -m assets.lectures.make [reading] [counting]

Each is made by its own file, make_NAME.py, which has `FILE` and `make(stage)`; no display is needed.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from app.lectures.lecture import write_lecture
from assets.lectures.stage import Stage

HERE = Path(__file__).parent
FROM_PAGES = ["reading", "counting"]  # make_tuned.py works without a window, and is run by itself


def main(names: list[str]) -> int:
    """Make these lectures; both without a name."""
    found = names or FROM_PAGES
    with Stage() as stage:
        for name in found:
            maker = importlib.import_module(f"assets.lectures.make_{name}")
            write_lecture(HERE / maker.FILE, maker.make(stage))
            print(f"{maker.FILE}: {len(stage.scenes)} scenes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
