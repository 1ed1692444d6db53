"""Where sentences end, in English and Chinese."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.corpus.sentences import split_sentences


@pytest.mark.parametrize(
    "sentences",
    [
        ["Mr. Smith met Dr. Jones at St. Mary's.", "They spoke."],
        ["He read J. R. R. Tolkien, e.g. The Hobbit, in the U.S. Senate.", "It rained."],
        ["It moved to the U.S. Army.", "So did we."],
        ["They live in the U.S.", "The others do not."],
        ["He left at 5 p.m.", "She stayed, cf. Fig. 3 and No. 5, until Jan. 6."],
        ["It cost 3.5 dollars.", "See example.com for more."],
        ['"Why?" he asked.', '"Because."', "(So it was.)", "‘Yes!’", "“No.”", "All right."],
        ["I waited...", "Nobody came.", "And then…", "Well… well."],
        ["Wait... what?!", "Yes."],
        ["World War I.", "The war ended in 1918.", "18 people came."],
        ["1. First of all.", "2. Then this."],
        ["This is closely related to H. americanus . ", '" Quoted words . "', "It grows ."],
        ["No stop at all"],
        ["One. ", "[...] Another."],
    ],
)
def test_english_sentences_end_where_a_reader_ends_them(sentences: list[str]) -> None:
    assert split_sentences(" ".join(sentences)) == [sentence.strip() for sentence in sentences]


@pytest.mark.parametrize(
    "sentences",
    [
        ["他说：“你好。”", "然后走了。", "真的吗？！", "走吧！", "再见；", "好"],
        ["「好。」", "她说（是的。）", "是的……", "他走了。", "真的吗?", "不是!"],
        ["增长3.5%。", "版本3.中国不变。", "价格是5.00元。"],
    ],
)
def test_chinese_sentences_end_without_a_space(sentences: list[str]) -> None:
    assert split_sentences("".join(sentences)) == sentences


@given(st.text(alphabet=st.sampled_from(list('aB1 .!?…。！？；”」")(«—-\n\tMrU中')), max_size=60))
def test_sentences_join_to_the_paragraph_again_and_none_is_empty(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence and sentence == sentence.strip() for sentence in sentences)


@pytest.mark.slow
@pytest.mark.parametrize(
    "unit", [".", ". ", "p.\t", '"', "。", "1. ", " ", "a.b", ". -", '. " ', "中!", "J. "]
)
def test_no_line_however_strange_takes_more_than_linear_time(unit: str) -> None:
    text = unit * (200_000 // len(unit)) + "a"
    begin = time.process_time()
    split_sentences(text)
    assert time.process_time() - begin < 5  # a quadratic rule takes minutes; the slowest of these, 0.2 s
