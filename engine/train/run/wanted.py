"""What somebody wants of a run that trains in another process: a file in its folder, heard at its next yield.

The same file asks a run that trains on another computer: whoever mirrors that run here passes it on.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from contextlib import closing
from pathlib import Path

from engine.durable import explained
from engine.errors import RunError, marked
from engine.events import Beat, Event
from engine.files import is_small_text
from engine.train.run.runs import CONFIG

WANTED = "wanted"  # the file
NOTHING, PAUSE, STOP = "", "pause", "stop"
LOOK_S = 0.2  # between two looks
