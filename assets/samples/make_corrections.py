"""Put errors into sentences of Chinese laws: the sample of correcting text.

    python -m assets.samples.make_corrections zh-laws.txt.xz [FOLDER]

Real sentences, made errors: a character is replaced by another one of the same sound, whatever its tone,
drawn by how often that stands in the laws. Sounds are those of pypinyin 0.55.0 (MIT), which only this needs:
pip install pypinyin==0.55.0. The same source gives the same bytes.
"""

from __future__ import annotations

import csv
import lzma
import random
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path

NUM_SENTENCES = 780
LENGTHS = (14, 44)  # characters of a sentence
LEAST_OFTEN = 200  # times that a character stands in the laws, to be taken for another
WITH_ERROR = 0.5  # share of the sentences, of which one in five has a second one
WITH_SECOND = 0.2
ALIKE = set("他她它牠祂那哪")  # of which nobody can tell by the sentence alone which belongs there
SEED = 2015
_HAN = re.compile("[\u4e00-\u9fff]")
_SENTENCE = re.compile("[^。！？；\n]+[。！？；]")
_PLAIN = re.compile("[\u4e00-\u9fff，。！？；、：“”《》（）0-9]+")


def sentences(path: Path) -> list[str]:
    """Return the sentences of the laws in their order, each once; of plain Chinese characters."""
    found: dict[str, None] = {}
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for paragraph in file:
            for one in _SENTENCE.findall(paragraph):
                text = one.strip()
                balanced = all(text.count(a) == text.count(b) for a, b in ("“”", "《》", "（）"))
                if LENGTHS[0] <= len(text) <= LENGTHS[1] and _PLAIN.fullmatch(text) and balanced:
                    found[text] = None
    return list(found)


def same_sounds(texts: list[str]) -> dict[str, list[tuple[str, int]]]:
    """Return character -> others of the same sound, each with how often it stands in the texts."""
    from pypinyin import Style, pinyin

    counts = Counter(character for text in texts for character in text if _HAN.fullmatch(character))
    by_sound: dict[str, list[str]] = defaultdict(list)
    for character in sorted(counts):
        if counts[character] >= LEAST_OFTEN and character not in ALIKE:
            by_sound[pinyin(character, style=Style.NORMAL)[0][0]].append(character)
    return {
        one: [(other, counts[other]) for other in group if other != one]
        for group in by_sound.values()
        for one in group
        if len(group) > 1
    }


def with_errors(text: str, others: dict[str, list[tuple[str, int]]], rng: random.Random) -> str:
    """Return a sentence with an error, or two."""
    places = [place for place, character in enumerate(text) if character in others]
    rng.shuffle(places)
    letters = list(text)
    for place in places[: 1 + (rng.random() < WITH_SECOND)]:
        names, weights = zip(*others[text[place]], strict=True)
        letters[place] = rng.choices(names, weights)[0]
    return "".join(letters)


def main(source: Path, folder: Path) -> None:
    texts, rng = sentences(source), random.Random(SEED)
    others = same_sounds(texts)
    step = len(texts) / NUM_SENTENCES  # spread over all laws
    rows = []
    for number in range(NUM_SENTENCES):
        right = texts[int(number * step)]
        rows.append((with_errors(right, others, rng) if rng.random() < WITH_ERROR else right, right))
    with (folder / "chinese_corrections.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("text", "right"), *rows])


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:]]
    if len(given) not in (1, 2):
        sys.exit(__doc__)
    main(given[0], given[1] if given[1:] else Path(__file__).parent)
