"""Two columns of labels side by side: how far they agree, label by label, and the disagreements to settle.

1 takes the first annotator's label, 2 the second's, R asks for another, D excludes the row; the next one
follows. What is settled is a step of the recipe for the first column, and undone as any other; the figures
stay those of the two columns as they were given. What the second labels would cost is measured on request.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, QObject, Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QWidget

from app import words
from app.look.boxes import ElidedBox
from app.look.inputs import TextEdit
from app.look.labels import label
from app.look.layout import STRETCH, column, row
from app.look.pending import Pending, ProgressLine
from app.look.rows_model import RowsModel, TableColumn, text_column
from app.look.table_view import TableView
from app.look.widgets import PAGE_MARGIN, Advice, Card, EmptyState, button, named
from app.pages.data.hand import LabelDialog
from app.plots.agreement_rows import AgreementPlot, AgreementRow
from app.session import Session
from app.work.later import later
from app.work.worker import Channel
from engine.errors import UserError
from engine.events import Event
from engine.text.recipe import DISAGREEMENT, DROP, KEEP, RELABEL, SECOND, RecipeStep

if TYPE_CHECKING:
    from app.work.examination import compare_labels
    from engine.labelling.agreement import Agreement, LabelAgreement, Measure
    from engine.labelling.cost import LabelCost, costing
    from engine.text.table import Table
else:
    compare_labels = later("app.work.examination", "compare_labels")
    costing = later("engine.labelling.cost", "costing")

SHOWN, TOLD = 240, 2000  # characters of a text in its line, and in its tooltip
SIZE = 1000, 620  # px
SETTLED, WIDEST = 92, 130  # px of columns of labels, the settled one at least
LEVELS = {"good": "fine", "tentative": "look", "too_low": "wrong", "inconclusive": "look"}


class DisagreementsModel(RowsModel):
    """Rows on which two annotators differ, with what was settled of each."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._found: Agreement | None = None
        self._table: Table | None = None
        self._decided: dict[int, RecipeStep] = {}

    def set_found(self, found: Agreement, table: Table, texts: Sequence[str]) -> None:
        """Show other disagreements. Args: table: as it is mended. texts: its columns with the text."""
        self._found, self._table = found, table
        columns = [
            self._column(words.shorten(name, 24), partial(self._pick, place))
            for place, name in enumerate(found.columns)
        ]
        columns.append(self._column(self.tr("Settled"), self._settled))
        cells = [table.frame[name].array for name in texts]
        columns.append(self._column(self.tr("Text"), lambda at: " · ".join(str(one[at]) for one in cells)))
        self.put(columns, [int(found.rows[place]) for place in found.disagreements.tolist()])
        self._places = dict(zip(self.rows, found.disagreements.tolist(), strict=True))

    def set_decided(self, decided: dict[int, RecipeStep]) -> None:
        """Say what is decided of rows of the table."""
        self._decided = decided
        for place in range(len(self.columns)):
            self.touch(place)

    def labels_of(self, at: int) -> tuple[str, str]:
        """Return what both annotators gave a row of the table."""
        return self._pick(0, at), self._pick(1, at)

    def is_settled(self, at: int) -> bool:
        """Whether it is decided what a row of the table is."""
        return at in self._decided

    def row_head(self, place: int) -> str:
        assert self._table is not None
        return str(int(self._table.lines[self.rows[place]]))

    def ink_of(self, row: int, column: TableColumn) -> str:
        return "muted" if row in self._decided else ""

    def is_bold(self, row: int, column: TableColumn) -> bool | None:
        return True if column is self.columns[2] and row in self._decided else None

    def _column(self, name: str, cell: Callable[[int], str]) -> TableColumn:
        return text_column(name, cell, longest=SHOWN, longest_tip=TOLD)

    def _pick(self, which: int, at: int) -> str:
        assert self._found is not None
        place = self._places[at]
        codes = self._found.first if which == 0 else self._found.other
        return self._found.labels[int(codes[place])]

    def _settled(self, at: int) -> str:
        step = self._decided.get(at)
        if step is None:
            return ""
        return {DROP: self.tr("excluded"), KEEP: self._pick(0, at)}.get(step.do, step.label)


