"""Text files that are no tables and no prose, told by how they begin: web pages, markup, dumps, tagged words.

Each is refused in a sentence that says what it is and what to do. A false alarm costs more than a miss, so a
kind is named only where its structure is plain, and who names a separator or a layout is not asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from engine.errors import DataError, Sentence, marked

HEAD = 1 << 16  # characters that are looked at
_LINES = 400
_WEB_PAGE = re.compile(r"\s*<(!doctype\s+html|html[\s>]|head[\s>]|body[\s>])", re.I)
_XML = re.compile(r"\s*(<\?xml\s|<!DOCTYPE\s+\w)", re.I)
_ELEMENT = re.compile(r"\s*<([A-Za-z][\w:.-]*)[\s>/]")
_SQL_COMMENT = re.compile(r"--|/\*|#|\*/|\*")
_SQL_BEGIN = re.compile(
    r"(CREATE\s+(TABLE|DATABASE|SCHEMA|TEMPORARY|UNIQUE|INDEX)|INSERT\s+(OR\s+\w+\s+)?INTO|DROP\s+(TABLE|DATABASE)|"
    r"SET\s+[@\w]+\s*(=|TO)|BEGIN(\s+TRANSACTION)?\s*;|PRAGMA\s|USE\s+\S+;|LOCK\s+TABLES|START\s+TRANSACTION|"
    r"COPY\s+\S+\s.*FROM\s+stdin)",
    re.I,
)
_SQL_ROWS = re.compile(
    r"^\s*(INSERT\s+(OR\s+\w+\s+)?INTO\s+\S+|CREATE\s+TABLE\s+\S+|COPY\s+\S+\s.*FROM\s+stdin)", re.I | re.M
)
_YAML_ITEM = re.compile(r" *(- +[\w.-]+: \S|- *$|- [^:]+$)")
_YAML_KEY = re.compile(r" *(- +)?[\w.-]+:( |$)")
_PICKLED = re.compile(r"(\(?[ldt]p\d+\n|\(?c[A-Za-z_.]+\n[A-Za-z_]+\n)")
MOST_TAG_COLUMNS = 12  # of a CoNLL file; lines of more words are prose
_TAG = re.compile(r"(O|[BIESMLU]-\S+)")


def check_text(text: str, path: Path, *, whole: bool = True, for_table: bool = True) -> None:
    """Refuse what `text` shows to be no table and no prose.

    Args: whole: `text` is all of the file. for_table: rows are wanted rather than prose.
    Raises: DataError.
    """
    head = text[:HEAD]
    lines = head.splitlines()[:_LINES]
    if len(head) < len(text) or not whole:
        lines = lines[:-1] or lines
    filled = [line for line in lines if line.strip()]
    if not filled:
        return
    if _PICKLED.match(head):
        raise _refusal(_PICKLE, path)
    if _WEB_PAGE.match(head, _past_comments(head)):
        raise _refusal(_HTML, path)
    if _XML.match(head):
        raise _refusal(_OF_XML, path)
    if _is_sql(head, filled):
        raise _refusal(_SQL, path)
    unless = Sentence(_UNLESS_TABLE if for_table else _UNLESS_PROSE)
    if _is_xml(head, filled):
        raise DataError(_LIKE_XML, path=path, unless=unless)
    if _is_yaml(filled, path):
        raise DataError(_YAML, path=path, unless=unless)
    if is_tagged(lines):
        raise DataError(_CONLL, path=path, unless=unless)


def json_kind(text: str, whole: bool) -> str:
    """Return what JSON a text is by its beginning: "rows" (of objects), "questions", "json", "" for none."""
    start = text.lstrip()
    if not start.startswith(("{", "[")):
        return ""
    try:
        value, _ = json.JSONDecoder().raw_decode(start)
    except json.JSONDecodeError as error:
        if whole or error.pos < min(len(start) - HEAD, 0.9 * len(start)):
            return ""
        value = None  # cut off at the end of the head
    except RecursionError:
        return "json"
    if value is None:
        if '"paragraphs"' in start and '"qas"' in start:
            return "questions"
        return "rows" if re.match(r'\[\s*\{\s*"', start) else "json"
    if isinstance(value, list):
        return "rows" if value and all(isinstance(item, dict) for item in value) else "json" if value else ""
    if is_questions(value):
        return "questions"
    first = start.split("\n", 1)[0].strip()
    return "rows" if first.endswith("}") and "\n" in start.strip() else "json"


def is_questions(document: object) -> bool:
    """Whether a JSON document is laid out as SQuAD: passages with questions, and answers found in them."""
    data = document.get("data") if isinstance(document, dict) else document
    first = data[0] if isinstance(data, list) and data else None
    if not isinstance(first, dict):
        return False
    if isinstance(first.get("paragraphs"), list):
        return True
    return "qas" in first and bool({"context", "context_text", "passage"} & first.keys())


def questions_refusal(path: Path) -> DataError:
    """Return the refusal of a SQuAD or CMRC file."""
    return _refusal(_SQUAD, path)


def json_refusal(path: Path) -> DataError:
    """Return the refusal of JSON where text is wanted."""
    return _refusal(_JSON, path)


def _refusal(template: str, path: Path) -> DataError:
    return DataError(template, path=path)


def _past_comments(head: str) -> int:
    """Return where the comments of markup end that a text may begin with."""
    place, comment = 0, re.compile(r"\s*<!--")
    while found := comment.match(head, place):
        end = head.find("-->", found.end())
        if end < 0:
            break
        place = end + 3
    return place


def _is_xml(head: str, filled: Sequence[str]) -> bool:
    """Whether a text without XML's first line begins with an element, as most of its lines do."""
    if not _ELEMENT.match(head) or len(filled) < 3:
        return False
    return sum(line.lstrip().startswith("<") for line in filled) >= 0.8 * len(filled)


