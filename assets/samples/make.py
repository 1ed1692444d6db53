"""Make the sample tables of questions from XQuAD and CMRC 2018.

    python -m assets.samples.make xquad.en.json cmrc2018_trial.json [FOLDER]

The same sources give the same bytes: whatever is drawn follows from a hash of the names involved. Each
question and each passage stands in one row only, so that no row gives away another; passages may overlap.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.text.corpus.sentences import split_sentences

# Characters: sentences are added around the answer up to the first, longer passages are left out beyond the
# second. Both keep question and passage within 128 WordPieces.
ENGLISH = (200, 420)
CHINESE = (70, 98)

# What a Chinese question asks for, by the words it asks with; 为什么 at the end is mostly "is called what".
KINDS = {
    "原因": "为什么(?!？?$)|为何|什么原因|原因是什么|原因有哪些",
    "时间": "什么时候|什么时间|什么时期|何时|哪一?年|哪一?天|哪个月|几月|什么年代|哪个年代|哪个世纪|哪个时期"
    "|什么朝代|哪个朝代",
    "数量": "多少|几(?![乎何月])|多长|多大|多高|多远|多宽|多重|多久",
    "人物": "谁|哪些人|何人|什么人|哪位|哪几位|哪个人|哪两人",
    "地点": "哪里|哪儿|何地|何处|什么地方|哪个国家|哪个城市|哪个省|哪个地|哪些地|哪些国家|哪一地"
    "|哪个县|哪个市|哪个州",
}
NUMBERS = "[0-9０-９一二两三四五六七八九十百千万半数]"
ANSWERS = {"时间": NUMBERS + "|[年月日时代期末初朝]|世纪", "数量": NUMBERS}  # what such answers hold


@dataclass(frozen=True, slots=True)
class Passage:
    """Whole sentences of an article: characters begin to end of one of its paragraphs."""

    text: str
    paragraph: int
    begin: int
    end: int

    def overlaps(self, other: Passage) -> bool:
        return self.paragraph == other.paragraph and self.begin < other.end and other.begin < self.end


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its answer, and the passage around the answer."""

    text: str
    answer: str
    passage: Passage


@dataclass(frozen=True, slots=True)
class Article:
    """The questions about an article, and passages around every sentence of it."""

    title: str
    questions: tuple[Question, ...]
    passages: tuple[Passage, ...]


def draw(*names: object) -> int:
    """Return a number that follows from the names alone, on every machine."""
    key = "\n".join(map(str, names)).encode()
    return int.from_bytes(hashlib.sha256(key).digest()[:8], "big")


def read(path: Path, limits: tuple[int, int]) -> Iterator[Article]:
    """Yield the articles of a file in SQuAD's format.

    Left out are questions without text, asked twice, and those whose answer is not in the article or in a
    passage longer than the limit. An answer that does not stand where the file says is looked for.
    """
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        questions, passages = dict[str, Question](), list[Passage]()
        for number, paragraph in enumerate(article["paragraphs"]):
            context = paragraph["context"]
            spans = _sentences(context)
            passages += [_passage(context, spans, number, *span, limits[0]) for span in spans]
            for asked in paragraph["qas"]:
                text, answer = _tidy(asked["question"]), asked["answers"][0]["text"]
                at = asked["answers"][0]["answer_start"]
                if not context.startswith(answer, at):
                    at = context.find(answer)
                if text and at >= 0 and text not in questions:
                    passage = _passage(context, spans, number, at, at + len(answer), limits[0])
                    questions[text] = Question(text, answer, passage)
        short = [question for question in questions.values() if _length(question.passage) <= limits[1]]
        passages = [passage for passage in passages if _length(passage) <= limits[1]]
        yield Article(article["title"].replace("_", " "), tuple(short), tuple(passages))


