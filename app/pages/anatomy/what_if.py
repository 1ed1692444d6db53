"""What if a part were otherwise: switches for the head, layer and piece that are shown, and the end."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QWidget

from app import words
from app.look.inputs import ComboBox, Slider, SpinBox
from app.look.labels import PART, ElidedLabel, label
from app.look.layout import STRETCH, column, row
from app.look.widgets import button, icon_button, named, tidy_spin
from app.pages.anatomy.state import Walk
from app.plots.before_now import AnswerBeforeNow, BeforeNow
from engine.inspect.anatomy.changes import ATTENTION, FEED_FORWARD, MOST_SCALE, RESIDUALS, PassSettings
from engine.inspect.anatomy.vectors import Anatomy

TENTHS = 10  # of the slider


class Switches(QWidget):
    """What can be changed where a walk stands: its head, its layer's residuals, its piece."""

    changed = Signal(object)  # PassSettings

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("anatomy_what_if")
        self.changes = PassSettings()
        self._walk = Walk()
        self._own_segment = 0
        self._make_switches()
        self._make_places()
        self._lay_out()

    def _make_switches(self) -> None:
        self.head = named(QCheckBox(), "anatomy_head_off")
        self.residuals = {
            ATTENTION: named(QCheckBox(self.tr("No attention residual")), "anatomy_no_attention_residual"),
            FEED_FORWARD: named(QCheckBox(self.tr("No feed-forward residual")), "anatomy_no_residual"),
        }
        self.scale = named(
            Slider(Qt.Orientation.Horizontal),
            "anatomy_scale",
            self.tr("Head’s scale"),
            tool_tip=self.tr("What this head passes on is multiplied by this: 0 is off, 1 is unchanged"),
        )
        self.scale.setRange(0, round(MOST_SCALE * TENTHS))
        self.scale.setMinimumWidth(60)
        self.scale.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.scale_words = label("")
        self.scale_words.setFixedWidth(28)
        self.head.clicked.connect(self._head_switched)
        self.scale.valueChanged.connect(self._scale_moved)
        for which, box in self.residuals.items():
            box.clicked.connect(lambda is_off, which=which: self._switch_residual(which, is_off))

    def _make_places(self) -> None:
        self.piece = ElidedLabel("", "muted")
        self.position = tidy_spin(named(SpinBox(minimum=0), "anatomy_position", self.tr("Position")), 66)
        self.segment = named(ComboBox(), "anatomy_segment", self.tr("Segment"))
        self.segment.addItem(self.tr("text A"), 0)
        self.segment.addItem(self.tr("text B"), 1)
        self.position.valueChanged.connect(self._moved)
        self.segment.activated.connect(self._segment_chosen)

    def _lay_out(self) -> None:
        scale = label(self.tr("scale"), "muted")
        head = row(self.head, scale, (self.scale, 1), self.scale_words, gap=10)
        residuals = row(*self.residuals.values(), STRETCH, gap=12)
        place = row((self.piece, 1), self.position, self.segment)
        column(head, residuals, place, STRETCH, gap=8, parent=self)

    def show_parts(self, walk: Walk, anatomy: Anatomy) -> None:
        """Show what can be otherwise where a walk stands."""
        self._walk, self.changes = walk, walk.changes
        self._own_segment = anatomy.encoding.token_type_ids[walk.piece]
        scale = self.changes.scale(walk.layer, walk.head)
        self.head.setText(self.tr("Head {layer}.{head} off").format(layer=walk.layer, head=walk.head))
        boxes = (self.head, self.scale, self.position, self.segment, *self.residuals.values())
        blockers = [QSignalBlocker(box) for box in boxes]
        self.head.setChecked(scale == 0)
        self.scale.setValue(round(scale * TENTHS))
        for which, box in self.residuals.items():
            box.setChecked((walk.layer, which) in self.changes.no_residual)
        self.position.setMaximum(anatomy.config.max_position_embeddings - 1)
        self.position.setValue(dict(self.changes.positions).get(walk.piece, walk.piece))
        self.segment.setVisible(anatomy.config.num_segments > 1)
        segment = dict(self.changes.segments).get(walk.piece, self._own_segment)
        self.segment.setCurrentIndex(min(segment, 1))
        del blockers
        self.scale_words.setText(words.decimal(scale, 1))
        said = self.tr("“{piece}” at position").format(piece=anatomy.pieces[walk.piece])
        self.piece.setText(said)

    def take_back(self) -> None:
        """Have all as it was."""
        self._change(PassSettings())

    def _change(self, changes: PassSettings) -> None:
        if changes != self.changes:
            self.changes = changes
            self.changed.emit(changes)

    def _head_switched(self, is_off: bool) -> None:
        walk = self._walk
        self._change(self.changes.with_scale(walk.layer, walk.head, 0.0 if is_off else 1.0))

    def _scale_moved(self, tenths: int) -> None:
        self.scale_words.setText(words.decimal(tenths / TENTHS, 1))
        self._change(self.changes.with_scale(self._walk.layer, self._walk.head, tenths / TENTHS))

    def _switch_residual(self, which: str, is_off: bool) -> None:
        self._change(self.changes.with_residual(self._walk.layer, which, not is_off))

    def _moved(self, position: int) -> None:
        self._change(self.changes.with_position(self._walk.piece, position))

    def _segment_chosen(self, segment: int) -> None:
        self._change(self.changes.with_segment(self._walk.piece, segment, self._own_segment))


