"""`doctor` prints what is doubtful; its recipe mends what is read, and the file stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.commands.command_line import main
from engine.text.recipe import read_recipe
from engine.text.table import read_table, write_csv

GOOD = [
    "a lovely warm film",
    "simply wonderful acting",
    "the best comedy in years",
    "great fun from start to end",
]
BAD = ["a dull cold mess", "simply terrible acting", "the worst comedy in years", "no fun from start to end"]
ENDS = ["in Paris", "about dogs", "by the sea", "with songs", "for children", "of the north", "on a train"]


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    """Return 56 reviews; row 3 has the wrong label, 56 repeats 0, 57 is nearly 1, 58 has an odd label."""
    rows = [(f"{text} {end}", label) for end in ENDS for text, label in _labelled()]
    rows[3] = (rows[3][0], "bad" if rows[3][1] == "good" else "good")
    rows += [rows[0], (rows[1][0].upper() + "!", rows[1][1]), ("great fun with a dog", "Good")]
    write_csv(tmp_path / "reviews.csv", ("text", "label"), rows)
    return tmp_path / "reviews.csv"


def _labelled() -> list[tuple[str, str]]:
    return [*((text, "good") for text in GOOD), *((text, "bad") for text in BAD)]


def test_findings_are_printed_with_their_rows(reviews: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = [
        "doctor",
        "--data",
        str(reviews),
        "--text",
        "text",
        "--label",
        "label",
        "--model",
        "none",
        "--json",
    ]
    assert main(line) == 0
    found = {each["kind"]: each for each in json.loads(capsys.readouterr().out)["findings"]}
    assert found["exact_duplicates"]["rows"] == [56] and found["exact_duplicates"]["twins"] == [0]
    near = found["near_duplicates"]
    assert (near["rows"][0], near["twins"][0], near["similarity"][0]) == (57, 1, 1.0)
    assert found["similar_labels"]["rows"] == [58] and found["similar_labels"]["meant"] == ["good"]
    suspected = found["suspected_labels"]
    assert suspected["rows"][0] == 3 and suspected["suggested"][0] == "good"
    assert suspected["probability"] == sorted(suspected["probability"])


def test_mends_are_written_as_a_recipe_and_a_new_table(reviews: Path, tmp_path: Path) -> None:
    before = reviews.read_bytes()
    line = ["doctor", "--data", str(reviews), "--text", "text", "--label", "label", "--quick"]
    mends = ["--mend", "exact_duplicates,similar_labels", "--mend", "near_duplicates:together"]
    out = ["--out", str(tmp_path / "recipe.json"), "--save-as", str(tmp_path / "mended.csv")]
    assert main([*line, *mends, *out]) == 0
    assert [step.do for step in read_recipe(tmp_path / "recipe.json").steps] == ["drop", "merge", "together"]
    mended = read_table(tmp_path / "mended.csv")
    assert mended.num_rows == 58 and set(mended.frame["label"].tolist()) == {"good", "bad"}
    assert reviews.read_bytes() == before


def test_partners_are_named_with_their_file_and_only_the_first_file_is_mended(
    reviews: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "apart").mkdir()
    test = tmp_path / "apart" / reviews.name  # of the same name
    rows = list(zip(*(read_table(reviews).frame[name].tolist() for name in ("text", "label")), strict=True))
    write_csv(
        test, ("text", "label"), [("nothing of the kind stands there", "good"), rows[7], *[rows[9]] * 2]
    )
    line = ["doctor", "--data", str(reviews), "--against", str(test), "--quick", "--json"]
    out = ["--mend", "exact_duplicates", "--out", str(tmp_path / "recipe.json")]
    assert main([*line, *out]) == 0
    found = json.loads(capsys.readouterr().out)["findings"]
    leaks = next(each for each in found if each["kind"] == "leaks")
    assert leaks["part"] == "reviews.csv" and leaks["rows"] == [7, 9]
    named = [[(each["part"], each["row"]) for each in partners] for partners in leaks["partners"]]
    assert named == [[("reviews.csv (2)", 1)], [("reviews.csv (2)", 2), ("reviews.csv (2)", 3)]]
    copies = {each["part"]: each["rows"] for each in found if each["kind"] == "exact_duplicates"}
    assert copies == {"reviews.csv": [56], "reviews.csv (2)": [3]}
    assert [step.rows for step in read_recipe(tmp_path / "recipe.json").steps] == [(56,)]


def test_near_copies_are_left_out_from_a_likeness_on(reviews: Path, tmp_path: Path) -> None:
    line = ["doctor", "--data", str(reviews), "--text", "text", "--label", "label", "--quick"]
    out = ["--out", str(tmp_path / "recipe.json")]
    assert main([*line, "--mend", "near_duplicates:0.99", *out]) == 0
    assert [step.rows for step in read_recipe(tmp_path / "recipe.json").steps] == [(57,)]


def test_a_mend_needs_a_place_to_be_written_to(reviews: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--data", str(reviews), "--mend", "exact_duplicates"]) == 2
    assert "--out" in capsys.readouterr().err


def test_columns_that_were_guessed_against_the_header_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [(f"how do I return parcel {n}", f"can parcel {n} be sent back", str(n % 2)) for n in range(30)]
    path = tmp_path / "atec.csv"
    write_csv(path, ("label", "question", "syn_question"), rows)
    assert main(["doctor", "--data", str(path), "--quick", "--model", "none", "--json"]) == 0
    said = capsys.readouterr()
    assert "column label holds sentences" in said.err and json.loads(said.out)["findings"] is not None
