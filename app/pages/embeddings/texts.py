"""Which texts the Embeddings page looks at: rows of the open table, typed ones, or a word wherever it is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app import words
from app.look.boxes import ChoiceBox
from app.look.inputs import LineEdit, SpinBox, TextEdit
from app.look.labels import label, tip
from app.look.layout import STRETCH, Item, column, form_rows
from app.look.widgets import Card, button, named, tidy_spin
from app.pages.embeddings.requests import TextSource, sample_rows
from app.session import Session
from engine.errors import bare_column
from engine.inspect.embeddings.contexts import typed_lines
from engine.inspect.example_texts import ExampleSenses, Topics, senses_for, topics_for
from engine.inspect.loaded_model import ModelSummary

MOST_ROWS = 10_000
ROWS, LENGTH = 300, 128
TABLE, TYPED, WORD = "table", "typed", "word"
RANDOM, FIRST = "random", "first"


class SourceCard(Card):
    """Emits `changed` when other texts are meant, `entered` when they are wanted at once."""

    changed = Signal()
    entered = Signal()
    table_wanted = Signal()

    def __init__(self, session: Session, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Texts"))
        self._session = session
        self._senses: ExampleSenses | None = None
        self._topics: Topics | None = None
        self._make_choices()
        self._make_texts()
        self._lay_out()
        self._connect()
        self._show_table()
        self._show_kind()

    @property
    def kind(self) -> str:
        return str(self.kind_box.currentData())

    def set_about(self, about: ModelSummary) -> None:
        """Offer the examples that a model can read."""
        self._senses, self._topics = senses_for(about.wordpiece), topics_for(about.wordpiece)
        self.length.setMaximum(about.max_length)
        named = self.tr("Example: “{word}” with two meanings").format(word=self._senses.word)
        self.senses_button.setText(named)
        if not self.word.text():
            self.word.setPlaceholderText(self.tr("such as {word}").format(word=self._senses.word))

    @property
    def has_typed(self) -> bool:
        """Whether there is a text of the person's own."""
        boxes = (self.typed.toPlainText(), self.contexts.toPlainText(), self.word.text())
        return any(text.strip() for text in boxes)

    @property
    def has_word(self) -> bool:
        """Whether a word is typed, and where to look for it."""
        in_table = self.place_box.currentData() == TABLE
        where = self._session.data.table if in_table else self.contexts.toPlainText().strip()
        return bool(self.word.text().strip()) and bool(where)

    def choose_kind(self, kind: str) -> None:
        """Choose which texts, as the box does."""
        if kind != self.kind:
            self._choose(self.kind_box, kind)

    @property
    def senses(self) -> ExampleSenses | None:
        """The word of two senses that suits the model."""
        return self._senses

    @property
    def topics(self) -> Topics | None:
        """The bundled sentences that suit the model."""
        return self._topics

    def source(self) -> TextSource | None:
        """Return the texts that are meant; None where something is lacking, see `lacking`."""
        if self.lacking():
            return None
        if self.kind == TYPED:
            lines = typed_lines(self.typed.toPlainText())
            return TextSource(
                TYPED, lines=lines, max_length=self.length.value(), words=self.tr("typed sentences")
            )
        table, word = self._session.data.table, " ".join(self.word.text().split())
        if self.kind == WORD and self.place_box.currentData() == TYPED:
            lines = typed_lines(self.contexts.toPlainText())
            return TextSource(WORD, lines=lines, word=word, words=self.tr("typed sentences"))
        assert table is not None
        seed = self.seed.value() if self.way_box.currentData() == RANDOM else None
        rows = sample_rows(table, self.rows.value(), seed)
        if self.kind == WORD:
            rows = sample_rows(table, table.num_rows, None)
        return TextSource(
            self.kind,
            table=table,
            overrides=dict(self._session.data.overrides),
            column=str(self.column_box.currentData()),
            rows=rows,
            word=word if self.kind == WORD else "",
            max_length=self.length.value(),
            words=self._table_words(len(rows), seed),
        )

    def lacking(self) -> str:
        """Return what is missing before anything can be computed; nothing when all is there."""
        typed = self.typed if self.kind == TYPED else self.contexts
        wants_typed = self.kind == TYPED or (self.kind == WORD and self.place_box.currentData() == TYPED)
        if self.kind == WORD and not self.word.text().strip():
            return self.tr("Type a word, and the sentences to search for it.")
        if wants_typed and not typed.toPlainText().strip():
            return self.tr("Type sentences, one per line.")
        if not wants_typed and (self._session.data.table is None or not self.column_box.count()):
            return self.tr("No table is open. Open one on the Data page, or type sentences.")
        return ""

    def show_senses(self) -> None:
        """Fill in the word of two senses, and its sentences."""
        if self._senses is not None:
            self._choose(self.place_box, TYPED)
            self.word.setText(self._senses.word)
            self.contexts.setPlainText(_lines(self._senses.sentences))
            self._choose(self.kind_box, WORD)
            self.entered.emit()

    def show_topics(self) -> None:
        """Fill in the bundled sentences."""
        if self._topics is not None:
            self.typed.setPlainText(_lines(self._topics.sentences))
            self._choose(self.kind_box, TYPED)
            self.entered.emit()

    def put(self, source: TextSource) -> None:
        """Fill in typed sentences, or a word and its sentences, that were kept; emits nothing but
        `changed`.
        """
        lines = "\n".join(_line(group, sentence) for group, sentence in source.lines)
        self.length.setValue(source.max_length)
        if source.kind == WORD:
            self._choose(self.place_box, TYPED)
            self.word.setText(source.word)
            self.contexts.setPlainText(lines)
        else:
            self.typed.setPlainText(lines)
        self._choose(self.kind_box, source.kind)

    def _make_choices(self) -> None:
        kinds = (
            (self.tr("Rows of the open table"), TABLE),
            (self.tr("Typed sentences"), TYPED),
            (self.tr("A word in many contexts"), WORD),
        )
        self.kind_box = ChoiceBox("embeddings_kind", self.tr("Which texts"), entries=kinds)
        self.column_box = ChoiceBox("embeddings_column", self.tr("Column with the text"))
        ways = ((self.tr("Random sample"), RANDOM), (self.tr("The first"), FIRST))
        self.way_box = ChoiceBox("embeddings_way", self.tr("Which rows"), entries=ways)
        places = ((self.tr("In typed sentences"), TYPED), (self.tr("In the open table"), TABLE))
        said = self.tr("Where to search for the word")
        self.place_box = ChoiceBox("embeddings_place", said, entries=places)
        self.rows = self._spin("embeddings_rows", 2, MOST_ROWS, ROWS, self.tr("Number of rows"))
        self.seed = self._spin("embeddings_seed", 1, 999_999, 1, self.tr("Seed"))
        self.length = self._spin("embeddings_length", 3, 512, LENGTH, self.tr("Max length of a text"))
        self.seed.setToolTip(self.tr("The same seed draws the same rows"))
        self.length.setSuffix(self.tr(" pieces"))
        self.length.setToolTip(tip(self.tr("Longer texts are truncated to this length, and counted.")))

    def _make_texts(self) -> None:
        self.table_words = label("", "muted", wrap=True)
        self.open_button = button(self.tr("Open a table"), "link", name="embeddings_open")
        self.typed = self._edit(
            "embeddings_typed", self.tr("One sentence per line.\ngroup | sentence colours it.")
        )
        self.contexts = self._edit(
            "embeddings_contexts", self.tr("One sentence per line.\nmeaning | sentence colours it.")
        )
        self.word = named(LineEdit(), "embeddings_word", self.tr("The word"))
        self.word.setClearButtonEnabled(False)
        self.topics_button = button(
            self.tr("Example: sentences of several topics"), "link", name="embeddings_topics"
        )
        self.senses_button = button("", "link", name="embeddings_senses", call=self.show_senses)

    def _lay_out(self) -> None:
        self.add(self.kind_box)
        self.table_grid = QWidget()
        form_rows(
            (self.tr("Text"), self.column_box),
            (self.tr("Rows"), self.rows),
            ("", self.way_box),
            (self.tr("Seed"), self.seed),
            (self.tr("Max length"), self.length),
            role="muted",
            caption_gap=8,
            parent=self.table_grid,
        )
        word_rows = form_rows(
            (self.tr("Word"), self.word),
            (self.tr("Found"), self.place_box),
            role="muted",
            caption_gap=8,
        )
        self.word_words = label("", "muted", wrap=True)
        at_left = Qt.AlignmentFlag.AlignLeft
        self._parts = {
            TABLE: _part(self.table_words, (self.open_button, at_left), self.table_grid),
            TYPED: _part(self.typed, (self.topics_button, at_left)),
            WORD: _part(word_rows, self.contexts, self.word_words, (self.senses_button, at_left)),
        }
        for part in self._parts.values():
            self.add(part)

    def _connect(self) -> None:
        self.kind_box.activated.connect(self._show_kind)
        self.place_box.activated.connect(self._show_kind)
        self.way_box.activated.connect(self._show_kind)
        self.column_box.activated.connect(self.changed)
        for spin in (self.rows, self.seed, self.length):
            spin.valueChanged.connect(self.changed)
        for edit in (self.typed, self.contexts):
            edit.textChanged.connect(self.changed)
        self.word.textChanged.connect(self.changed)
        self.word.returnPressed.connect(self.entered)
        self.topics_button.clicked.connect(self.show_topics)
        self.open_button.clicked.connect(self.table_wanted)
        self._session.data.opened.connect(self._show_table)
        self._session.data.opened.connect(self._leave_example)
        self._session.data.roles_changed.connect(self._show_table)

    def _leave_example(self) -> None:
        """Turn to the table that was opened, unless the person has typed texts."""
        is_example = self._topics is not None and self.typed.toPlainText() == _lines(self._topics.sentences)
        if self._session.data.table is not None and self.kind == TYPED and is_example:
            self._choose(self.kind_box, TABLE)

    def _show_table(self) -> None:
        """Offer the columns of the open table, the text's first."""
        table, roles = self._session.data.table, self._session.data.roles
        before = self.column_box.currentData()
        self.column_box.clear()
        for name in table.columns if table else ():
            self.column_box.addItem(name, name)
        role = roles.text if roles else ""
        kept = before if before and self.column_box.findData(before) >= 0 else role
        self.column_box.setCurrentIndex(max(0, self.column_box.findData(kept)) if table else -1)
        if table is not None:
            said = words.counted(table.num_rows, self.tr("{name}, 1 row"), self.tr("{name}, {count} rows"))
            self.table_words.setText(said.format(name=table.path.name))
        else:
            self.table_words.setText(self.tr("No table is open."))
        self.open_button.setVisible(table is None)
        self.table_grid.setVisible(table is not None)
        self._show_kind()

    def _show_kind(self) -> None:
        """Show the inputs of the chosen kind."""
        for kind, part in self._parts.items():
            part.setVisible(kind == self.kind)
        self.seed.setEnabled(self.way_box.currentData() == RANDOM)
        in_table = self.place_box.currentData() == TABLE
        self.contexts.setVisible(not in_table)
        self.word_words.setVisible(in_table)
        table = self._session.data.table
        if table is None:
            self.word_words.setText(self.tr("No table is open."))
        else:
            said = self.tr("Every row of {name} is searched in column {column}.")
            self.word_words.setText(
                said.format(name=table.path.name, column=bare_column(self.column_box.currentText()))
            )
        self.changed.emit()

    def _table_words(self, count: int, seed: int | None) -> str:
        table = self._session.data.table
        assert table is not None
        values = {
            "name": table.path.name,
            "column": bare_column(str(self.column_box.currentData())),
            "count": words.number(count),
            "seed": seed,
        }
        if count == table.num_rows:
            one, many = (
                self.tr("{name}, column {column}, 1 row"),
                self.tr("{name}, column {column}, all {count} rows"),
            )
            return words.counted(count, one, many).format(**values)
        if seed is None:
            return self.tr("{name}, column {column}, the first {count} rows").format(**values)
        return self.tr("{name}, column {column}, {count} rows drawn with seed {seed}").format(**values)

    def _choose(self, box: ChoiceBox, value: str) -> None:
        box.choose(value)
        self._show_kind()

    def _spin(self, name: str, least: int, most: int, value: int, accessible: str) -> SpinBox:
        spin = SpinBox(minimum=least, maximum=most, value=value, singleStep=max(1, value // 10))
        spin.setGroupSeparatorShown(True)
        spin.setKeyboardTracking(False)
        return tidy_spin(named(spin, name, accessible))

    def _edit(self, name: str, placeholder: str) -> QPlainTextEdit:
        edit = TextEdit(placeholderText=placeholder, tabChangesFocus=True)
        named(edit, name, self.tr("Sentences, one per line"))
        edit.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        edit.setMinimumHeight(150)
        return edit


def _lines(sentences: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"{group} | {sentence}" for group, sentence in sentences)


def _line(group: str, sentence: str) -> str:
    """Return a sentence as it is typed, in one line."""
    said = " ".join(sentence.split())
    return f"{group} | {said}" if group.strip() else said


def _part(*items: Item) -> QWidget:
    """Return the inputs for one kind of texts, under each other."""
    inner = QWidget()
    column(*items, STRETCH, parent=inner)
    return inner