def pairs(articles: Iterable[Article], *, other_paragraph: bool) -> list[tuple[str, ...]]:
    """Return question, passage, yes or no, title.

    Half of the questions stand beside the passage with their answer, half beside one without it, from another
    paragraph of the same article or from another place in it. No passage stands in two rows.
    """
    with_answer, without = list[tuple[str, ...]](), list[tuple[str, ...]]()
    for article in articles:
        order = sorted(article.questions, key=lambda one: draw(article.title, one.text))
        half = (len(order) + (len(without) > len(with_answer))) // 2
        used = set[str]()
        for question in order[:half]:
            if question.passage.text not in used:
                used.add(question.passage.text)
                with_answer.append((question.text, question.passage.text, "yes", article.title))
        others = [question.passage for question in order[half:]]
        for question in order[half:]:
            found = [
                (place, draw(question.text, passage.text), passage.text)
                for place, passages in enumerate((others, article.passages))
                for passage in passages
                if passage.text not in used
                and not passage.overlaps(question.passage)
                and not (other_paragraph and passage.paragraph == question.passage.paragraph)
                and question.answer.casefold() not in passage.text.casefold()
            ]
            if found:
                used.add(min(found)[2])
                without.append((question.text, min(found)[2], "no", article.title))
    size = min(len(with_answer), len(without))
    rows = [row for kind in (with_answer, without) for row in sorted(kind, key=lambda row: draw(*row))[:size]]
    return sorted(rows, key=lambda row: draw("rows", *row))


def kinds(articles: Iterable[Article]) -> list[tuple[str, ...]]:
    """Return question, what it asks for, title; questions that ask for two kinds or none are left out."""
    rows = []
    for article in articles:
        for question in article.questions:
            found = [kind for kind, words in KINDS.items() if re.search(words, question.text)]
            if len(found) == 1 and re.search(ANSWERS.get(found[0], ""), question.answer):
                rows.append((question.text, found[0], article.title))
    return sorted(rows, key=lambda row: draw("rows", *row))


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _length(passage: Passage) -> int:
    return passage.end - passage.begin


def _sentences(context: str) -> list[tuple[int, int]]:
    """Return where the sentences of a paragraph begin and end."""
    spans, at = list[tuple[int, int]](), 0
    for sentence in split_sentences(context):
        at = context.index(sentence, at)
        spans.append((at, at + len(sentence)))
        at += len(sentence)
    return spans


def _passage(
    context: str, spans: Sequence[tuple[int, int]], number: int, begin: int, end: int, limit: int
) -> Passage:
    """Return the sentences that hold characters begin to end, and others around them up to `limit`."""
    holding = [place for place, span in enumerate(spans) if span[0] < end and span[1] > begin]
    first, last = holding[0], holding[-1]
    while True:
        ways = [
            (one, two)
            for one, two in ((first - 1, last), (first, last + 1))
            if one >= 0 and two < len(spans) and spans[two][1] - spans[one][0] <= limit
        ]
        if not ways:
            begin, end = spans[first][0], spans[last][1]
            return Passage(_tidy(context[begin:end]), number, begin, end)
        first, last = ways[draw(context, begin, end, first, last) % len(ways)]


def _write(path: Path, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([columns, *rows])
    counts = Counter(row[columns.index("label")] for row in rows)
    print(f"{path.name}: {len(rows)} rows, {dict(counts)}")


def main(english: Path, chinese: Path, folder: Path) -> None:
    """Write the three tables into a folder."""
    columns = ("question", "passage", "label", "title")
    rows = pairs(read(english, ENGLISH), other_paragraph=True)
    _write(folder / "question_passage.csv", columns, rows)
    rows = pairs(read(chinese, CHINESE), other_paragraph=False)
    _write(folder / "chinese_question_passage.csv", columns, rows)
    rows = kinds(read(chinese, (0, 1_000_000)))  # the question alone: no passage is too long
    _write(folder / "chinese_questions.csv", ("question", "label", "title"), rows)


if __name__ == "__main__":
    places = [Path(place) for place in sys.argv[1:]]
    if len(places) not in (2, 3):
        sys.exit(__doc__)
    main(places[0], places[1], places[2] if len(places) == 3 else Path(__file__).parent)
