"""Examples as the model will see them, coloured by what was done to each token."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QWidget

from app import words
from app.look.widgets import Card
from app.pages.pretrain.findings import Findings
from app.plots.buttons import save_icon, yield_to_layout
from app.plots.tokens import Strip, TokensLegend, TokensPlot
from engine.train.pretraining.preview import Preview, PreviewExample

LOW_PLOT = 120


class PreviewCard(Card):
    """Masked examples and sentence pairs under each other, with a legend."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setObjectName("preview_card")
        self.set_title(self.tr("What it will see"))
        self.plot = TokensPlot(self.tr("Examples"))
        self.plot.setObjectName("preview_plot")
        yield_to_layout(self.plot, LOW_PLOT)
        self.legend = TokensLegend()
        self._shown: Preview | None = None
        self.add_corner(save_icon(self.plot))
        row = QHBoxLayout()
        row.addWidget(self.legend, 1)
        self.body.addLayout(row)
        self.add(self.plot, 1)
        self.show_nothing()

    def show_nothing(self) -> None:
        """Before any text is chosen."""
        self._shown = None
        self.plot.clear()
        self.legend.hide()
        self.set_hint("")
        self.plot.set_empty_text(
            self.tr("Examples from your text appear here, with the words hidden that it has to find.")
        )

    def show_findings(self, findings: Findings) -> None:
        """Show the examples as they are now, or why there are none."""
        examples, preview = findings.examples, findings.preview
        if examples.error is not None:
            self.show_nothing()
            if findings.text.error is None:
                self.plot.set_empty_text(words.say_error(examples.error))
            return
        if examples.is_busy:
            self.set_hint(self.tr("making examples…"))
        if preview is None:
            if not examples.is_busy:
                self.show_nothing()
            return
        if not examples.is_busy:
            notes = " ".join(words.say(note) for note in preview.notes)
            self.set_hint(notes or self.tr("rest the pointer on a token"))
        if preview is not self._shown:
            self._shown = preview
            self.plot.set_strips(
                [_strip(number, one) for number, one in enumerate(preview.examples, start=1)]
            )
            self.legend.set_counts(self.plot.counts())
            self.legend.show()


def _strip(number: int, example: PreviewExample) -> Strip:
    follows = None if example.is_random is None else not example.is_random
    note = words.translate("Preview", "B follows A") if follows else ""
    if follows is False:
        note = words.translate("Preview", "B comes from another document")
    return Strip(
        title=words.translate("Preview", "Example {number}").format(number=words.number(number)),
        note=note,
        is_yes=follows,
        tokens=example.tokens,
        shown=example.shown,
        actions=example.actions,
        segments=example.segments,
    )
