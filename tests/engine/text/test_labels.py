"""Labels that differ only where nobody sees it are found, shown and merged; labels that differ are not."""

from __future__ import annotations

import pytest

from engine.text.labels import Alike, nearly_equal, spellings_of, visible

NEARLY_EQUAL = {
    "case": ("sport", "SPORT", "Sport"),
    "Turkish case": ("iyi", "\u0130Y\u0130"),
    "space": ("sci fi", "scifi", "sci  fi", "sci\u00a0fi"),
    "width": ("sport1", "\uff53\uff50\uff4f\uff52\uff54\uff11", "sport\uff11"),
    "width of katakana": ("\u30b9\u30dd\u30fc\u30c4", "\uff7d\uff8e\uff9f\uff70\uff82"),
    "Cyrillic letters": ("sport", "s\u0440\u043ert", "SP\u041eRT", "sport\u200b"),
    "case of Cyrillic": ("\u043d\u0435\u0442", "\u041d\u0415\u0422"),
    "one capital letter": ("B", "\u0412", "\u0392"),
    "zero width": ("sport", "sp\u200bort", "\ufeffsport", "spo\u00adrt", "sport\u2060"),
    "normal form": ("caf\u00e9", "cafe\u0301"),
    "numbers": ("0", "0.0", "0.00", "-0", "+0", "\uff10"),
    "dashes": ("non-fiction", "non\u2013fiction", "Non\u2011Fiction"),
    "a stop behind it": ("joy", "joy.", "Joy,", "joy\u3002"),
    "apostrophes": ("don't know", "don\u2019t know"),
}
DIFFERENT = (
    ("cafe", "caf\u00e9"),
    ("C", "C++", "C#"),
    ("1 2", "12", "1.2", "1,2"),
    ("1", "10", "1.5", "-1", "01"),
    ("1.1", "1.10"),
    ("1,0", "1"),
    ("\u03bcm", "mm"),
    ("\u0432", "b"),
    ("positive", "negative", "neutral"),
    ("k\u0131z", "kiz"),
    ("sci_fi", "sci fi"),
    ("$.", "$,", "."),
    (
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e007f",
        "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e007f",
    ),
    ("\u8d22\u7ecf", "\u79d1\u6280"),
)


@pytest.mark.parametrize("labels", NEARLY_EQUAL.values(), ids=NEARLY_EQUAL.keys())
def test_labels_that_differ_where_nobody_sees_it_are_one_group(labels: tuple[str, ...]) -> None:
    counts = {label: 9 - place for place, label in enumerate(labels)}
    assert nearly_equal({**counts, "other": 3}) == (Alike(labels[0], labels[1:]),)


@pytest.mark.parametrize("labels", DIFFERENT, ids=" ".join)
def test_labels_that_differ_where_it_can_be_seen_are_not(labels: tuple[str, ...]) -> None:
    assert nearly_equal(dict.fromkeys(labels, 1)) == ()


def test_the_commonest_spelling_is_kept_and_of_equals_the_shorter_whatever_stands_first() -> None:
    counts = {"TECH": 2, "Sport": 3, "sport": 40, "sport\u200b": 5, "tech ": 1, "tech": 2, "0.0": 4, "0": 4}
    golden = (
        Alike("0", ("0.0",)),
        Alike("TECH", ("tech", "tech ")),
        Alike("sport", ("sport\u200b", "Sport")),
    )
    assert nearly_equal(counts) == golden
    assert nearly_equal(dict(reversed(counts.items()))) == golden


def test_another_file_s_spellings_lead_to_the_labels_that_are_known() -> None:
    assert spellings_of(["SPORT", "sport", "0.0", "golf"], ["sport", "0"]) == {"SPORT": "sport", "0.0": "0"}
    assert spellings_of(["SPORT"], ["sport", "Sport"]) == {}, "near to two: nobody can say which is meant"


@pytest.mark.parametrize(
    ("label", "beside", "seen"),
    [
        ("Sport", "sport", "Sport"),
        ("sp\u043ert", "sport", "sp‹U+043E›rt"),
        ("sport\u200b", "sport", "sport‹U+200B›"),
        ("cafe\u0301", "caf\u00e9", "cafe‹U+0301›"),
        ("a  b", "a b", "a␣␣b"),
        ("a\u00a0b", "a b", "a‹U+00A0›b"),
        ("\u043d\u0435\u0442", "\u041d\u0435\u0442", "\u043d\u0435\u0442"),
    ],
)
def test_a_difference_that_nobody_would_see_is_made_visible(label: str, beside: str, seen: str) -> None:
    assert visible(label, [beside]) == seen
