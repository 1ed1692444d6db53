"""Labels within the texts of a file of one column: what to write instead, for they are not read so.

"DESC:manner How did ..." as TREC has them, "__label__good ..." as fastText, "The_DT dog_NN" or "The/at
dog/nn" as corpora with tagged words.
"""

from __future__ import annotations

import re

from engine.errors import Sentence, marked
from engine.text.table import Table

_LOOKED_AT = 500  # lines, spread over the file
_LEAST = 3  # lines that tell it
_MOST = 0.95  # of them at least
_LABEL = re.compile(r"(__label__\S+|[^\W\d_]\w*:\w+)\s+\S")
_TAGGED = re.compile(r"\S+[_/]([A-Za-z][A-Za-z0-9$*+-]{0,9}|[^\w\s]{1,5})")


def labels_inside(table: Table) -> Sentence | None:
    """Return what to say of a table of one column whose texts hold their labels; None where none do."""
    if len(table.columns) != 1:
        return None
    step = -(-table.num_rows // _LOOKED_AT) or 1
    cells = table.frame[table.columns[0]].array[::step].tolist()
    lines = [line for line in map(str.strip, cells) if line]
    if len(lines) < _LEAST:
        return None
    begins = [found for line in lines if (found := _LABEL.match(line))]
    labels = {found[1] for found in begins}
    if len(begins) >= _MOST * len(lines) and 2 <= len(labels) <= max(2, 0.7 * len(lines)):
        return Sentence(_BEFORE, {"name": table.path.name, "label": begins[0][1][:40]})
    words = [word for line in lines for word in line.split()]
    if sum(map(bool, map(_TAGGED.fullmatch, words))) >= _MOST * len(words):
        return Sentence(_TAGS, {"name": table.path.name, "word": words[0][:40]})
    return None


_BEFORE = marked(
    "engine",
    "The lines of {name} begin with what looks like a label, such as {label}, and a "
    "blank. Replace that blank with a tab, so that label and text are two columns.",
)
_TAGS = marked(
    "engine",
    "The words of {name} seem to carry tags, such as {word}. Write one word per "
    "line, a tab, and its tag, with a blank line after each sentence.",
)
