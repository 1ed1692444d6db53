"""A file of tagged words on the Data page: its columns, its texts, the true types over the words of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from app import words
from app.look.boxes import ElidedBox
from app.look.labels import label
from app.look.layout import row
from app.look.widgets import holder, named
from app.pages.tasks.token_labels.listing import TextList
from app.pages.tasks.views import TaskPreview
from app.plots.tagged_words import TRUE, TaggedStretch, tagged_words
from engine.text.tagged.read import first_fields
from engine.text.tagged.scheme import SCHEMES

if TYPE_CHECKING:
    from app.session import Session
    from app.work.task_files import TaskFile
    from engine.text.tagged.texts import TaggedTable, TaggedText

MOST_WORDS = 2000  # of a text that are drawn


class TokenPreview(TaskPreview):
    """The texts of a file, as they stand in it."""

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self._session = session
        self.setObjectName("token_preview")
        self.word_box = self._box("word_column", self.tr("Word column"))
        self.tag_box = self._box("tag_column", self.tr("Tag column"))
        self.scheme_box = self._box("tag_scheme", self.tr("Scheme of the tags"))
        self.scheme_box.addItem(self.tr("Scheme: detected"), "")
        for scheme in SCHEMES:
            none = self.tr("Scheme: none, each tag on its own")
            text = self.tr("Scheme: {name}").format(name=scheme)
            self.scheme_box.addItem(none if scheme == "none" else text, scheme)
        boxes = row((self.word_box, 1), (self.tag_box, 1), (self.scheme_box, 1))
        self.how = label("", "muted", wrap=True, name="token_how")
        self.list = TextList("texts_of_file", self.tr("Texts of the file"), most_lines=5)
        self.add(self.how)
        self.add(holder(boxes))
        self.add(self.list, 1)
        self._texts: TaggedTable | None = None
        self.list.row_chosen.connect(self._show_words)

    def _box(self, name: str, title: str) -> ElidedBox:
        box = named(ElidedBox(), name, title)
        box.setMinimumContentsLength(6)
        box.activated.connect(self._read_again)
        return box

    def _read_again(self) -> None:
        """Read the file as the boxes say."""
        said = {"scheme": str(self.scheme_box.currentData())}
        if not self.word_box.isHidden():
            said |= {"text": self.word_box.currentData(), "label": self.tag_box.currentData()}
        self._session.data.reread_file(**said)

    def _show_columns(self, texts: TaggedTable) -> None:
        """Offer the columns of a CoNLL file, each with its first cells."""
        is_conll = texts.format.kind in ("conll", "conllu")
        rows = (
            [cells for cells in first_fields(texts.path, texts.format.encoding) if cells] if is_conll else []
        )
        templates = (self.tr("Word: column {number} ({cells})"), self.tr("Tag: column {number} ({cells})"))
        for box, template, chosen in zip(
            (self.word_box, self.tag_box), templates, (texts.format.word, texts.format.tag), strict=True
        ):
            box.clear()
            for place in range(max(map(len, rows), default=0)):
                cells = dict.fromkeys(cells[place] for cells in rows if place < len(cells))
                shown = words.shorten(words.listed(list(cells)[:4]), 40)
                box.addItem(template.format(number=words.number(place + 1), cells=shown), str(place + 1))
            box.choose(chosen)
            box.setVisible(is_conll)
        self.scheme_box.setVisible(texts.format.kind != "spans")
        said = self._session.data.file_settings.get("scheme", "")
        self.scheme_box.choose(said)

    def show_file(self, file: TaskFile) -> None:
        texts: TaggedTable = file.content.content  # type: ignore[attr-defined]
        if texts is self._texts:
            return
        self._texts = texts
        self._show_columns(texts)
        self.set_title(file.path.name)
        text = self.tr("{texts} · {words} words")
        one, many = self.tr("1 text"), self.tr("{count} texts")
        self.set_hint(
            text.format(texts=words.counted(len(texts), one, many), words=words.number(texts.num_words))
        )
        reasons = [words.closed(words.say(reason)) for reason in texts.format.reasons]
        repaired = words.counted(
            len(texts.repairs),
            self.tr("1 tag is read differently from how it is written."),
            self.tr("{count} tags are read differently from how they are written."),
        )
        said = [reason[:1].upper() + reason[1:] for reason in reasons]
        if texts.repairs:
            said.append(repaired)
        self.how.setText(words.sentences(said))
        names = (self.tr("Line"), self.tr("Text"), self.tr("Words"))
        self.list.set_rows(names, len(texts), self._cell, wide=(1,), numbers=(0, 2))

    def _cell(self, row: int, column: int) -> str:
        assert self._texts is not None
        store = self._texts.store
        if column == 0:
            return words.number(int(store.first_lines[row]))
        if column == 2:
            return words.number(int(store.firsts[row + 1] - store.firsts[row]))
        return store.text(row)[0]

    def _show_words(self, row: int) -> None:
        assert self._texts is not None
        text = self._texts[row]
        end = text.spans[min(len(text.spans), MOST_WORDS) - 1][1]
        is_plain = self._texts.format.scheme == "none"
        stretches = [one for one in stretches_of(text, is_plain=is_plain) if one.stop <= end]
        types = sorted(self._texts.types)
        self.list.words.set_text(tagged_words(text.text[:end], true=stretches), types, (TRUE,))


def stretches_of(text: TaggedText, *, is_plain: bool) -> list[TaggedStretch]:
    """Return the entities of a text; where tags are plain, each word with its tag."""
    if is_plain:
        return [TaggedStretch(*span, tag) for span, tag in zip(text.spans, text.tags, strict=True)]
    return [
        TaggedStretch(text.spans[first][0], text.spans[stop - 1][1], kind)
        for first, stop, kind in text.entities
    ]
