"""Broken SQuAD, CMRC and table files, made here: every row is used, used and repaired, or reported.

What is expected was counted by hand. Rows in = questions used + rows reported.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from engine.errors import DataError
from tests.engine.read_at_once import read_questions

PASSAGE = "The Normans came from France in the 10th century. France is large."


def qa(answers: Any, question: str = "Where from?", **more: Any) -> dict[str, Any]:
    return {"id": more.pop("id", "q"), "question": question, "answers": answers, **more}


def at(text: str, start: Any) -> list[dict[str, Any]]:
    return [{"text": text, "answer_start": start}]


GOOD = qa(at("France", 22), id="good")


def squad(*questions: Any, context: Any = PASSAGE, **more: Any) -> str:
    paragraph = {"context": context, "qas": list(questions), **more}
    return json.dumps({"version": "1.1", "data": [{"title": "Normans", "paragraphs": [paragraph]}]})


def cmrc(*questions: Any, context: Any = PASSAGE) -> str:
    return json.dumps([{"context_id": "T", "context_text": context, "qas": list(questions), "title": "N"}])


def query(answers: Any, text: str = "哪里？") -> dict[str, Any]:
    return {"query_id": "T_0", "query_text": text, "answers": answers}


def lines(*rows: Any) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def row(answers: Any, **more: Any) -> dict[str, Any]:
    return {"id": "r", "question": "Where from?", "context": PASSAGE, "answers": answers, **more}


def sheet(*rows: tuple[str, ...], head: str = "question,context,answer,start") -> str:
    quoted = (",".join('"' + cell.replace('"', '""') + '"' for cell in one) for one in rows)
    return "\n".join([head, *quoted]) + "\n"


FEW = ("Where from?", PASSAGE, "France", "22")
# name: (file name, content, used, repaired, reported, a part of the first sentence on what was wrong)
# fmt: off
TAKEN: dict[str, tuple[str, str, int, int, int, str]] = {
    # offsets
    "an offset one too far": (
        "a.json", squad(qa(at("France", 23))), 1, 1, 0, "begins at character 22, not at 23"),
    "the second of two places is nearer": (
        "a.json", squad(qa(at("France", 48))), 1, 1, 0, "begins at character 50"),
    "a negative offset": (
        "a.json", squad(qa(at("Normans", -1))), 1, 1, 0, "begins at character 4, not at -1"),
    "an offset behind the end": (
        "a.json", squad(qa(at("large", 10**20))), 1, 1, 0, "begins at character 60"),
    "an offset written as text": ("a.json", squad(qa(at("France", "22"))), 1, 0, 0, ""),
    "an offset of 22.0": ("a.json", squad(qa(at("France", 22.0))), 1, 0, 0, ""),
    "an offset that is no number": ("a.json", squad(qa(at("France", "here"))), 1, 0, 0, ""),
    "no offset": ("a.json", squad(qa([{"text": "France"}])), 1, 0, 0, ""),
    "offsets in bytes after accents": (
        "a.json", squad(qa(at("thé", 12)), context="Café créé, du thé noir"),
        1, 1, 0, "begins at character 14"),
    "spaces within an answer": (
        "a.json", squad(qa(at("10th  century", 36))), 1, 1, 0, "is at character 36 with other spaces"),
    "a line end in the passage": (
        "a.json", squad(qa(at("in the", 5)), context="came in\n the year"), 1, 1, 0, "with other spaces"),
    "spaces around an answer": ("a.json", squad(qa(at(" France ", 21))), 1, 0, 0, ""),
    # answers
    "an answer that stands nowhere": (
        "a.json", squad(GOOD, qa(at("Spain", 3))),
        1, 0, 1, "Spain is not in its passage (article 1, "),
    "an answer of another case": (
        "a.json", squad(GOOD, qa(at("france", 22))), 1, 0, 1, "is not in its passage"),
    "one of two answers stands nowhere": (
        "a.json", squad(qa([*at("France", 22), *at("Spain", 3)])), 1, 1, 0, "The others are used"),
    "an empty answer": ("a.json", squad(GOOD, qa(at("", 0))), 1, 0, 1, "The answer is empty"),
    "an answer without a text": (
        "a.json", squad(GOOD, qa([{"answer_start": 3}])), 1, 0, 1, "The answer is empty"),
    "an empty answer beside a good one": (
        "a.json", squad(qa([*at("", 0), *at("France", 22)])), 1, 0, 0, ""),
    "impossible, yet answered": (
        "a.json", squad(GOOD, qa(at("France", 22), is_impossible=True)),
        1, 0, 1, "yet has the answer France"),
    "possible, yet not answered": (
        "a.json", squad(GOOD, qa([], is_impossible=False)), 1, 0, 1, "not marked as impossible"),
    "impossible": ("a.json", squad(qa([], is_impossible=True)), 1, 0, 0, ""),
    "answers as texts": ("a.json", squad(qa(["France"])), 1, 0, 0, ""),
    "answers as one object of lists": (
        "a.json", squad(qa({"text": ["France"], "answer_start": [22]})), 1, 0, 0, ""),
    "answers of numbers": ("a.json", squad(GOOD, qa([7])), 1, 0, 1, "The answer is empty"),
    # structure
    "a question without a text": (
        "a.json", squad(GOOD, {"id": "x", "answers": at("France", 22)}), 1, 0, 1, "empty"),
    "a question that is a number": ("a.json", squad(GOOD, 3), 1, 0, 1, "no question as a JSON object"),
    "an empty passage": ("a.json", json.dumps({"data": [
        {"paragraphs": [{"context": " ", "qas": [GOOD, GOOD]}, {"context": PASSAGE, "qas": [GOOD]}]}]}),
        1, 0, 2, "There is no passage to look in (article 1, paragraph 1, question 1)"),
    "a paragraph without questions": ("a.json", json.dumps({"data": [
        {"paragraphs": [{"context": PASSAGE}, {"context": PASSAGE, "qas": [GOOD]}]}]}),
        1, 0, 1, "(article 1, paragraph 1)"),
    "an article that is a text": ("a.json", json.dumps({"data": [
        "x", {"paragraphs": [{"context": PASSAGE, "qas": [GOOD]}]}]}), 1, 0, 1, "(article 1)"),
    "half a character in a question": (
        "a.json", squad(GOOD, qa(at("France", 22), "\ud83d?")), 1, 0, 1, "half"),
    "the same id twice": ("a.json", squad(GOOD, GOOD), 2, 0, 0, ""),
    "no ids": ("a.json", squad({"question": "Where?", "answers": at("France", 22)}), 1, 0, 0, ""),
    "a byte order mark": ("a.json", "\ufeff" + squad(GOOD), 1, 0, 0, ""),
    "articles as lines": (
        "a.jsonl", lines(*[{"paragraphs": [{"context": PASSAGE, "qas": [GOOD]}]}] * 3), 3, 0, 0, ""),
    "rows in data": (
        "a.json", json.dumps({"version": "1", "data": [row(at("France", 22))] * 2}), 2, 0, 0, ""),
    # CMRC's own layout
    "CMRC": ("a.json", cmrc(query(["France"]), query(["Normans", "The Normans"])), 2, 0, 0, ""),
    "CMRC, an answer that stands nowhere": (
        "a.json", cmrc(query(["法国"]), query(["France"])), 1, 0, 1, "法国"),
    "CMRC, a space too few": ("a.json", cmrc(query(["10thcentury"])), 1, 1, 0, "with other spaces"),
    "CMRC, an empty question": (
        "a.json", cmrc(query(["France"], ""), query(["France"])), 1, 0, 1, "empty"),
    # rows
    "rows as datasets has them": (
        "a.jsonl", lines(row({"text": ["France"], "answer_start": [22]}), row({"text": [],
        "answer_start": []})),
        2, 0, 0, ""),
    "rows with a wrong place": (
        "a.jsonl", lines(row({"text": ["France"], "answer_start": [30]})), 1, 1, 0, "(line 1)"),
    "a line that is no JSON": (
        "a.jsonl", lines(row(["France"])) + "{broken\n" + lines(row(["France"])), 2, 0, 1, "Line 2"),
    "rows of a list": ("a.json", json.dumps([row(["France"]), row(["Spain"])]), 1, 0, 1, "Spain"),
    "a table": ("a.csv", sheet(FEW, FEW), 2, 0, 0, ""),
    "a table without starts": (
        "a.tsv", sheet(FEW[:3], head="question,context,answer"), 1, 0, 0, ""),
    "a table with a wrong start": ("a.csv", sheet(FEW, (*FEW[:3], "21")), 2, 1, 0, "not at 21 (line 3)"),
    "a table with a row too short": (
        "a.csv", sheet(FEW, FEW) + "x,y\n", 2, 0, 1, "Line 4 has 2 columns"),
    "a table with an empty passage": ("a.csv", sheet(FEW, ("Why?", "", "x", "1")), 1, 0, 1, "(line 3)"),
    "a table with an empty answer": ("a.csv", sheet(FEW, ("Why?", PASSAGE, "", "")), 2, 0, 0, ""),
    "pandas' lists in cells": (
        "a.csv", sheet(("Where?", PASSAGE, "{'text': array(['France'], dtype=object), "
        "'answer_start': array([22], dtype=int32)}"), head="question,context,answers"), 1, 0, 0, ""),
    "an answer in brackets": (
        "a.csv", sheet(FEW, ("What?", "See [note 3] there", "[note 3]", "4")), 2, 0, 0, ""),
}
REFUSED: dict[str, tuple[str, str | bytes, str]] = {
    "a file that breaks off": ("a.json", squad(GOOD)[:-20], "is not valid JSON in line 1"),
    "single quotes": (
        "a.json", squad(GOOD).replace('"version"', "'version'"), "is not valid JSON in line 1"),
    "a brace too many": ("a.json", squad(GOOD) + "}", "is not valid JSON"),
    "a number of 5,000 digits": (
        "a.json", squad(qa(at("France", 7))).replace("7}", "7" * 5000 + "}"), "digits"),
    "nested too deep": ("a.json", '{"qas": ' + "[" * 100_000, "nested too deep"),
    "data that is no list": ("a.json", '{"data": {"paragraphs": []}, "qas": []}', "holds no questions"),
    "no questions at all": ("a.json", squad(), "holds no questions"),
    "no answer anywhere": (
        "a.json", squad(qa(at("Spain", 1)), qa(at("Peru", 1))), "No question of"),
    "a table of labels": ("a.csv", "text,label\ngood,pos\nbad,neg\n", "does not look like questions"),
    "a table of yes and no": (
        "a.csv",
        sheet(("Is it?", PASSAGE, "yes"), ("Was it?", PASSAGE, "no"), head="question,passage,answer"),
        "No question of"),
    "an empty file": ("a.json", "", "is empty"),
    "a picture": ("a.json", b"\x89PNG\r\n\x1a\n" + bytes(99), "PNG"),
    "a web page": ("a.json", "<!doctype html><html><body>not found</body></html>", "web page"),
}
# fmt: on


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("name", TAKEN)
def test_every_row_is_used_or_reported_and_every_repair_is_told(name: str, tmp_path: Path) -> None:
    file, content, used, repaired, reported, said = TAKEN[name]
    found = read_questions(written(tmp_path, file, content))
    assert (found.num_used, len(found.repaired), len(found.reported)) == (used, repaired, reported)
    assert found.num_rows == used + reported
    remarks = [*found.reported, *found.repaired]
    assert said in (str(remarks[0].sentence) if remarks else "")
    for question in found.questions:
        for answer in question.answers or ():
            if answer.is_placed:
                there = found.passage_of(question)[answer.start : answer.stop]
                assert "".join(there.split()) == "".join(answer.text.split())
                assert there == there.strip()


@pytest.mark.parametrize("name", REFUSED)
def test_a_file_without_a_usable_question_is_refused_in_one_sentence(name: str, tmp_path: Path) -> None:
    file, content, said = REFUSED[name]
    with pytest.raises(DataError, match=said):
        read_questions(written(tmp_path, file, content))


def test_a_damaged_byte_costs_the_questions_of_its_passage_only(tmp_path: Path) -> None:
    other = {"context": "Tea is gr\u00fcn, tr\u00e8s fr\u00fch, \u00e7a va", "qas": [qa(at("Tea", 0))]}
    document = json.dumps(
        {"data": [{"paragraphs": [{"context": PASSAGE, "qas": [GOOD]}, other]}]}, ensure_ascii=False
    )
    broken = document.encode().replace(b"Normans", b"Norm\xe4ns")
    found = read_questions(written(tmp_path, "a.json", broken))
    assert (found.num_used, len(found.reported)) == (1, 1)
    assert "damaged byte" in str(found.reported[0].sentence)


def test_a_compressed_file_is_refused_by_its_first_bytes(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.json"):
        read_questions(written(tmp_path, "a.json", gzip.compress(squad(GOOD).encode())))
