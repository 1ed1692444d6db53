"""Files whose texts hold their labels: the refusal says what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.errors import ConfigError
from engine.settings.finetune import DataConfig
from engine.text.inside_texts import labels_inside
from engine.text.table import read_table
from engine.train.prepare import roles_of

TREC = """DESC:manner How did serfdom develop in and then leave Russia ?
ENTY:cremat What films featured the character Popeye Doyle ?
DESC:manner How can I find a list of celebrities , real names ?
HUM:ind Who was he , then ?
DESC:manner How so ?
HUM:ind Who is she ?
"""
FASTTEXT = "__label__good a film that I like\n__label__bad a dull one\n__label__good go and see it\n"
TAGGED = "The_DT dog_NN barks_VBZ ._.\nA_DT cat_NN ,_, it_PRP sleeps_VBZ ._.\nHe_PRP ran_VBD home_NN ._.\n"
BROWN = "The/at Fulton/np-tl County/nn-tl said/vbd ./.\nIt/pps was/bedz so/rb ./.\nNo/at one/pn ./.\n"
PROSE = "Note: a film\nIt is 12:30 and/or later, see http://example.org/x\nRatio 3:1\nSo: no\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (TREC, "label, such as DESC:manner, .* with a tab"),
        (FASTTEXT, "label, such as __label__good, .* with a tab"),
        (TAGGED, r"carry tags, such as The_DT\. Write one word per line, a tab, and its tag"),
        (BROWN, r"carry tags, such as The/at\."),
        (PROSE, r"No column was chosen for label"),
    ],
)
def test_a_file_whose_texts_hold_their_labels_is_refused_with_what_to_write(
    text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "file.txt"
    path.write_text(text, encoding="utf-8")
    table = read_table(path, header="no")
    with pytest.raises(ConfigError, match=said):
        roles_of(DataConfig(data=str(path), text="1"), table)
    assert (labels_inside(table) is None) == (text == PROSE)
