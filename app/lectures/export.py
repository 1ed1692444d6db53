"""A lecture as a folder: each scene's figures with captions and numbers, and an index to read or to print.
Or as one HTML file to send, whose figures answer to the pointer.

The scenes are shown on pages of their own that nobody sees, with workers of their own: the window goes on,
and the figures have the same size wherever they are made. A generator: at each yield the window draws and
hears.
"""

from __future__ import annotations

import html
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt

from app import words
from app.lectures import find
from app.lectures.lecture import Lecture, Scene
from app.look import theme
from app.page_stack import PageStack, is_kept
from app.pages.inside.kept_page import KeptPage
from app.pages.inside.model_bar import model_caption
from app.plots.figure import Figure, caption_text, save_figure
from app.plots.figure_files import file_stem
from app.session import Session
from app.settings import AppSettings
from app.share.gather import document_of, words_of_page
from app.share.pictures import drawing_of
from app.words import translate
from engine.durable import write_text
from engine.errors import UserError, marked
from engine.report.blocks import Block, Document, Said, Section
from engine.report.html import html_of
from engine.report.made import made_by

PNG, SVG, NUMBERS = ".png", ".svg", ".csv"
HTML, MARKDOWN, ONE_FILE = "index.html", "index.md", "one file"
SIZE = QSize(1104, 740)  # of a page, as it stands in the window at first
CALM = 12  # looks in a row at which nothing is asked, until a page counts as shown; no page rests longer
LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class ExportedScene:
    """A scene as it was exported. files: of its figures. captions: one for each. problem: why it has none.

    blocks: what it is in one file to send.
    """

    scene: Scene
    files: tuple[str, ...] = ()
    captions: tuple[str, ...] = ()
    problem: str = ""
    blocks: tuple[Block, ...] = ()


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """What is to be exported where. found: the models, by fingerprint. kind: of the figures. index:
    its name, or ONE_FILE.
    """

    lecture: Lecture
    found: Mapping[str, Path]
    folder: Path
    kind: str = PNG
    index: str = HTML
    size: QSize = field(default_factory=lambda: QSize(SIZE))


class HiddenPages:
    """Pages that nobody sees, over a session of their own. Close it, whatever has happened."""

    def __init__(self, settings: AppSettings, runs_root: Path) -> None:
        settings.runs_root = runs_root
        self.session = Session(settings)
        self.pages = PageStack(self.session, ahead=False)
        self.pages.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
        theme.dress(self.pages)
        self._calm = 0

    def show(self, scene: Scene, found: Mapping[str, Path], size: QSize) -> Iterator[None]:
        """Show a scene and wait until all of it is there. Raises: UserError: it cannot be shown."""
        lacking = find.lacking(scene, found)
        if not is_kept(scene.page):
            raise UserError(marked("engine", "This scene belongs to a page that this Cloze does not have."))
        if lacking:
            raise UserError(marked("engine", "“{name}” is not on this computer."), name=lacking[0].name)
        if self.pages.size() != size:
            self.pages.resize(size)
        self.pages.show()
        self.pages.show_page(scene.page)
        page = self.page(scene)
        page.show_scene(find.values_of(scene, found))
        self._calm = 0
        while self._calm < CALM:
            is_calm = self.session.workers.is_idle and page.is_state_shown
            self._calm = self._calm + 1 if is_calm else 0
            yield

    def page(self, scene: Scene) -> KeptPage[Any]:
        """Return the page of a scene."""
        page = self.pages.page(scene.page)
        assert isinstance(page, KeptPage)  # asked before
        return page

    def close(self) -> None:
        """End what is asked, and let go of the pages."""
        self.session.close()
        self.pages.hide()
        self.pages.deleteLater()
        self.session.deleteLater()


def export(order: ExportOrder, hidden: HiddenPages) -> Iterator[int]:
    """Write figures, captions and an index; yield how many scenes are done, again and again.

    A scene that cannot be shown stands in the index with the reason. Raises: UserError: the folder cannot be
    written.
    """
    order.folder.mkdir(parents=True, exist_ok=True)
    shown: list[ExportedScene] = []
    for number, scene in enumerate(order.lecture.scenes, start=1):
        try:
            for _ in hidden.show(scene, order.found, order.size):
                yield len(shown)
        except UserError as error:
            shown.append(ExportedScene(scene, problem=words.say_error(error)))
            continue
        page = hidden.page(scene)
        if order.index == ONE_FILE:
            shown.append((yield from _drawn(page, scene, len(shown))))
        else:
            shown.append(_save(order, page, scene, number))
        yield len(shown)
    if order.index == ONE_FILE:
        write_text(order.folder / name_of_file(order.lecture), html_of(_document(order, shown)))
        yield len(shown)
        return
    text = _html(order, shown) if order.index == HTML else _markdown(order, shown)
    write_text(order.folder / order.index, text)
    yield len(shown)


def name_of_file(lecture: Lecture) -> str:
    """Return what a lecture's one file is called."""
    return f"{file_stem(lecture.title or translate('lectures', 'Lecture'))}.html"


