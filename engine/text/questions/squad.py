"""SQuAD 1.1 and 2.0, XQuAD and CMRC 2018 in both its layouts: JSON documents of passages with questions.

A document is read article by article, so that only one of them is objects at a time, and one that breaks off
is refused whole. Keys go by any of the names that these files have.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

from engine.errors import DataError, Sentence, marked
from engine.events import Beat, Steps
from engine.text.questions.gathering import Gathering, Given
from engine.text.questions.question import QuestionPlace
from engine.text.reading.json_faults import reason_of

CONTEXT = ("context", "context_text", "passage", "paragraph")
QUESTION = ("question", "query_text", "query")
ID = ("id", "query_id", "qid", "question_id")

_SPACE = re.compile(r"[ \t\r\n]*")
_NO_LAYOUT = marked("engine", "There are no paragraphs with questions where they should be ({where}).")
_NO_OBJECT = marked("engine", "There is no question as a JSON object where one should be ({where}).")


def reading_squad(text: str, path: Path, gathering: Gathering) -> Steps[None]:
    """Take all questions of a document, article by article. Raises: DataError if its JSON is damaged."""
    for number, article in enumerate(_articles(text, path), 1):
        _take_article(article, number, gathering)
        yield Beat()


def offset(value: object) -> int | None:
    """Return a place in a passage as a file writes it: a number, also as text; None for what is none."""
    if isinstance(value, str):
        try:
            value = float(value) if len(value) < 20 else None
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None


def given_answers(value: object) -> list[Given]:
    """Return the answers that a JSON value writes in any of the ways in use.

    A text; {"text": ..., "answer_start": ...}, each maybe a list, as `datasets` has it; or a list of these.
    """
    if isinstance(value, str):
        return [(value, None)]
    if isinstance(value, Mapping):
        texts, starts = (value.get(key) for key in ("text", "answer_start"))
        texts = texts if isinstance(texts, list) else [texts]
        starts = starts if isinstance(starts, list) else [starts]
        starts = [*starts, *[None] * len(texts)]
        return [
            (text if isinstance(text, str) else "", offset(start))
            for text, start in zip(texts, starts, strict=False)
        ]
    if isinstance(value, list):
        return [one for item in value for one in given_answers(item)]
    return [("", None)]


def _take_article(article: Any, number: int, gathering: Gathering) -> None:
    where = QuestionPlace(article=number)
    paragraphs = article.get("paragraphs", [article]) if isinstance(article, dict) else None
    if not isinstance(paragraphs, list):
        return gathering.report(where, Sentence(_NO_LAYOUT, {"where": where.sentence()}))
    title = article.get("title")
    for place, paragraph in enumerate(paragraphs, 1):
        _take_paragraph(paragraph, title if isinstance(title, str) else "", number, place, gathering)


def _take_paragraph(paragraph: Any, title: str, article: int, number: int, gathering: Gathering) -> None:
    where = QuestionPlace(article=article, paragraph=number)
    asked = paragraph.get("qas") if isinstance(paragraph, dict) else None
    if asked is None and isinstance(paragraph, dict) and _first(paragraph, QUESTION) is not None:
        asked = [paragraph]  # a passage and its one question side by side
    if not isinstance(asked, list):
        return gathering.report(where, Sentence(_NO_LAYOUT, {"where": where.sentence()}))
    passage = _text(paragraph, CONTEXT)
    for place, question in enumerate(asked, 1):
        where = QuestionPlace(article=article, paragraph=number, question=place)
        if not isinstance(question, dict):
            gathering.report(where, Sentence(_NO_OBJECT, {"where": where.sentence()}))
            continue
        answers = next((question[key] for key in ("answers", "answer") if key in question), None)
        impossible = question.get("is_impossible")
        gathering.add(
            where,
            passage,
            _text(question, QUESTION),
            None if answers is None else given_answers(answers),
            title=title,
            id=_text(question, ID),
            impossible=impossible if isinstance(impossible, bool) else None,
        )


def _first(values: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((values[name] for name in names if name in values), None)


def _text(values: Mapping[str, Any], names: tuple[str, ...]) -> str:
    value = _first(values, names)
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _articles(text: str, path: Path) -> Iterator[Any]:
    """Yield the articles of a document, of a list, or of objects one after another."""
    try:
        place = _skip(text, 0)
        while place < len(text):
            of_what = _items if text[place] == "[" else _of_object
            place = yield from of_what(text, place)
            place = _skip(text, place)
    except RecursionError:
        template = marked("engine", "{path} is nested too deep to be read as JSON.")
        raise DataError(template, path=path) from None
    except json.JSONDecodeError as error:
        template = marked(
            "engine", "{path} is not valid JSON in line {line}: {reason}. Fix it, or get it again."
        )
        raise DataError(template, path=path, line=error.lineno, reason=reason_of(error)) from None
    except ValueError as error:  # a number of thousands of digits
        template = marked("engine", "{path} holds a number with thousands of digits, which cannot be read.")
        raise DataError(template, path=path) from error


def _of_object(text: str, place: int) -> Generator[Any, None, int]:
    """Yield the items of an object's "data", one by one, or else the object itself; return where it ends."""
    if text[place] != "{":
        raise json.JSONDecodeError("an object or a list is missing", text, place)
    kept: dict[str, Any] = {}
    found = False
    decoder = json.JSONDecoder()
    place = _skip(text, place + 1)
    while text[place : place + 1] != "}":
        if text[place : place + 1] != '"':
            raise json.JSONDecodeError("a key is missing", text, place)
        key, place = decoder.raw_decode(text, place)
        place = _skip(text, place)
        if text[place : place + 1] != ":":
            raise json.JSONDecodeError("a colon is missing", text, place)
        place = _skip(text, place + 1)
        if key == "data" and text[place : place + 1] == "[":
            found = True
            place = yield from _items(text, place)
        else:
            kept[key], place = decoder.raw_decode(text, place)
        place = _after_comma(text, place, "}")
    if not found:
        yield kept
    return place + 1


def _items(text: str, place: int) -> Generator[Any, None, int]:
    """Yield the items of a list one by one; return where it ends."""
    decoder = json.JSONDecoder()
    place = _skip(text, place + 1)
    while text[place : place + 1] != "]":
        value, place = decoder.raw_decode(text, place)
        yield value
        place = _after_comma(text, place, "]")
    return place + 1


def _after_comma(text: str, place: int, end: str) -> int:
    place = _skip(text, place)
    if text[place : place + 1] == ",":
        return _skip(text, place + 1)
    if text[place : place + 1] != end:
        raise json.JSONDecodeError("a comma or the end is missing", text, place)
    return place


def _skip(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    assert found is not None
    return found.end()