class Effect(QWidget):
    """The button that opens the switches, what is changed, and what stands at the very end."""

    opened = Signal(bool)
    taken_back = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.button = button(self.tr("What if…?"), name="anatomy_what_if_button")
        self.button.setCheckable(True)
        self.button.clicked.connect(self.opened)
        self.told = named(ElidedLabel("", "changed"), "anatomy_changes")
        said = self.tr("Reset")
        self.as_it_was = icon_button("close", said, name="anatomy_as_it_was", call=self.taken_back)
        self.end_title = named(ElidedLabel("", "muted"), "anatomy_end_title")
        self.end = named(BeforeNow(self.tr("At the end")), "anatomy_end")
        head = row(self.button, (self.told, 1), self.as_it_was)
        column(head, self.end_title, self.end, STRETCH, gap=2, parent=self)

    def show_end(self, title: str, outcomes: Sequence[AnswerBeforeNow], told: str) -> None:
        """Show what stands at the end, now and before. Args: told: what is changed; "" where nothing is."""
        self.told.setText(told)
        self.as_it_was.setVisible(bool(told))
        self.end_title.setText(PART.join((title, self.tr("▏ before"))) if told else title)
        self.end.set_title(title)
        self.end.set_outcomes(tuple(outcomes), is_changed=bool(told))


def changes_words(changes: PassSettings, pieces: Sequence[str]) -> str:
    """Return all that is otherwise, in words; "" where nothing is."""
    parts = [
        words.translate("anatomy", "head {layer}.{head} × {scale}").format(
            layer=layer, head=head, scale=f"{x:g}"
        )
        for (layer, head), x in changes.scales
    ]
    residual = {
        ATTENTION: words.translate("anatomy", "no attention residual in layer {layer}"),
        FEED_FORWARD: words.translate("anatomy", "no feed-forward residual in layer {layer}"),
    }
    for which in RESIDUALS:
        parts += [
            residual[which].format(layer=layer) for layer, one in sorted(changes.no_residual) if one == which
        ]
    moved = words.translate("anatomy", "“{piece}” at position {position}")
    parts += [
        moved.format(piece=pieces[place], position=x) for place, x in changes.positions if place < len(pieces)
    ]
    turned = words.translate("anatomy", "“{piece}” in text {letter}")
    parts += [
        turned.format(piece=pieces[place], letter="AB"[x] if x < 2 else x)
        for place, x in changes.segments
        if place < len(pieces)
    ]
    return PART.join(parts)
