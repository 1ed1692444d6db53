"""Real files of questions, and the guess of which file and which columns hold some."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from engine.errors import DataError
from engine.text.questions.columns import QuestionColumns, answers_in
from engine.text.questions.reading import looks_like_questions, reading_questions
from tests.engine.read_at_once import read_questions

PASSAGE = "The Normans came from France in the 10th century."
HEAD = "id,question,context,answer,answer_start\n"


def real(name: str) -> Path:
    folder = os.environ.get("CLOZE_DATA", "")
    if not folder or not (Path(folder) / name).is_file():
        pytest.skip("needs the real data: the environment variable CLOZE_DATA names no folder with " + name)
    return Path(folder) / name


def written(folder: Path, content: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(content, "utf-8")
    return path


# name: passages, questions, used, rows, repaired, without an answer
REAL = {
    "squad/xquad.en.json": (240, 1190, 1190, 1190, 0, 0),
    "squad/tiny-dev-v2.0.json": (4, 14, 14, 14, 0, 6),
    "cmrc2018/cmrc2018_trial.json": (256, 1000, 1000, 1002, 5, 0),  # two of its questions are empty
}


@pytest.mark.parametrize("name", REAL)
def test_of_a_real_file_every_question_is_used_repaired_or_reported(name: str) -> None:
    found = read_questions(real(name))
    counts = (len(found.passages), len(found.questions), found.num_used, found.num_rows)
    assert (*counts, len(found.repaired), found.num_without_answer) == REAL[name]
    assert looks_like_questions(real(name)) is not None
    for question in found.questions:
        for answer in question.answers or ():
            assert found.passage_of(question)[answer.start : answer.stop] == answer.text.strip()


def test_wrong_offsets_of_a_real_file_are_mended_by_one_character() -> None:
    found = read_questions(real("cmrc2018/cmrc2018_trial.json"))
    first = found.repaired[0]
    assert str(first.sentence) == (
        "The answer 俗名龙尖 begins at character 13, not at 14 (article 29, paragraph 1, question 1)."
    )
    assert (first.place.article, first.place.paragraph, first.place.question) == (29, 1, 1)


@pytest.mark.parametrize(
    "name", ["mrpc/msr_paraphrase_train.txt", "lcqmc/dev.txt", "cloze_chinese/cmrc2019_trial.json"]
)
def test_a_file_of_another_task_does_not_look_like_questions(name: str) -> None:
    assert looks_like_questions(real(name)) is None


def test_questions_of_yes_and_no_do_not_look_like_answers_in_passages(tmp_path: Path) -> None:
    table = "question,passage,answer\n" + f"Is it?,{PASSAGE},yes\nWas it?,{PASSAGE},no\n"
    assert looks_like_questions(written(tmp_path, table)) is None


def test_columns_are_found_by_what_stands_in_them_and_the_reason_is_told(tmp_path: Path) -> None:
    table = f"a\tb\tc\td\n{PASSAGE}\t22\tWhere from?\tFrance\n{PASSAGE}\t36\tWhen?\t10th century\n"
    found = read_questions(written(tmp_path, table))
    assert [question.text for question in found.questions] == ["Where from?", "When?"]
    assert [one.start for question in found.questions for one in question.answers or ()] == [22, 36]
    assert str(found.notes[-1]) == ("c is the question, a the passage. d occurs in it in 100 % of the rows.")


def test_columns_that_are_named_are_taken_and_a_missing_one_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, f"x,y,z\nWhere?,{PASSAGE},France\n")
    found = read_questions(path, columns=QuestionColumns("x", "2", "z"))
    assert found.questions[0].answers is not None and found.questions[0].answers[0].start == 22
    with pytest.raises(DataError, match="has no column w"):
        read_questions(path, columns=QuestionColumns("w", "y"))
    with pytest.raises(DataError, match="Column y has two roles"):
        read_questions(path, columns=QuestionColumns("y", "y"))


def test_without_a_column_of_answers_nothing_is_known_of_them(tmp_path: Path) -> None:
    found = read_questions(written(tmp_path, f"question,context\nWhere?,{PASSAGE}\n"))
    assert found.questions[0].answers is None and found.questions[0].is_used
    assert found.num_without_answer == 0


def test_a_passage_is_kept_once_for_all_its_questions(tmp_path: Path) -> None:
    rows = "".join(f"{number},Where?,{PASSAGE},France,22\n" for number in range(50))
    found = read_questions(written(tmp_path, HEAD + rows))
    assert len(found.passages) == 1 and len(found.questions) == 50
    assert found.questions[7].id == "7" and found.questions[7].place.line == 9


def test_an_id_that_stood_before_gets_a_number(tmp_path: Path) -> None:
    row = f"7,Where?,{PASSAGE},France,22\n"
    found = read_questions(written(tmp_path, HEAD + row * 3))
    assert [question.id for question in found.questions] == ["7", "7 (2)", "7 (3)"]


def test_answers_without_places_are_told_and_those_that_stand_twice_counted(tmp_path: Path) -> None:
    table = f"question,context,answer\nWho?,{PASSAGE},Normans\nWhat?,{PASSAGE},the\n"
    twice = table.replace("The Normans", "In the past the Normans")
    assert "1 of them occur there more than once" in str(read_questions(written(tmp_path, twice)).notes[-1])


def test_other_encodings_are_read_as_tables_are(tmp_path: Path) -> None:
    asked = '{"query_text": "来自哪里？", "answers": ["法国"]}'
    document = '[{"context_text": "诺曼人来自法国，后来去了英国。", "qas": [' + asked + "]}]"
    path = tmp_path / "gb.json"
    path.write_bytes(document.encode("utf-16"))
    assert read_questions(path).questions[0].answers[0].start == 5  # type: ignore[index]
    path.write_bytes(document.encode("gb18030"))
    assert read_questions(path, encoding="gb18030").questions[0].text == "来自哪里？"


ROW = {"question": "Where from?", "context": PASSAGE, "answers": {"text": ["France"], "answer_start": [22]}}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", (json.dumps(ROW) + "\n") * 3),
        ("a.json", json.dumps([ROW, ROW], indent=1)),
        ("a.json", json.dumps({"version": "1", "data": [ROW, ROW]})),
        ("a.csv", f"id,question,context,answer\n1,Where from?,{PASSAGE},France\n"),
        ("a.tsv", f"frage\ttext\tspanne\nFrom where?\t{PASSAGE}\tFrance\n"),
        ("a.csv", "\ufeff问题;上下文;答案\n来自哪里？;诺曼人来自法国，后来去了英国。;法国\n"),
    ],
)
def test_files_of_questions_look_like_questions_and_are_read_as_such(
    name: str, content: str, tmp_path: Path
) -> None:
    path = written(tmp_path, content, name)
    reason = looks_like_questions(path)
    assert reason is not None and str(reason).startswith("It looks like")
    found = read_questions(path)
    assert found.num_used == found.num_rows > 0
    assert all(one.is_placed for question in found.questions for one in question.answers or ())


def test_the_reason_names_the_columns(tmp_path: Path) -> None:
    reason = looks_like_questions(written(tmp_path, json.dumps(ROW) + "\n", "a.jsonl"))
    assert str(reason) == "It looks like questions: question asks about context, which contains answers."


@pytest.mark.parametrize("content", ["", "text,label\ngood,pos\n", "word\n", '{"a": 1}', "\x89PNG", '["a"'])
def test_what_is_no_file_of_questions_does_not_look_like_one(content: str, tmp_path: Path) -> None:
    assert looks_like_questions(written(tmp_path, content)) is None


@pytest.mark.parametrize(
    "cell", ["[" * 50_000 + "]", "[" + "array([" * 2000 + "]", "{'text': " + "-" * 9000 + "1}"]
)
def test_a_cell_that_only_looks_like_a_list_is_an_answer_like_any(cell: str) -> None:
    assert answers_in(cell) == [(cell, None)]


def test_reading_beats_at_each_article_so_that_it_can_be_stopped(tmp_path: Path) -> None:
    article = {"paragraphs": [{"context": PASSAGE, "qas": [{"question": "Who?", "answers": ["Normans"]}]}]}
    path = written(tmp_path, json.dumps({"data": [article] * 30}), "a.json")
    assert len(list(reading_questions(path))) >= 30
