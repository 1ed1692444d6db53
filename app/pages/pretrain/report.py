"""What was found in the text: how much, how it is laid out, what repeats, and what a click can mend."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QSizePolicy, QStackedWidget, QVBoxLayout, QWidget

from app import words
from app.look.labels import label
from app.look.layout import FoldingRow
from app.look.widgets import Action, Advice, Card, EmptyState, LevelMark, button, set_role
from app.pages.advice.remark import AdviceLine
from app.pages.pretrain.advice import PAIRS, TextFacts, on_text
from app.pages.pretrain.findings import Findings
from engine.text.corpus.corpus import CorpusReport

EMPTY, REFUSED, FOUND = range(3)


class CorpusReportCard(Card):
    """Empty: where text comes from; else what is in it."""

    files_wanted = Signal()
    folder_wanted = Signal()
    sample_wanted = Signal()
    mend_wanted = Signal(str, bool)  # a setting, and what it is to be

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.set_title(self.tr("Text"))
        self.setObjectName("text_card")
        self._facts = TextFacts()
        self.stack = QStackedWidget()
        for page in (self._empty_page(), self._refused_page(), self._found_page()):
            self.stack.addWidget(page)
        self.add(self.stack, 1)
        self._shown: list[AdviceLine] = []
        self.show_nothing()

    def show_nothing(self) -> None:
        """Before any text is chosen."""
        self.set_hint("")
        self.stack.setCurrentIndex(EMPTY)

    def show_findings(self, findings: Findings, facts: TextFacts) -> None:
        """Show what is known now."""
        text, report = findings.text, findings.report
        self._facts = facts
        if text.error is not None:
            self.set_hint("")
            self.refusal.setText(words.say_error(text.error))
            self.stack.setCurrentIndex(REFUSED)
            return
        self.stack.setCurrentIndex(FOUND)
        if text.is_busy:
            self.set_hint(self.tr("reading… {share}").format(share=words.share(text.share, 0)))
        if report is not None:
            if not text.is_busy:
                self.set_hint(_files_words(report))
            self._show_report(report)
        elif text.is_busy:
            for value in self._values.values():
                value.setText("–")
            self.layout_words.setText("")
            self._show_remarks()

    def _empty_page(self) -> QWidget:
        self.empty = EmptyState(
            self.tr("Drop text files, a folder or a table here, or choose them."),
            self.tr("Choose files…"),
            least_width=0,
        )
        self.empty.setObjectName("text_empty")
        self.empty.button.setObjectName("choose_text")
        set_role(self.empty.button, "primary")
        self.empty.activated.connect(self.files_wanted)
        column = self.empty.layout()
        assert isinstance(column, QVBoxLayout)
        links = FoldingRow(gap=12)
        folder = button(self.tr("Choose a folder…"), "link", name="choose_text_folder")
        folder.clicked.connect(self.folder_wanted)
        sample = button(self.tr("Try sample sentences"), "link", name="sample_text")
        sample.setToolTip(
            self.tr("10,662 sentences of film reviews, Bo Pang and Lillian Lee 2005, CC BY 4.0")
        )
        sample.clicked.connect(self.sample_wanted)
        links.put(folder, sample)
        column.addWidget(links, 0, Qt.AlignmentFlag.AlignHCenter)
        return self.empty

    def _refused_page(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 8, 0, 0)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addWidget(LevelMark("wrong"), 0, Qt.AlignmentFlag.AlignTop)
        self.refusal = label("", wrap=True)
        self.refusal.setObjectName("text_problem")
        row.addWidget(self.refusal, 1)
        column.addLayout(row)
        again = button(self.tr("Choose other text…"), name="choose_other_text")
        again.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        again.clicked.connect(self.files_wanted)
        column.addSpacing(8)
        column.addWidget(again)
        column.addStretch(1)
        return page

    def _found_page(self) -> QWidget:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        facts = QGridLayout()
        facts.setHorizontalSpacing(12)
        facts.setVerticalSpacing(0)
        self._values = {}
        for place, (key, caption) in enumerate(
            (
                ("documents", self.tr("Documents")),
                ("sentences", self.tr("Sentences")),
                ("characters", self.tr("Characters")),
            )
        ):
            value = label("–", "big")
            value.setObjectName(f"text_{key}")
            facts.addWidget(value, 0, place)
            facts.addWidget(label(caption, "caption"), 1, place)
            facts.setColumnStretch(place, 1)
            self._values[key] = value
        column.addLayout(facts)
        self.layout_words = label("", "muted", wrap=True)
        self.layout_words.setObjectName("text_layout")
        column.addWidget(self.layout_words)
        self.advice = Advice()
        self.advice.setObjectName("text_advice")
        self.advice.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Ignored)
        self.advice.setMinimumHeight(40)
        column.addWidget(self.advice, 1)
        return page

    def _show_report(self, report: CorpusReport) -> None:
        self._values["documents"].setText(_short_number(report.num_documents))
        self._values["sentences"].setText(_short_number(report.num_sentences))
        self._values["characters"].setText(_short_number(report.num_characters))
        layout = words.choice_word("layout", report.layout)
        more = self.tr(" and others") if len(set(report.layouts)) > 1 else ""
        encodings = words.listed(dict.fromkeys(name.upper() for name in report.encodings))
        self.layout_words.setText(
            self.tr("{layout}{more} · {encoding}").format(layout=layout, more=more, encoding=encodings)
        )
        self._show_remarks()

    def _show_remarks(self) -> None:
        remarks = on_text(self._facts)
        if remarks != self._shown:
            self._shown = remarks
            actions = {remark.text: self._actions(remark) for remark in remarks}
            self.advice.set_items([(remark.level, remark.text) for remark in remarks], actions)

    def _actions(self, remark: AdviceLine) -> list[Action]:
        """Return what a click can do about a remark."""
        if remark.mend is None:
            return []
        name, value = remark.mend
        said = self.tr("Exclude them") if value else self.tr("Use all lines again")
        if name == PAIRS:
            said = self.tr("Turn next sentence off")
        return [(said, lambda: self.mend_wanted.emit(name, value))]


def _short_number(count: int) -> str:
    """Return 11,557 as it is, and 192,000,000 as 192 M."""
    if count < 1_000_000:
        return words.number(count)
    return words.translate("CorpusReportCard", "{number} M").format(number=words.decimal(count / 1e6, 1))


def _files_words(report: CorpusReport) -> str:
    size = words.file_size(report.num_bytes)
    if report.num_files == 1:
        return size
    files = words.translate("CorpusReportCard", "{count} files, {size}")
    return files.format(count=words.number(report.num_files), size=size)
