"""Makes the lectures in the box anew, where a page keeps scenes otherwise or a model has changed.

    python -m assets.lectures.make [--language zh] [reading] [counting] [tuned]

Each is made by its own file, make_NAME.py, in every language that it is told in (`assets/lectures/told`); no
display is needed. What the models do not say is not written.
"""

from __future__ import annotations

import argparse
import importlib

from app.lectures.lecture import write_lecture
from app.shipped import assets
from assets.lectures.stage import Stage

NAMES = ("reading", "counting", "tuned")


def main() -> int:
    """Make these lectures; all of them without a name."""
    parser = argparse.ArgumentParser(prog="python -m assets.lectures.make", description=__doc__)
    parser.add_argument("--language", help="in this language alone, such as zh")
    parser.add_argument("names", nargs="*", choices=(*NAMES, []), metavar="NAME")
    chosen = parser.parse_args()
    for name in chosen.names or NAMES:
        maker = importlib.import_module(f"assets.lectures.make_{name}")
        for language, said in maker.TELLINGS.items():
            if chosen.language in (None, language):
                with Stage(language) as stage:
                    made = maker.make(stage, language)
                    write_lecture(assets() / "lectures" / said.file, made)
                    print(f"{said.file}: {len(made.scenes)} scenes")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
