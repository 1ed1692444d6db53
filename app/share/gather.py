"""What a page shows, read from the page itself: no page describes itself a second time.

Cards become sections; labels, figures, tables, remarks and typed texts in them become their blocks, in the
order in which they are read. What can only be pressed is not there. What holds the rows of a person's table
(`keep_private` of app/look/widgets.py) is there only where that was asked for.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import shiboken6
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSlider,
    QAbstractSpinBox,
    QComboBox,
    QLabel,
    QProgressBar,
    QTableView,
    QWidget,
)

from app.form.form import SettingsForm
from app.look.inputs import LineEdit, TextEdit
from app.look.labels import PART, ElidedLabel
from app.look.page import Page, PageHeader
from app.look.widgets import Advice, Card, EmptyState, is_private
from app.plots.figure import Figure
from app.plots.tile import Tile
from app.share.pictures import drawing_of
from app.words import translate
from engine.events import Beat, Event, result_of
from engine.report.blocks import (
    Block,
    Command,
    Document,
    Drawing,
    Facts,
    KeyNumber,
    KeyNumbers,
    Quote,
    Said,
    Section,
    Table,
)
from engine.report.made import bare, made_by, today, version

LINE = 6  # px that lie on one line
MOST_ROWS = 500  # of a table
LARGE = ("huge", "big")  # roles of labels that are one number
LETTERS = ("letter-a", "letter-b")  # of boxes that have names
LONGEST = 24  # letters of such a number
PRESSED = (QAbstractButton, QAbstractSlider, QAbstractSpinBox, QComboBox, QProgressBar, EmptyState)


@dataclass(frozen=True, slots=True)
class Placed:
    """A block and where it lies on the page: px from the page's top and left."""

    top: int
    left: int
    block: Block


def document_of(page: Page, *, has_texts: bool = False) -> Document:
    """Return what a page shows as a page to send. Args: has_texts: with the texts of a person's tables."""
    return result_of(reading(page, has_texts=has_texts))


def reading(page: Page, *, has_texts: bool = False) -> Generator[Event, None, Document]:
    """Return the same, a figure at a time: to paint one takes long, and the window goes on meanwhile."""
    header, reader = page.header, _Reader(page, has_texts)
    blocks = _in_sections(reader.read(page))
    line = header.copying.line() if header.copying is not None else ""
    told = facts_of(page)
    drawn: dict[int, Drawing] = {}
    for empty, figure in reader.figures:
        yield Beat()
        if shiboken6.isValid(figure) and not figure.is_empty:
            made = drawing_of(figure)
            drawn[id(empty)] = replace(made, caption=tuple(one for one in made.caption if one not in told))
    blocks = _filled(blocks, drawn)
    if reader.num_private:
        said = translate("share", "The texts of the tables are not included.")
        blocks.append(Said(said, is_quiet=True))
    if line:
        blocks.append(Section(translate("share", "The same on the command line"), [Command(bare(line))]))
    return Document(
        header.title_label.text(),
        PART.join([header.sentence_label.text(), *_facts_in(header)]),
        blocks,
        told,
        facts_title=translate("share", "How to verify this"),
        footer=made_by(),
        words=words_of_page(),
    )


def _filled(blocks: Sequence[Block], drawn: dict[int, Drawing]) -> list[Block]:
    """Return blocks with the drawings in their places."""
    found: list[Block] = []
    for one in blocks:
        if isinstance(one, Section):
            found.append(replace(one, blocks=_filled(one.blocks, drawn)))
        elif not isinstance(one, Drawing):
            found.append(one)
        elif id(one) in drawn:
            found.append(drawn[id(one)])
    return found


def facts_of(page: Page) -> Facts:
    """Return what a stranger needs: what the page says of itself, and what all of its figures do."""
    captions = [one.caption for one in page.figures_shown() if isinstance(one, Figure) and one.caption]
    shared = [line for line in captions[0] if all(line in one for one in captions)] if captions else []
    found = dict(page.provenance()) | dict(shared)
    found |= {translate("share", "Cloze"): version(), translate("share", "date"): today()}
    return tuple((name, value) for name, value in found.items() if value.strip())


def words_of_page() -> dict[str, str]:
    """Return the words of a page's own."""
    return {
        "numbers": translate("share", "Numbers of this figure"),
        "more": translate("share", "{count} more rows are not listed here."),
        "undrawn": translate("share", "This figure could not be drawn."),
    }


def _facts_in(header: PageHeader) -> Iterator[str]:
    """Yield what the header says of all that is shown."""
    for fact in header.facts:
        if isinstance(fact, QLabel) and fact.isVisible():
            yield fact.text()


