"""Make cloze.gif of README from the frames that the demonstration leaves.

    .venv/bin/cloze demo --out DIR
    .venv/bin/python assets/pictures/animate.py DIR

Needs the extra `bench` (Pillow).
"""

from __future__ import annotations

import sys
from pathlib import Path

from PIL import Image

WIDTH = 960  # px
SHORT_MS, LONG_MS = 700, 2200  # a frame of the training; any other
COLORS = 96


def animate(folder: Path, out: Path) -> None:
    """Write the frames of a demonstration, in order, as one animation that repeats."""
    paths = sorted((folder / "frames").glob("*.png"))
    frames = [_small(path) for path in paths]
    times = [SHORT_MS if path.stem.endswith("running") else LONG_MS for path in paths]
    frames[0].save(out, save_all=True, append_images=frames[1:], duration=times, loop=0, optimize=True)


def _small(path: Path) -> Image.Image:
    frame = Image.open(path).convert("RGB")
    size = (WIDTH, round(frame.height * WIDTH / frame.width))
    return frame.resize(size, Image.Resampling.LANCZOS).quantize(COLORS)


if __name__ == "__main__":
    animate(Path(sys.argv[1]), Path(__file__).with_name("cloze.gif"))
