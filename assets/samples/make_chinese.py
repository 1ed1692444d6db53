"""Write `chinese_tags.conll` and `chinese_answers.json` from the data sets that they are from.

    python -m assets.samples.make_chinese UD_CHINESE/dev.conllu CMRC2018/cmrc2018_trial.json [FOLDER]

Words with their parts of speech are taken as they are; a passage is the sentence with the answer and whole
sentences around it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from assets.samples.make import Question, draw, read

PASSAGE = 60, 90  # characters: as far as sentences are added, and the longest single one
LARGEST_SHARE = 0.4  # of a passage that is its answer: all of one would be no question
FORM, UPOS = 1, 3  # columns of CoNLL-U


def tagged(path: Path) -> Iterator[str]:
    """Yield a line for each word, with its tag, and an empty one after each sentence."""
    lines = path.read_text(encoding="utf-8").split("\n")
    for is_empty, block in groupby(lines, key=lambda line: not line.strip()):
        if not is_empty:
            cells = [line.split("\t") for line in block if not line.startswith("#")]
            yield from (f"{one[FORM]}\t{one[UPOS]}" for one in cells if one[0].isdigit())
            yield ""


def answers(path: Path) -> dict[str, object]:
    """Return questions with their passages and answers, as SQuAD has them."""
    articles = [(one.title, question) for one in read(path, PASSAGE) for question in one.questions]
    found = [(title, one) for title, one in articles if one.passage.text.count(one.answer) == 1]
    found = [(title, one) for title, one in found if LARGEST_SHARE * len(one.passage.text) >= len(one.answer)]
    found = sorted(found, key=lambda pair: draw(pair[0], pair[1].text))
    return {"data": [{"title": title, "paragraphs": [_paragraph(one)]} for title, one in found]}


def _paragraph(one: Question) -> dict[str, object]:
    text = one.passage.text
    answer = {"text": one.answer, "answer_start": text.index(one.answer)}
    return {
        "context": text,
        "qas": [{"id": f"{draw(text, one.text):016x}", "question": one.text, "answers": [answer]}],
    }


def main(tags: Path, questions: Path, folder: Path) -> None:
    """Write both files into a folder."""
    lines = list(tagged(tags))
    (folder / "chinese_tags.conll").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = answers(questions)
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n"
    (folder / "chinese_answers.json").write_text(text, encoding="utf-8")
    print(f"{lines.count('')} sentences, {len(found['data'])} questions")  # type: ignore[arg-type]


if __name__ == "__main__":
    places = [Path(place) for place in sys.argv[1:]]
    if len(places) not in (2, 3):
        sys.exit(__doc__)
    main(places[0], places[1], places[2] if len(places) == 3 else Path(__file__).parent)