def _drawn(page: KeptPage[Any], scene: Scene, done: int) -> Generator[int, None, ExportedScene]:
    """Return a scene as parts of one file, yielding how many scenes are done before each figure."""
    page.setFocus()  # no ring around a figure
    blocks = list[Block]()
    for figure in page.figures_shown():
        yield done
        figure.set_caption(_whole_caption(figure, scene))
        blocks.append(drawing_of(figure))
    if not blocks:
        yield done
        blocks += document_of(page).blocks
    return ExportedScene(scene, blocks=tuple(blocks))


def _document(order: ExportOrder, shown: list[ExportedScene]) -> Document:
    sections = []
    for number, one in enumerate(shown, start=1):
        sentence = one.scene.sentence
        said = [Said(text, level) for text, level in ((sentence, ""), (one.problem, "wrong")) if text]
        sections.append(Section(f"{number}. {one.scene.title}", [*said, *one.blocks]))
    title = order.lecture.title or translate("lectures", "Lecture")
    return Document(title, blocks=sections, footer=made_by(), words=words_of_page())


def _save(order: ExportOrder, page: KeptPage[Any], scene: Scene, number: int) -> ExportedScene:
    """Save the figures of a page that shows a scene; the whole page where it shows none."""
    page.setFocus()  # no ring around a figure
    figures = page.figures_shown()
    stem = f"{number:02d}-{file_stem(scene.title)[:LONGEST_NAME].strip('-')}"
    files, captions = [], []
    for place, figure in enumerate(figures, start=1):
        name = f"{stem}-{place}{order.kind}" if len(figures) > 1 else f"{stem}{order.kind}"
        save_figure(figure, order.folder / name)
        figure.set_caption(_whole_caption(figure, scene))
        for suffix in (NUMBERS, ".txt"):
            save_figure(figure, (order.folder / name).with_suffix(suffix))
        files.append(name)
        captions.append(caption_text(figure).strip())
    if not figures:
        name = f"{stem}{order.kind}"
        save_figure(page, order.folder / name)
        files, captions = [name], [page.header.title_label.text()]
    return ExportedScene(scene, tuple(files), tuple(captions))


def _whole_caption(figure: Figure, scene: Scene) -> list[tuple[str, str]]:
    """Return a figure's caption with what it leaves to the page around it: models, weights, text."""
    found = [(name, value) for name, value in figure.caption if value.strip()]
    told = {value for _name, value in found}
    for mark in scene.models.values():
        lines = model_caption(mark.name, mark.fingerprint)
        found += [line for line in lines if line[1] not in told]
    for name, text in (
        (translate("lectures", "text"), scene.text),
        (translate("lectures", "second text"), scene.text_pair),
    ):
        if text.strip() and text not in told:
            found.append((name, text))
    return found


def _html(order: ExportOrder, shown: list[ExportedScene]) -> str:
    title = html.escape(order.lecture.title or translate("lectures", "Lecture"))
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="{html.escape(order.lecture.language)}"><head><meta charset="utf-8">',
        f"<title>{title}</title>",
        "<style>body{font-family:sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;line-height:1.45}"
        "img{max-width:100%;border:1px solid #dfe3ea;border-radius:6px}section{margin:0 0 3rem}"
        "figcaption{color:#5a6475;font-size:.85rem;white-space:pre-line;margin:.4rem 0 1.4rem}"
        "figure{margin:1rem 0}p.problem{color:#b83227}</style></head><body>",
        f"<h1>{title}</h1>",
    ]
    for number, one in enumerate(shown, start=1):
        parts.append(f"<section><h2>{number}. {html.escape(one.scene.title)}</h2>")
        if one.scene.sentence:
            parts.append(f"<p>{html.escape(one.scene.sentence)}</p>")
        if one.problem:
            parts.append(f'<p class="problem">{html.escape(one.problem)}</p>')
        for name, caption in zip(one.files, one.captions, strict=True):
            said = html.escape(caption)
            alt = html.escape(caption.splitlines()[0] if caption else name)
            image = f'<img src="{html.escape(name)}" alt="{alt}">'
            beside = Path(name).with_suffix(NUMBERS).name
            link = ""
            if (order.folder / beside).is_file():
                said_link = html.escape(translate("lectures", "Numbers"))
                link = f'\n<a href="{html.escape(beside)}">{said_link}</a>'
            parts.append(f"<figure>{image}<figcaption>{said}{link}</figcaption></figure>")
        parts.append("</section>")
    return "\n".join([*parts, "</body></html>"]) + "\n"


def _markdown(order: ExportOrder, shown: list[ExportedScene]) -> str:
    parts = [f"# {_plain(order.lecture.title or translate('lectures', 'Lecture'))}", ""]
    for number, one in enumerate(shown, start=1):
        parts += [f"## {number}. {_plain(one.scene.title)}", ""]
        parts += [_plain(one.scene.sentence), ""] if one.scene.sentence else []
        parts += [f"*{_plain(one.problem)}*", ""] if one.problem else []
        for name, caption in zip(one.files, one.captions, strict=True):
            lines = [_plain(line) for line in caption.splitlines()]
            parts += [f"![{lines[0] if lines else ''}]({name})", "", *(f"> {line}  " for line in lines), ""]
    return "\n".join(parts).rstrip() + "\n"


def _plain(text: str) -> str:
    """Return a text that Markdown shows as it is."""
    return "".join(f"\\{char}" if char in "\\`*_[]<>#|" else char for char in text)