class _Reader:
    """Reads widgets; counts what was held back."""

    def __init__(self, page: QWidget, has_texts: bool) -> None:
        self._page, self._has_texts = page, has_texts
        self.num_private = 0
        self.figures: list[tuple[Drawing, Figure]] = []  # what stands in their places until they are drawn

    def read(self, widget: QWidget) -> list[Placed]:
        """Return the blocks in a widget, as they are read."""
        children = widget.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly)
        found: list[Placed] = []
        for child in children:
            if child.isVisible() and child is not getattr(self._page, "header", None):
                found += self._of(child)
        return sorted(found, key=lambda one: (one.top // LINE, one.left))

    def _of(self, widget: QWidget) -> list[Placed]:
        if isinstance(widget, Tile):
            return [self._placed(widget, KeyNumbers([KeyNumber(widget.value, widget.text())]))]
        if isinstance(widget, PRESSED) or widget.isWindow():
            return []
        if is_private(widget) and not self._has_texts:
            self.num_private += 1
            return []
        if isinstance(widget, Card):
            return self._card(widget)
        blocks = list(self._leaf(widget))
        if blocks or isinstance(widget, Figure | QLabel | QTableView | Advice):
            return [self._placed(widget, block) for block in blocks]
        return self.read(widget)

    def _leaf(self, widget: QWidget) -> Iterator[Block]:
        """Yield the blocks of a widget that is read as a whole."""
        match widget:
            case Figure() if not widget.is_empty:
                empty = Drawing("", widget.title)
                self.figures.append((empty, widget))
                yield empty
            case QTableView() if widget.model() is not None:
                yield from _table(widget)
            case Advice():
                yield from (Said(text, level) for level, text in widget.items())
            case TextEdit() | LineEdit():
                yield from _typed(widget)
            case SettingsForm():
                yield from _settings(widget)
            case QLabel() if widget.property("role") in LARGE and 0 < len(widget.text().strip()) <= LONGEST:
                yield KeyNumbers([KeyNumber(widget.text(), "")])
            case QLabel() if widget.property("role") in LETTERS:
                return
            case QLabel() if len(_text_of(widget).strip()) > 1:
                yield Said(_text_of(widget), _level(widget), is_quiet=widget.property("role") == "muted")

    def _card(self, card: Card) -> list[Placed]:
        inner = [one for one in self.read(card) if not _is_head(one, card)]
        title = card.title_label.text()
        if not inner:
            return []
        section = Section(title, _joined(inner), "" if card.hint_label.isHidden() else _told(card.fact))
        return [self._placed(card, section)]

    def _placed(self, widget: QWidget, block: Block) -> Placed:
        at = widget.mapTo(self._page, QPoint())
        return Placed(at.y(), at.x(), block)


def _told(fact: str) -> str:
    """Return what a hint says of the card, without single signs."""
    return PART.join(part for part in fact.split(PART) if len(part) > 1)


def _is_head(one: Placed, card: Card) -> bool:
    """Whether a block is a card's own title or hint."""
    return isinstance(one.block, Said) and one.block.text in (card.title_label.text(), card.hint_label.text())


def _joined(placed: Sequence[Placed]) -> list[Block]:
    """Return blocks with words that stand on one line put together, and a number with what is said of it."""
    found: list[Block] = []
    line = -1
    for one in placed:
        block, before = one.block, found[-1] if found else None
        is_beside = abs(one.top - line) <= 2 * LINE
        line = one.top
        if isinstance(block, Said) and is_beside and isinstance(before, Said):
            found[-1] = Said(f"{before.text}  {block.text}", before.level or block.level, before.is_quiet)
        elif isinstance(block, KeyNumbers) and is_beside and isinstance(before, KeyNumbers):
            found[-1] = KeyNumbers([*before.numbers, *block.numbers])
        elif isinstance(block, Said) and isinstance(before, KeyNumbers):
            number = before.numbers[-1]
            about = " · ".join(part for part in (number.about, block.text) if part)
            if is_beside or not number.about:
                found[-1] = KeyNumbers([*before.numbers[:-1], KeyNumber(number.value, number.name, about)])
            else:
                found.append(block)
        else:
            found.append(block)
    return found


def _in_sections(placed: Sequence[Placed]) -> list[Block]:
    """Return blocks on a page: what stands in no card comes in a section of its own."""
    found: list[Block] = []
    loose: list[Placed] = []
    for one in placed:
        if isinstance(one.block, Section):
            found += [Section("", _joined(loose))] if loose else []
            loose = []
            found.append(one.block)
        else:
            loose.append(one)
    return [*found, *([Section("", _joined(loose))] if loose else [])]


def _text_of(label: QLabel) -> str:
    """Return what a label says, whole and without markup."""
    text = label.text()
    if not isinstance(label, ElidedLabel) and label.textFormat() == Qt.TextFormat.RichText:
        text = QTextDocumentFragment.fromHtml(text).toPlainText()
    return bare(text)


def _level(label: QLabel) -> str:
    role = label.property("role")
    return role if role in ("fine", "look", "wrong") else "wrong" if role == "refusal" else ""


def _table(view: QTableView) -> Iterator[Table]:
    """Yield the rows of a table as they are shown."""
    model: Any = view.model()
    count = model.rowCount()
    columns = [place for place in range(model.columnCount()) if not view.isColumnHidden(place)]
    if not count or not columns:
        return
    across = Qt.Orientation.Horizontal
    head = [_cell(model.headerData(place, across)) for place in columns]
    rows = [
        [_cell(model.index(row, place).data()) for place in columns]
        for row in range(min(count, MOST_ROWS))
        if not view.isRowHidden(row)
    ]
    left = count - MOST_ROWS
    note = words_of_page()["more"].format(count=left) if left > 0 else ""
    yield Table(head, rows, note=note)


def _cell(value: Any) -> str:
    return "" if value is None else bare(" ".join(str(value).split()))


def _typed(box: TextEdit | LineEdit) -> Iterator[Quote]:
    """Yield what was typed; no path of this computer, and nothing that is only searched for."""
    text = box.toPlainText() if isinstance(box, TextEdit) else box.text()
    is_path = isinstance(box, LineEdit) and ("/" in text or "\\" in text) and " " not in text.strip()
    if text.strip() and not is_path:
        yield Quote(text, box.accessibleName())


def _settings(form: SettingsForm) -> Iterator[Table]:
    """Yield a form's settings, as their names and values are read."""
    rows = form.said()
    if rows:
        yield Table((translate("share", "setting"), translate("share", "value")), rows)
