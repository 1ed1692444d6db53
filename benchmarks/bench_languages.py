"""How often the language of a text is guessed right: alone, in a table of its language, among English rows.

    python -m benchmarks.bench_languages tests/data/sentences
    python -m benchmarks.bench_languages help --from usr/share/help

A folder has a file for each language, called as Cloze calls it (Spanish.txt), a sentence a line. `--from`
writes one from a folder of GNOME's help in many languages (Debian's package gnome-user-docs, CC BY-SA,
unpacked by `dpkg -x`): sentences of eight words or more, those left untranslated not among them. Other
sources: the translations (locale/*/LC_MESSAGES/*.po) that come with Django or Wagtail, Debian's fortunes-de,
-es, -it, -pl and -ru.

Told for each language: of how many sentences, cut behind the eighth word (of Chinese and Japanese, the
fourteenth character), it is guessed alone; in tables of fifty of them; and of how many in a table of English
rows, one in twenty. With `CLOZE_DATA`, how many rows of English sets are told as of another language.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from benchmarks.labelled_sets import SETS
from benchmarks.measure import machine
from engine.text.languages import language_of, usual_languages

WORDS, CHARACTERS, TABLE, MIXED, SHARE = 8, 14, 50, 1000, 0.05
CHINESE_SETS = ("chnsenticorp", "thucnews", "csldcp")
TEN = {
    "English",
    "German",
    "French",
    "Spanish",
    "Italian",
    "Portuguese",
    "Dutch",
    "Polish",
    "Russian",
    "Chinese",
}
FOLDERS = {  # of GNOME's help
    "C": "English",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "hr": "Croatian",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "pl": "Polish",
    "pt_BR": "Portuguese",
    "ru": "Russian",
    "sr": "Serbian",
    "sv": "Swedish",
    "uk": "Ukrainian",
    "vi": "Vietnamese",
    "zh_CN": "Chinese",
}
_PARAGRAPH = "{http://projectmallard.org/1.0/}p"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what is guessed of each language, and of English sets."""
    parser = argparse.ArgumentParser(prog="bench_languages", description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="a file of sentences for each language")
    parser.add_argument("--from", dest="pages", type=Path, help="write the folder from GNOME's help here")
    parser.add_argument("--sentences", type=int, default=200, help="of each language; default: 200")
    chosen = parser.parse_args(arguments)
    print(machine(), flush=True)
    if chosen.pages:
        write_sentences(chosen.pages, chosen.folder)
    texts = {
        path.stem: list(map(shortened, path.read_text(encoding="utf-8").splitlines()[: chosen.sentences]))
        for path in sorted(chosen.folder.glob("*.txt"))
    }
    _measure(texts)
    if os.environ.get("CLOZE_DATA"):
        _english_sets()
    return 0


def shortened(sentence: str) -> str:
    """Return the first eight words of a sentence, or as much of one that is written without spaces."""
    return sentence[:CHARACTERS] if _is_unspaced(sentence) else " ".join(sentence.split()[:WORDS])


def in_tables(texts: Sequence[str]) -> list[str]:
    """Return the language of each text, guessed in tables of fifty."""
    found: list[str] = []
    for start in range(0, len(texts), TABLE):
        table = texts[start : start + TABLE]
        usual = usual_languages(table)
        found += [language_of(text, usual) for text in table]
    return found


def write_sentences(pages: Path, folder: Path) -> None:
    """Write a file of sentences for each language from the paragraphs of its help, in no order."""
    folder.mkdir(parents=True, exist_ok=True)
    english: set[str] = set()
    for name, language in FOLDERS.items():
        found = []
        for page in sorted((pages / name / "gnome-help").glob("*.page")):
            for each in ElementTree.parse(page).iter(_PARAGRAPH):
                found += re.split(r"(?<=[.!?])\s+|(?<=[。！？])", " ".join("".join(each.itertext()).split()))
        found = [one for one in dict.fromkeys(found) if one not in english and _is_long(one)]
        if language == "English":
            english = set(found)
        random.Random(0).shuffle(found)
        (folder / f"{language}.txt").write_text("".join(f"{one}\n" for one in found), encoding="utf-8")


def _is_unspaced(sentence: str) -> bool:
    return sum(char >= "\u3040" for char in sentence) * 2 > len(sentence) and sentence.count(" ") < 3


def _is_long(sentence: str) -> bool:
    return len(sentence) >= CHARACTERS if _is_unspaced(sentence) else len(sentence.split()) >= WORDS


def _measure(texts: dict[str, list[str]]) -> None:
    print(f"{'':12}{'texts':>6}{'alone':>8}{'in 50':>8}{'among English':>15}{'others':>8}")
    shares: dict[str, tuple[float, float]] = {}
    rng = random.Random(1)
    for language, some in texts.items():
        alone = [language_of(text) == language for text in some]
        together = [found == language for found in in_tables(some)]
        shares[language] = float(np.mean(alone)), float(np.mean(together))
        planted = rng.sample(some, min(len(some), int(SHARE * MIXED)))
        english = texts["English"] * (int(len(planted) / SHARE) // len(texts["English"]))
        usual = usual_languages([*english, *planted])
        found = [language_of(text, usual) for text in (*english, *planted)]
        hits = np.mean([one == language for one in found[len(english) :]])
        others = sum(one != "English" for one in found[: len(english)])
        print(
            f"{language:12}{len(some):6}{shares[language][0]:8.3f}{shares[language][1]:8.3f}{hits:15.3f}{others:8}"
        )
    for name, chosen in (("the ten", TEN & set(texts)), ("all", set(texts))):
        alone, together = np.mean([shares[language] for language in chosen], axis=0)
        print(f"{name:12}{sum(len(texts[one]) for one in chosen):6}{alone:8.3f}{together:8.3f}")


def _english_sets() -> None:
    for name, read in SETS.items():
        texts = [text for text, _label in read() if text.strip()]
        if name in CHINESE_SETS:
            continue
        start = time.process_time()
        usual = usual_languages(texts)
        found = Counter(language_of(text, usual) for text in texts)
        per_text = 1e6 * (time.process_time() - start) / len(texts)
        del found["English"], found["no letters"]
        print(f"{name:12}{len(texts):6} rows, {per_text:.0f} µs each, not English: {dict(found)}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
