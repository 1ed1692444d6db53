"""What the lectures are told with, a file for each language: texts, models, and what is said of each scene.

Numbers and words in braces are put in where a lecture is made, from what the models give. A language is a
file here with READING, COUNTING and TUNING, and its line in `LANGUAGES`.
"""

from __future__ import annotations

from assets.lectures.told import chinese, english
from assets.lectures.told.parts import Counting, Reading, Tuning
from engine.language import ENGLISH

READING: dict[str, Reading] = {ENGLISH: english.READING, "zh": chinese.READING}
COUNTING: dict[str, Counting] = {ENGLISH: english.COUNTING, "zh": chinese.COUNTING}
TUNING: dict[str, Tuning] = {ENGLISH: english.TUNING, "zh": chinese.TUNING}
