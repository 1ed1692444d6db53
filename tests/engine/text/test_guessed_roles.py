"""Which column is the text, the second text and the label: sets as they are published, with their headers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from engine.events import Noted, result_of
from engine.settings.finetune import DataConfig
from engine.text.examples import doubt_about_header, guess_roles
from engine.text.roles import Roles
from engine.text.table import Table, read_table, write_csv
from engine.train.tasks.known import guessing_columns

DATA = Path(os.environ["CLOZE_DATA"]) if os.environ.get("CLOZE_DATA") else None
needs_data = pytest.mark.skipif(DATA is None, reason="CLOZE_DATA names no folder with real data")

# As RTE's development set has them: a passage, what may follow from it, and whether it does.
ENTAILED = [
    ("A bus ran off the road near Cairo and forty people were hurt.", "Forty people were hurt in Cairo.", 1),
    ("The bank opened two branches in Riga in May.", "The bank closed its branches.", 0),
    ("Oil prices fell for the third week as supplies grew.", "Oil became cheaper.", 1),
    ("The minister resigned on Monday after the vote.", "The minister stays in office.", 0),
    ("Norwegian scientists found a new moss on Svalbard.", "A moss was found on Svalbard.", 1),
    ("The museum bought the painting for two million.", "The painting was sold to a museum.", 1),
    ("Rain stopped the match after forty minutes.", "The match was played to its end.", 0),
    ("The company will cut nine hundred jobs in Bremen.", "Jobs in Bremen will be lost.", 1),
    ("Voters in Malta go to the polls in June.", "Malta held no elections this century.", 0),
    ("The river rose by a metre and flooded the old town.", "The old town was flooded.", 1),
    ("A court in Lyon fined the airline for late refunds.", "The airline won the case in Lyon.", 0),
    ("The actor was born in Tartu and moved to London.", "The actor was born in London.", 0),
    ("Coffee exports from Uganda doubled in ten years.", "Uganda exports more coffee than before.", 1),
]
ASKED = [
    ("花呗怎么还款", "花呗如何还款", 1),
    ("借呗额度怎么提高", "借呗为什么没有额度", 0),
    ("怎么更改手机号码", "如何更换绑定的手机号", 1),
    ("花呗可以分期吗", "花呗账单能分期还吗", 1),
    ("为什么我的花呗被关闭", "花呗怎么开通", 0),
    ("借呗还款日是几号", "借呗哪天还款", 1),
    ("花呗逾期一天会怎样", "花呗额度什么时候恢复", 0),
    ("怎么关闭花呗服务", "花呗服务如何关掉", 1),
    ("收钱码怎么申请", "收款码多久能寄到", 0),
    ("蚂蚁借呗为什么用不了", "借呗不能用是怎么回事", 1),
]


def written(folder: Path, header: str, rows: list[tuple[str, str, int]]) -> Table:
    """Return the table of a file with these columns."""
    path = folder / "pairs.tsv"
    lines = [header.replace(",", "\t"), *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return read_table(path)


@pytest.mark.parametrize(
    "header",
    [
        "text,hypothesis,value",
        "premise,hypothesis,value",
        "sentence1,sentence2,value",
        "q1,q2,value",
        "t,h,value",
        "anchor,other,value",
        "source,candidate,value",
        "text1,text2,value",
        "question,sentence,value",
        "text,conclusion,entailed",
        "passage,text,entailed",
    ],
)
def test_both_texts_of_a_pair_are_found_whatever_they_are_called(tmp_path: Path, header: str) -> None:
    table = written(tmp_path, header, ENTAILED)
    roles = guess_roles(table)
    assert {roles.text, roles.text_pair} == set(table.columns[:2]) and roles.label == table.columns[2]
    assert doubt_about_header(table, roles) is None


@pytest.mark.parametrize("header", ["label,question,syn_question", "label,text,sentence", "target,q1,q2"])
def test_where_a_column_called_a_label_holds_sentences_the_cells_decide_and_that_is_said(
    tmp_path: Path, header: str
) -> None:
    table = written(tmp_path, header, ASKED)
    roles = guess_roles(table)
    assert roles == Roles(*table.columns)
    said = doubt_about_header(table, roles)
    assert said is not None and said.values["called"] == table.columns[0]
    assert said.values["label"] == table.columns[2]


def test_two_columns_with_their_names_exchanged_are_read_by_their_cells(tmp_path: Path) -> None:
    rows = [(text, "yes" if value else "no", value) for text, _, value in ENTAILED]
    table = written(tmp_path, "label,text,id", rows)
    assert guess_roles(table).text == "label" and guess_roles(table).label in ("text", "id")


def test_a_text_made_from_the_first_or_about_it_is_no_second_one(tmp_path: Path) -> None:
    cleaned = [(text, text.lower().replace(".", ""), value) for text, _, value in ENTAILED]
    assert guess_roles(written(tmp_path, "text,second,label", cleaned)) == Roles("text", "", "label")
    assert guess_roles(written(tmp_path, "text,explanation,label", ENTAILED)) == Roles("text", "", "label")
    apart = [
        (text, ENTAILED[place - 5][1] + " Nobody asked me.", 0) for place, (text, _, _) in enumerate(ENTAILED)
    ]
    rows = [(text, said, place % 2) for place, (text, said, _) in enumerate(apart)]
    assert guess_roles(written(tmp_path, "text,chatter,label", rows)) == Roles("text", "", "label")


@needs_data
@pytest.mark.parametrize(
    ("file", "roles"),
    [
        ("stsb/stsb-en-dev.csv", ("column 1", "column 2", "column 3")),
        ("stsb/stsb-zh-dev.csv", ("column 1", "column 2", "column 3")),
        ("lcqmc/dev.txt", ("column 1", "column 2", "column 3")),
        ("mrpc/msr_paraphrase_train.txt", ("#1 String", "#2 String", "Quality")),
        ("sst2/dev.tsv", ("column 1", "", "column 2")),
        ("chnsenticorp/dev.tsv", ("text_a", "", "label")),
        ("thucnews/dev.txt", ("column 1", "", "column 2")),
        ("polarity/sentence_polarity.csv", ("text", "", "label")),
        ("bbc_news/bbc-text.csv", ("text", "", "category")),
        ("labelling/banking77/test.csv", ("text", "", "category")),
        ("labelling/hate_speech/labeled_data.csv", ("tweet", "", "class")),
        ("labelling/clinc150/clinc150.tsv", ("text", "", "intent")),
        ("labelling/fewclue/eprstmt.tsv", ("text", "", "label")),
        ("labelling/sms_spam/SMSSpamCollection", ("SMS", "", "Label")),
        ("labelling/ag_news/test.csv", ("column 3", "", "column 1")),
        ("csv_torture/derived_from_real/trec_qc_latin1_alwaysquoted.csv", ("question", "", "coarse")),
    ],
)
def test_the_columns_of_published_sets_are_guessed_right(file: str, roles: tuple[str, str, str]) -> None:
    assert DATA is not None
    table = read_table(DATA / file)
    assert guess_roles(table) == Roles(*roles)
    assert doubt_about_header(table, Roles(*roles)) is None


@needs_data
def test_the_header_of_atec_over_its_pairs_is_not_believed(tmp_path: Path) -> None:
    assert DATA is not None
    rows = (DATA / "lcqmc" / "dev.txt").read_text(encoding="utf-8")
    path = tmp_path / "atec.tsv"
    path.write_text("label\tquestion\tsyn_question\n" + rows, encoding="utf-8")
    assert guess_roles(read_table(path)) == Roles("label", "question", "syn_question")


def test_a_run_that_guesses_its_columns_says_that_the_header_does_not_fit(
    tmp_path: Path,
) -> None:
    data = DataConfig(data=str(tmp_path / "atec.csv"))
    rows = [(f"how do I return parcel {n}", f"can parcel {n} be sent back", str(n % 2)) for n in range(30)]
    write_csv(tmp_path / "atec.csv", ("label", "question", "syn_question"), rows)
    events = list(guessing_columns(data))
    levels = {str(event.sentence)[:30]: event.level for event in events if isinstance(event, Noted)}
    assert levels["The header does not fit the ce"] == "look"
    found = result_of(guessing_columns(data))
    assert (found.text, found.text_pair, found.label) == ("label", "question", "syn_question")