def _is_sql(head: str, filled: Sequence[str]) -> bool:
    statements = (line.strip() for line in filled if not _SQL_COMMENT.match(line.lstrip()))
    first = next(statements, "")
    return _SQL_BEGIN.match(first) is not None and _SQL_ROWS.search(head) is not None and ";" in head


def _is_yaml(filled: Sequence[str], path: Path) -> bool:
    """Whether the lines are keys and items of YAML: by its name most of them, without it nearly all."""
    lines = [line for line in filled if not line.lstrip().startswith("#")]
    begun = filled[0].startswith("%YAML") or filled[0].rstrip() == "---"
    keys = sum(_YAML_KEY.match(line) is not None for line in lines)
    if path.suffix.lower() in (".yaml", ".yml") or begun:
        return 2 * keys >= len(lines) - begun and keys > 0
    items = [place for place, line in enumerate(lines[:-1]) if _YAML_ITEM.match(line)]
    nested = sum(
        lines[place + 1].startswith("  ") and _YAML_KEY.match(lines[place + 1]) is not None for place in items
    )
    return len(items) > 1 and 2 * nested > len(items) and keys >= 0.9 * len(lines)


def is_tagged(lines: Sequence[str]) -> bool:
    """Whether the lines are words with tags: columns without spaces in them, one of which holds IOB tags.

    Without such tags, blank lines must stand between sentences, and CoNLL-U's numbers or comments tell.
    """
    rows = [line.split("\t") if "\t" in line else line.split(" ") for line in lines if line.strip()]
    rows = [row for row in rows if not row[0].startswith("#") or len(row) > 1]
    numbered = [row for row in rows if len(row) in (9, 10) and re.fullmatch(r"\d+([-.]\d+)?", row[0])]
    if len(numbered) >= 3 and any(line.startswith(("# text", "# sent_id")) for line in lines):
        return True
    width = len(rows[0]) if rows else 0
    even = [row for row in rows if len(row) == width and " " not in "".join(row[:1])]
    if not 2 <= width <= MOST_TAG_COLUMNS or len(rows) < 5 or len(even) < 0.95 * len(rows):
        return False
    if sum(len(row[0]) for row in even) > 20 * len(even):
        return False
    for column in range(1, width):
        tags = [row[column].strip() for row in even]
        kinds = {tag for tag in tags if tag != "O"}
        if kinds and sum(_TAG.fullmatch(tag) is not None for tag in tags) >= 0.98 * len(tags):
            return "O" in tags or "" in (line.strip() for line in lines[1:-1])
    sentences = _sentences(lines)
    words_a_sentence = len(even) / max(1, sentences)
    last = [row[-1].strip() for row in even]
    few = len(set(last)) <= max(2, len(last) // 5) and all(re.fullmatch(r"\S{1,12}", tag) for tag in last)
    few = few and any(
        re.search(r"\w", tag) for tag in last
    )  # of prose cut into words, each line ends in a stop
    return few and sentences >= 3 and words_a_sentence >= 4 and all(len(row[0]) < 40 for row in even)


def _sentences(lines: Sequence[str]) -> int:
    """Return how many groups of lines stand between blank lines."""
    filled = [bool(line.strip()) for line in lines]
    return sum(now and not before for before, now in zip([False, *filled], filled, strict=False))


_UNLESS_TABLE = marked("engine", "If it is a table after all, choose its separator.")
_UNLESS_PROSE = marked("engine", "If it is prose after all, choose its layout.")
_HTML = marked(
    "engine",
    "{path} is a web page (HTML). Save its table as CSV, or its text as a .txt file.",
)
_OF_XML = marked(
    "engine",
    "{path} is XML. Write its rows as CSV or JSON lines, or its text as a .txt file.",
)
_LIKE_XML = marked(
    "engine",
    "{path} is XML. Write its rows as CSV or JSON lines, or its text as a .txt file. {unless}",
)
_SQL = marked(
    "engine",
    "{path} holds SQL statements, the dump of a database. Export the table as CSV instead.",
)
_YAML = marked(
    "engine",
    "{path} is YAML. Write its rows as CSV or JSON lines. {unless}",
)
_PICKLE = marked(
    "engine",
    "{path} is a Python pickle. Write the data as CSV or JSON lines from Python.",
)
_CONLL = marked(
    "engine",
    "{path} holds a word and its tag in each line (CoNLL). To learn tags of words, "
    "such as names, choose the task token-labels. To classify texts, put one text "
    "and its label in each line. {unless}",
)
_SQUAD = marked(
    "engine",
    "{path} holds passages with questions and answers (SQuAD), which is data for "
    "question answering. Choose the task questions for it. To classify texts, put "
    "one text and its label in each line.",
)
_JSON = marked(
    "engine",
    "{path} is one JSON document. Write its rows as JSON lines, or its text as a .txt file.",
)
