"""A run as one HTML page: the numbers of its evaluation, nothing that is loaded, no text unasked."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest

from engine.language import ENGLISH, speak
from engine.report.blocks import Block, Document, Drawing, Mark, Quote, Said, Section, Table
from engine.report.drawing import Palette, drawn
from engine.report.html import POLICY, html_of
from engine.report.numbers import above, share
from engine.runs.card import card
from engine.runs.facts import read_facts
from engine.train.finetune import fine_tune
from tests.engine.tiny_runs import tiny_config
from tests.engine.typed import Engine, typed
from tests.fakes import model_folder

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\x00\ud800“&amp;”"


class Seen(HTMLParser):
    """What a page has: its tags with their attributes, and its texts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture
def engine(capsys: pytest.CaptureFixture[str]) -> Engine:
    return typed(capsys)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    for _ in fine_tune(tiny_config(folder, validation_share=0.3), folder / "run"):
        pass
    return folder / "run"


def loads_nothing(text: str) -> None:
    """Assert that a page names nothing that a browser would fetch."""
    seen = Seen(text)
    policies = [
        own["content"] for tag, own in seen.tags if own.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == [POLICY] and POLICY.startswith("default-src 'none'")
    for tag, own in seen.tags:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form", "audio", "video")
        assert not [name for name in own if name.startswith("on")]
        for name in ("src", "href", "xlink:href", "srcset", "action"):
            assert (own.get(name) or "#").startswith(("#", "data:image/"))
    assert not re.search(r"@import|url\((?!#)", text)
    assert "http" not in text.replace("http-equiv", "").replace("http://www.w3.org/2000/svg", "")


@pytest.mark.slow
def test_a_run_is_reported_with_the_numbers_that_evaluate_gives(
    run: Path, engine: Engine, tmp_path: Path
) -> None:
    code, out, err = engine("evaluate", "--model", str(run), "--part", "validation", "--quick", "--json")
    found = json.loads(out)
    page = tmp_path / "page.html"
    code, out, err = engine("report", "--model", str(run), "--html", str(page))
    assert code == 0, err
    text = page.read_text(encoding="utf-8")
    low, high = found["accuracy_interval"]
    assert f"{share(found['accuracy'])}</b>" in text and out.startswith(
        f"Accuracy {share(found['accuracy'])}"
    )
    assert f"{share(low).removesuffix(' %')} to {share(high)}" in text
    for name, one in found["per_label"].items():
        assert f'<td dir="auto">{name}</td>' in text and f">{share(one['f1'])}</td>" in text
    info = json.loads((run / "model" / "cloze.json").read_text(encoding="utf-8"))
    assert info["data"]["sha256"][:12] in text and info["split"]["sha256"][:12] in text
    hits = round(found["accuracy"] * found["num_examples"])
    assert f"{hits} right of {found['num_examples']}" in text  # the interval can be found again
    assert f"engine report --model {run} --html" in text and "a bad play" not in text
    loads_nothing(text)


@pytest.mark.slow
def test_texts_are_in_a_report_only_where_they_are_asked_for(
    run: Path, engine: Engine, tmp_path: Path
) -> None:
    pages = tmp_path / "without.html", tmp_path / "with.html"
    for page, more in zip(pages, ((), ("--with-texts",)), strict=True):
        code, _out, err = engine("report", "--model", str(run), "--html", str(page), "--quick", *more)
        assert code == 0, err
    without, with_texts = (page.read_text(encoding="utf-8") for page in pages)
    assert "Misclassified" not in without and "Misclassified" in with_texts


@pytest.mark.slow
def test_what_is_written_of_a_run_is_in_the_language_that_is_spoken(
    run: Path, engine: Engine, tmp_path: Path
) -> None:
    page, table = tmp_path / "page.html", tmp_path / "scores.md"
    try:
        asked = "--model", str(run)
        assert engine("--lang", "zh", "report", *asked, "--html", str(page))[0] == 0
        parts = "--part", "validation", "--report", str(table)
        assert engine("--lang", "zh", "evaluate", *asked, *parts)[0] == 0
        speak("zh")
        told = card([read_facts(run, run.parent)], "films", with_use=False)
    finally:
        speak(ENGLISH)
    html = re.sub(r"<(style|script|code).*?</\1>", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for text in ("\n".join(Seen(html).texts), table.read_text(encoding="utf-8"), told):
        assert "验证" in text and re.findall(r"[A-Za-z]{3,} [a-z]{3,}[a-z ]*", text) == []


def test_a_model_without_an_evaluation_is_reported_and_says_so(engine: Engine, tmp_path: Path) -> None:
    model_folder(tmp_path / "model", labels=("a", "b"))
    page = tmp_path / "page.html"
    code, out, err = engine("report", "--model", str(tmp_path / "model"), "--html", str(page))
    assert code == 0, err
    assert "No evaluation is kept with" in out and "--data" in out
    assert "No evaluation is kept with" in page.read_text(encoding="utf-8")
    code, _out, err = engine("report", "--model", str(tmp_path), "--html", str(tmp_path / "no.html"))
    assert code == 2 and "no run with a result" in err and not (tmp_path / "no.html").exists()


def test_whatever_a_text_holds_it_is_shown_and_does_nothing() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>'
    drawing = Drawing(svg, HOSTILE, caption=((HOSTILE, HOSTILE),), marks=[Mark(0, 0, 9, 9, HOSTILE)])
    blocks: list[Block] = [
        Said(HOSTILE),
        Quote(HOSTILE, HOSTILE),
        Table((HOSTILE,), [(HOSTILE,)], HOSTILE),
        drawing,
    ]
    text = html_of(Document(HOSTILE, HOSTILE, [Section(HOSTILE, blocks, HOSTILE)], ((HOSTILE, HOSTILE),)))
    text.encode()  # no half of a character is left
    seen = Seen(text)
    assert [tag for tag, _own in seen.tags].count("script") == 1
    assert "img" not in [tag for tag, _own in seen.tags]
    assert sum("alert(1)" in one for one in seen.texts) > 9
    loads_nothing(text)


def test_a_drawing_keeps_what_draws_and_nothing_else() -> None:
    svg = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="20mm"
      viewBox="0 0 20 10" onload="x()"><defs><linearGradient id="g"/></defs><script>x()</script>
      <foreignObject/><a xlink:href="javascript:x()"><rect/></a><style>*{}</style>
      <rect fill="url(#g)" stroke="#2f5fd0" style="x" onclick="x()"/><rect fill="url(http://a.b)"/>
      <image xlink:href="http://a.b/c.png"/><image xlink:href="data:image/png;base64,AAAA"/></svg>"""
    dark = svg.replace("#2f5fd0", "#7aa2ff").replace("AAAA", "BBBB")
    palette = Palette()
    made = drawn(Drawing(svg, "x", dark), "f1-", palette, "x")
    root = ElementTree.fromstring(made)
    tags = [one.tag.rpartition("}")[2] for one in root.iter()]
    assert sorted(tags) == ["defs", "image", "image", "linearGradient", "rect", "rect", "svg"]
    assert "x()" not in made and "a.b" not in made and "url(#f1-g)" in made and 'id="f1-g"' in made
    assert "#2f5fd0" in palette.rules(False) and "#7aa2ff" in palette.rules(True)
    assert 'class="only-light"' in made and 'class="only-dark"' in made


@pytest.mark.parametrize("svg", ["", "<p/>", "<svg><unclosed></svg>", "<html xmlns='x'/>"])
def test_what_is_no_drawing_is_said_in_its_place(svg: str) -> None:
    text = html_of(Document("x", blocks=[Drawing(svg, "x")]))
    assert "could not be drawn" in text


def test_numbers_are_rounded_as_people_do() -> None:
    assert [share(value) for value in (183 / 240, 0.8875, 0.0, 1.0, 0.9999)] == [
        "76.3 %",
        "88.8 %",
        "0.0 %",
        "100.0 %",
        "99.99 %",
    ]
    assert above(-0.05, (-0.08, -0.02), "it") == "5.0 points below it (2.0 to 8.0)"