class AgreementDialog(QDialog):
    """Compares two columns of the open table; deletes itself. Args: first, other: columns to begin with."""

    def __init__(self, session: Session, first: str, other: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("agreement_dialog")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("Compare two label columns"))
        self.resize(*SIZE)
        self._session = session
        self._found: Agreement | None = None
        self._texts: tuple[str, ...] = ()
        self._table: Table | None = None  # as it was compared
        self._cost: LabelCost | BaseException | None = None  # or why there is none
        self._comparing = Channel(self, session.workers.files)
        self._costing = Channel(self, session.workers.models)
        self._build_columns(first, other)
        self._build_figures()
        self._build_list()
        self.empty = EmptyState("")
        both = row((self.figures_card, 6), (self.list_card, 7), gap=12)
        answer = QWidget()
        answer.setLayout(both)
        self.views = Pending(answer, self.empty, name="agreement")
        close = button(self.tr("Close"), name="agreement_close")
        close.clicked.connect(self.accept)
        head = row(
            label(self.tr("First"), "muted"),
            (self.first, 1),
            label(self.tr("Second"), "muted"),
            (self.other, 1),
        )
        around = (PAGE_MARGIN, 16, PAGE_MARGIN, 16)
        self.teach = button("", name="agreement_teach", call=self._teach)
        foot = row((self.rows_label, 1), self.teach, close, gap=8)
        column(head, (self.views, 1), foot, gap=12, margins=around, parent=self)
        session.data.mends.changed.connect(self._show_settled)
        session.data.opened.connect(self.reject)
        self.teach.hide()
        self.compare()

    def _build_columns(self, first: str, other: str) -> None:
        table = self._session.data.table
        assert table is not None
        self.first, self.other = ElidedBox(), ElidedBox()
        named(self.first, "agreement_first", self.tr("Column of the first annotator"))
        named(self.other, "agreement_other", self.tr("Column of the second annotator"))
        for box, name in ((self.first, first), (self.other, other)):
            for one in table.columns:
                box.addItem(words.shorten(one, 60), one)
            box.setCurrentIndex(box.findData(name))
            box.activated.connect(self.compare)

    def _build_figures(self) -> None:
        self.figures_card = Card(self.tr("Agreement"))
        self.verdict = Advice()
        self.verdict.setObjectName("agreement_verdict")
        self.verdict.setFixedHeight(92)
        self.measures = AgreementPlot(self.tr("Agreement"))
        self.measures.setObjectName("agreement_measures")
        self.measures.setFixedHeight(self.measures.head + 3 * self.measures.row_height + 12)
        self.by_label = AgreementPlot(self.tr("Agreement label by label"))
        self.by_label.setObjectName("agreement_labels")
        self.train = button("", name="agreement_train", call=self._train)
        self.progress = ProgressLine("agreement_progress", width=120)
        self.figures_card.add(self.verdict)
        self.cost = named(Advice(), "agreement_cost", self.tr("Cost of the second labels"))
        self.cost.setFixedHeight(92)
        self.figures_card.add_layout(row(self.train, self.progress, STRETCH, gap=8))
        self.figures_card.add(self.cost)
        self.figures_card.add(self.measures)
        self.figures_card.add(self.by_label, 1)
        self.rows_label = label("", "muted", name="agreement_rows")

    def _build_list(self) -> None:
        self.list_card = Card(self.tr("Disagreements"))
        self.model = DisagreementsModel(self)
        self.view = named(TableView(), "agreement_view", self.tr("Rows on which the two differ"))
        self.view.setModel(self.model)
        self.view.setSelectionBehavior(TableView.SelectionBehavior.SelectRows)
        self.view.setSelectionMode(TableView.SelectionMode.SingleSelection)
        self.view.selectionModel().currentRowChanged.connect(self._show_row)
        self.text = TextEdit(readOnly=True, tabChangesFocus=True)
        named(self.text, "agreement_text", self.tr("Text")).setFixedHeight(84)
        self.take_first = button("", "primary", name="agreement_take_first", call=partial(self._take, 0))
        self.take_other = button("", name="agreement_take_other", call=partial(self._take, 1))
        self.take_another = button(self.tr("Another… (R)"), name="agreement_another", call=self._ask)
        self.drop = button(self.tr("Exclude (D)"), name="agreement_drop", call=self._drop)
        mends = self._session.data.mends
        self.undo = button(self.tr("Undo"), "link", name="agreement_undo", call=mends.undo)
        self.undo.setToolTip(self.tr("Undo the last change (Ctrl+Z); Ctrl+Shift+Z does it again"))
        self.list_card.add_corner(self.undo)
        self.list_card.add(self.view, 1)
        self.list_card.add(self.text)
        self.buttons = (self.take_first, self.take_other, self.take_another, self.drop)
        self.list_card.add_layout(row(*self.buttons, STRETCH, gap=6))
        keys: dict[str, Callable[[], None]] = {
            "1": partial(self._take, 0),
            "2": partial(self._take, 1),
            "R": self._ask,
            "D": self._drop,
            "Ctrl+Z": mends.undo,
            "Ctrl+Shift+Z": mends.redo,
        }
        for key, call in keys.items():
            QShortcut(QKeySequence(key), self, call)

    # ---- comparing

    def compare(self) -> None:
        """Compare the columns that are chosen."""
        data = self._session.data
        if data.table is None or data.mends.recipe is None or data.roles is None:
            return
        columns = str(self.first.currentData()), str(self.other.currentData())
        texts = tuple(name for name in data.roles.read if name not in columns)
        self.views.show_asking(self.tr("Comparing…"))
        self._costing.drop()
        self._comparing.ask(
            (data.table, columns, texts, data.mends.recipe),
            partial(compare_labels, data.table, data.mends.recipe, columns, texts),
            heard=partial(self._show, texts),
            refused=self._refuse,
        )

    def _refuse(self, error: BaseException) -> None:
        if not isinstance(error, UserError):
            self._session.workers.problem.emit(error)
            return
        self.rows_label.setText("")
        self.teach.hide()
        self.empty.set_text(words.say_error(error))
        self.views.show_nothing(self.empty)

    def _show(self, texts: Sequence[str], answer: tuple[Table, Agreement]) -> None:
        table, found = answer
        self._found, self._table, self._texts, self._cost = found, table, tuple(texts), None
        self._show_figures(found)
        self.model.set_found(found, table, texts)
        self._fit()
        self._show_settled()
        self.views.show_answer()
        if self.model.rows:
            self.view.setCurrentIndex(self.model.index(0, 0))
            self.view.setFocus(Qt.FocusReason.OtherFocusReason)
        self._show_row()

    def _fit(self) -> None:
        """Give the labels what they need, within reason, and the text the rest."""
        for place in range(self.model.columnCount() - 1):
            needed = max(
                self.view.sizeHintForColumn(place), self.view.horizontalHeader().sectionSizeHint(place)
            )
            least = SETTLED if place == 2 else 0
            self.view.setColumnWidth(place, min(max(needed + 8, least), WIDEST))

    def _show_figures(self, found: Agreement) -> None:
        from engine.labelling.agreement import LEAST_TENTATIVE, RULE

        said = words.say(found.verdict_words)
        self.verdict.set_items([(LEVELS[found.verdict], said)], more={said: words.tr_engine(RULE)})
        self._show_cost()
        self.measures.show_rows(
            [
                _row(self.tr("Raw agreement"), found.raw),
                _row(self.tr("Cohen’s kappa"), found.kappa, is_share=False),
                _row(self.tr("Krippendorff’s alpha"), found.alpha, is_share=False, limit=LEAST_TENTATIVE),
            ]
        )
        self.by_label.set_names(*found.columns)
        self.by_label.show_rows([self._label_row(each) for each in found.by_label])
        first, other = (words.shorten(name, 30) for name in found.columns)
        self.rows_label.setText(
            self.tr(
                "{rows} rows have both labels ({texts} different texts); {lone} have only that of {first}, "
                "{alone} only that of {other}."
            ).format(
                rows=words.number(len(found.rows)),
                texts=words.number(found.num_texts),
                first=first,
                lone=words.number(found.only_first),
                other=other,
                alone=words.number(found.only_other),
            )
        )

    def _show_cost(self) -> None:
        """Say what the second labels cost, or offer to measure it."""
        cost, is_training = self._cost, self._costing.is_asking
        if isinstance(cost, BaseException):
            self.cost.set_items([("look", words.say_error(cost))])
        elif cost is not None:
            said = words.say(cost.sentence)
            level = "look" if cost.difference.is_sure else "fine"
            self.cost.set_items([(level, said)], more={said: words.say(cost.how)})
        self.cost.setVisible(cost is not None)
        self.train.setVisible(cost is None)
        self.train.setText(self.tr("Stop") if is_training else self.tr("Measure the cost"))
        tool_tip = self.tr(
            "Train a small model once with each column’s labels, and see how many fewer texts it gets right "
            "with the second ones"
        )
        self.train.setToolTip(self.tr("Stop training") if is_training else tool_tip)
        self.progress.setVisible(is_training)

    def _train(self) -> None:
        """Measure what the second labels cost, or stop that."""
        if self._costing.is_asking:
            self._costing.drop()
        elif self._table is not None and self._found is not None:
            model = self._session.model
            about = self._table, self._found, self._texts, model.trained_folder, model.max_length
            self.progress.setRange(0, 0)
            self._costing.ask(
                about,
                partial(costing, *about),
                heard=self._take_cost,
                refused=self._take_cost,
                progress=self._show_progress,
                ended=self._show_cost,
                again=True,
            )
        self._show_cost()

    def _show_progress(self, event: Event) -> None:
        self.progress.hear(event)

    def _take_cost(self, cost: LabelCost | BaseException) -> None:
        self._cost = cost

    def _label_row(self, each: LabelAgreement) -> AgreementRow:
        note = ""
        if each.instead:
            given = words.listed(f"{name} ({words.number(count)})" for name, count in each.instead[:3])
            note = self.tr("The second has instead: {labels}").format(labels=given)
        counts = each.first, each.other
        return AgreementRow(each.label, each.share.value, each.share.interval, counts, note=note)

    # ---- settling

    def _show_settled(self) -> None:
        recipe = self._session.data.mends.recipe
        if recipe is None or self._found is None:
            return
        self.model.set_decided(recipe.decided())
        count = sum(map(self.model.is_settled, self.model.rows))
        hint = self.tr("{count} of {total} settled").format(
            count=words.number(count), total=words.number(len(self.model.rows))
        )
        self.list_card.set_hint(hint)
        self.undo.setEnabled(self._session.data.mends.can_undo)
        self._show_teach(self._found)

    def _show_teach(self, found: Agreement) -> None:
        """Offer the second's labels where the first gave none, if they agree well enough elsewhere."""
        said = words.counted(
            found.only_other, self.tr("Use {count} second label"), self.tr("Use {count} second labels")
        )
        self.teach.setText(said)
        self.teach.setVisible(found.only_other > 0)
        is_done = any(step.reason == SECOND for step in self._session.data.mends.steps)
        self.teach.setEnabled(found.may_teach and not is_done)
        tool_tip = self.tr("Label the rows that only the second annotator labelled, to train on them")
        if not found.may_teach:
            tool_tip = self.tr("Only if the whole interval of alpha is at or above 0.667")
        self.teach.setToolTip(tool_tip)

    def _teach(self) -> None:
        assert self._found is not None
        column_ = self._found.columns[0]
        self._session.data.mends.add(
            *(
                RecipeStep(RELABEL, tuple(rows.tolist()), label=name, column=column_, reason=SECOND)
                for name, rows in self._found.lone.items()
            )
        )

    def _row(self) -> int | None:
        index = self.view.currentIndex()
        return int(self.model.rows[index.row()]) if index.isValid() else None

    def _show_row(self, _current: QModelIndex | None = None, _before: QModelIndex | None = None) -> None:
        at = self._row()
        for press in self.buttons:
            press.setEnabled(at is not None)
        none = self.tr("First"), self.tr("Second")
        first, other = self.model.labels_of(at) if at is not None else none
        self.take_first.setText(self.tr("{label} (1)").format(label=words.shorten(first, 16)))
        self.take_other.setText(self.tr("{label} (2)").format(label=words.shorten(other, 16)))
        text = self.model.columns[-1].said(at) if at is not None else ""
        self.text.setPlainText(text)

    def _take(self, which: int) -> None:
        if (at := self._row()) is not None:
            self._settle_as(at, self.model.labels_of(at)[which])

    def _settle_as(self, at: int, name: str) -> None:
        assert self._found is not None
        is_first = name == self.model.labels_of(at)[0]
        step = RecipeStep(RELABEL, label=name, column=self._found.columns[0], reason=DISAGREEMENT)
        self._decide(at, RecipeStep(KEEP, reason=DISAGREEMENT) if is_first else step)

    def _drop(self) -> None:
        if (at := self._row()) is not None:
            self._decide(at, RecipeStep(DROP, reason=DISAGREEMENT))

    def _ask(self) -> None:
        if (at := self._row()) is not None and self._found is not None:
            dialog = LabelDialog(self.tr("Another label"), "", self._found.labels, self)
            dialog.answered.connect(partial(self._settle_as, at))
            dialog.open()

    def _decide(self, at: int, step: RecipeStep) -> None:
        self._session.data.mends.decide(at, step)
        here = self.view.currentIndex().row()
        rows = [*range(here + 1, len(self.model.rows)), *range(here)]
        ahead = next((place for place in rows if not self.model.is_settled(self.model.rows[place])), here)
        self.view.setCurrentIndex(self.model.index(ahead, 0))


def _row(name: str, found: Measure, *, is_share: bool = True, limit: float | None = None) -> AgreementRow:
    return AgreementRow(name, found.value, found.interval, is_share=is_share, limit=limit)
