"""Mix the text of the Chinese starter: modern prose several times, old novels and laws in part.

    python -m assets.models.chinese_text --corpora DIR --stories cft.zip --out DIR

corpora: the folder with zh-general, zh-laws and zh-opensource (`.txt.xz`), and zh-general-attribution.tsv.
stories: children's stories and school compositions, with questions about a blank, which are dropped; the
half that people wrote questions for is kept apart, to be asked. A quarter of the documents is written in
traditional characters by OpenCC (`pip install opencc`, for this script alone). Whole documents are held
out before any is repeated: chinese-held-out.txt, simplified, each line of it in no document of chinese.txt.
"""

from __future__ import annotations

import argparse
import lzma
import random
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

TEXT, HELD_OUT = "chinese.txt", "chinese-held-out.txt"
ATTRIBUTION = "chinese-attribution.tsv"  # of the texts that are not in the public domain
GENERAL, LAWS, ARTICLES = "zh-general", "zh-laws", "zh-opensource"
STORIES = "stories"
READ, ASKED = "cft/cft.test.auto", "cft/cft.test.human"  # in cft.zip
TIMES = {  # how often a document of a kind is in the text: 0.3 is three of ten documents, once
    "classical novel": 0.3,
    "modern fiction and essays": 3.0,
    "Bible (Union Version, 1919)": 0.3,
    "Wikipedia": 3.0,
    "textbook": 2.0,
    "documentation": 1.0,
    LAWS: 0.2,
    ARTICLES: 2.0,
    STORIES: 3.0,
}
HELD_OUT_EVERY = 60  # one document of so many, of each kind
TRADITIONAL_SHARE = 0.25
SEED = 42
QUESTION = "|||"


@dataclass(frozen=True, slots=True)
class Document:
    """A text of the mixture. kind: of `TIMES`. text: a paragraph a line, no empty line."""

    kind: str
    text: str


def main(argv: Sequence[str] | None = None) -> int:
    """Write the text and what is held out of it."""
    parser = argparse.ArgumentParser(prog="python -m assets.models.chinese_text", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    for name in ("corpora", "stories", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    chosen = parser.parse_args(argv)
    write(chosen.corpora, chosen.stories, chosen.out)
    return 0


def write(corpora: Path, stories: Path, out: Path) -> None:
    """Write the text, and what is held out of it, into a folder."""
    kept, held_out = divided(read(corpora, stories))
    out.mkdir(parents=True, exist_ok=True)
    for name, documents in ((TEXT, in_both_scripts(mixture(kept))), (HELD_OUT, held_out)):
        (out / name).write_text("\n\n".join(one.text for one in documents) + "\n", encoding="utf-8")
        print(f"{name}: {len(documents):,} documents, {sum(len(one.text) for one in documents):,} characters")
    (out / ATTRIBUTION).write_text("\n".join(attributions(corpora)) + "\n", encoding="utf-8")


def attributions(corpora: Path) -> Iterator[str]:
    """Yield a line for each text that is not in the public domain, with its author or address and licence."""
    yield "kind\ttitle\tauthor or site\tlicence"
    for line in (corpora / f"{GENERAL}-attribution.tsv").read_text(encoding="utf-8").splitlines()[1:]:
        kind, title, author, licence = line.split("\t")[:4]
        if not licence.startswith("public domain"):
            yield "\t".join((kind, title, author, licence))
    for line in (corpora / f"{ARTICLES}-attribution.tsv").read_text(encoding="utf-8").splitlines():
        yield "\t".join(("article", *line.split("\t")[:2], "CC BY-SA 4.0"))
    yield "\t".join((STORIES, "Chinese Cloze Dataset", "Cui et al. 2016 (HFL-RC)", "CC BY-SA 4.0"))


def read(corpora: Path, stories: Path) -> Iterator[Document]:
    """Yield all documents, each with its kind."""
    listed = (corpora / f"{GENERAL}-attribution.tsv").read_text(encoding="utf-8").splitlines()[1:]
    kinds = [line.split("\t", 1)[0] for line in listed]
    for kind, text in zip(kinds, _documents(corpora, GENERAL), strict=True):
        yield Document(kind, text)
    for name in (LAWS, ARTICLES):
        yield from (Document(name, text) for text in _documents(corpora, name))
    yield from (Document(STORIES, text) for text, _ in told(stories, READ))


def divided(documents: Iterator[Document]) -> tuple[list[Document], list[Document]]:
    """Return the documents to train on, and those held out: one of so many of each kind."""
    parts: tuple[list[Document], list[Document]] = ([], [])
    counted = dict.fromkeys(TIMES, 0)
    for document in documents:
        counted[document.kind] += 1
        parts[counted[document.kind] % HELD_OUT_EVERY == 0].append(document)
    kept, held_out = parts
    shown = {line for document in held_out for line in document.text.split("\n")}
    without = (_without(document, shown) for document in kept)
    return [document for document in without if document.text], held_out


def mixture(documents: Sequence[Document], seed: int = SEED) -> list[Document]:
    """Return the documents as often as their kind asks, in random order."""
    chance = random.Random(seed)
    mixed = []
    for document in documents:
        whole, part = divmod(TIMES[document.kind], 1)
        mixed += [document] * (int(whole) + (chance.random() < part))
    chance.shuffle(mixed)
    return mixed


def in_both_scripts(documents: Sequence[Document], seed: int = SEED) -> list[Document]:
    """Return the documents, a quarter of them in traditional characters."""
    chance = random.Random(seed)
    chosen = [chance.random() < TRADITIONAL_SHARE for _ in documents]
    converted = iter(traditional([one for one, is_it in zip(documents, chosen, strict=True) if is_it]))
    return [next(converted) if is_it else one for one, is_it in zip(documents, chosen, strict=True)]


def traditional(documents: Sequence[Document]) -> list[Document]:
    """Return the documents in traditional characters. Needs the package opencc."""
    from opencc import OpenCC

    converter = OpenCC("s2t")
    return [Document(one.kind, converter.convert(one.text)) for one in documents]


def _documents(corpora: Path, name: str) -> list[str]:
    with lzma.open(corpora / f"{name}.txt.xz", "rt", encoding="utf-8") as file:
        found = file.read().split("\n\n")
    return [text for text in (_paragraphs(one) for one in found) if text]


def _paragraphs(text: str) -> str:
    return "\n".join(line.strip() for line in text.split("\n") if line.strip())


def told(path: Path, part: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each story, and the question about it: a sentence with a blank, and the word for it.

    A story is numbered lines, their words split by spaces. In its last line a word is XXXXX, and comes after.
    """
    with zipfile.ZipFile(path) as archive:
        lines = archive.read(part).decode("utf-8").split("\n")
    story: list[str] = []
    for line in lines:
        _, _, rest = line.partition(QUESTION)
        sentence, _, answer = rest.partition(QUESTION)
        words = "".join(sentence.split())
        if not answer:
            story += [words] if words else []
        elif story:
            yield "\n".join(story), (words, answer.strip())
            story = []


def _without(document: Document, lines: set[str]) -> Document:
    return Document(document.kind, "\n".join(one for one in document.text.split("\n") if one not in lines))


if __name__ == "__main__":
    raise SystemExit(main())
