"""Asks how a picture is saved: which kind of file, how wide, and whether numbers and caption go beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDir, QStandardPaths, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from app import words
from app.look.files import ask_save
from app.look.inputs import ComboBox, DoubleSpinBox, SpinBox
from app.look.labels import label
from app.look.widgets import CARD_X, CARD_Y, button, tidy_spin
from app.plots.figure_files import file_stem, pixel_size, screen_width_mm
from engine.errors import UserError

if TYPE_CHECKING:
    from app.plots.figure import Figure

COLUMN_MM, PAGE_MM, SLIDE_MM = 85.0, 170.0, 254.0
DEFAULT_DPI = 300
_last_folder: Path | None = None  # where the last picture went, for as long as the window is open


class SaveDialog(QDialog):
    """Saves one picture when it is accepted."""

    def __init__(self, figure: Figure, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("save_figure_dialog")
        self.setWindowTitle(self.tr("Save picture"))
        self._figure = figure
        self._make_fields()
        self._lay_out()
        for changed in (
            self.path.textChanged,
            self.width_mm.valueChanged,
            self.dpi.valueChanged,
            self.numbers.toggled,
            self.caption.toggled,
        ):
            changed.connect(self._describe)
        self.kind.currentIndexChanged.connect(self._kind_changed)
        self.preset.activated.connect(self._take_preset)
        self._kind_changed()

    def _make_fields(self) -> None:
        self.kind = ComboBox()
        self.kind.setObjectName("save_kind")
        for suffix, text in (
            (".png", self.tr("PNG, pixels: for slides and the web")),
            (".svg", self.tr("SVG, lines: to be edited")),
            (".pdf", self.tr("PDF, lines: for papers")),
        ):
            self.kind.addItem(text, suffix)
        screen = round(screen_width_mm(self._figure.canvas()), 1)
        self.width_mm = DoubleSpinBox(minimum=10, maximum=2000, decimals=1)
        self.width_mm.setValue(screen)
        self.width_mm.setObjectName("save_width")
        self.width_mm.setSuffix(self.tr(" mm"))
        self.dpi = SpinBox(minimum=50, maximum=1200)
        self.dpi.setValue(DEFAULT_DPI)
        self.dpi.setObjectName("save_dpi")
        self.dpi.setSuffix(self.tr(" dots an inch"))
        self.preset = ComboBox()
        self.preset.setObjectName("save_preset")
        for text, width in (
            (self.tr("As on screen"), screen),
            (self.tr("One column"), COLUMN_MM),
            (self.tr("Page width"), PAGE_MM),
            (self.tr("Slide"), SLIDE_MM),
        ):
            self.preset.addItem(text, width)
        self._make_path()
        tidy_spin(self.width_mm)
        tidy_spin(self.dpi)

    def _make_path(self) -> None:
        self.path = QLineEdit()
        self.path.setObjectName("save_path")
        self.path.setMinimumWidth(380)
        self.path.setText(QDir.toNativeSeparators(str(_folder() / file_stem(self._figure.title))))
        self.numbers = QCheckBox(self.tr("Its numbers beside it, as a table (.csv)"))
        self.numbers.setChecked(True)
        self.numbers.setObjectName("save_numbers")
        self.caption = QCheckBox(self.tr("Its caption beside it (.txt)"))
        self.caption.setChecked(True)
        self.caption.setObjectName("save_caption")
        self.caption.setToolTip(self.tr("What is shown, of which model and which text"))
        self.hint = label("", "muted", wrap=True)
        self.refusal = label("", "refusal", wrap=True)
        self.refusal.setObjectName("save_refusal")
        self.refusal.hide()

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(CARD_X, CARD_Y, CARD_X, CARD_Y)
        layout.setSpacing(10)
        grid = QGridLayout()
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(8)
        browse = button(self.tr("Browse…"), name="save_browse")
        browse.clicked.connect(self._browse)
        where = QHBoxLayout()
        where.addWidget(self.path, 1)
        where.addWidget(browse)
        width = QHBoxLayout()
        width.addWidget(self.width_mm, 1)
        width.addWidget(self.preset, 1)
        where.setSpacing(8)
        width.setSpacing(8)
        rows: tuple[tuple[str, QHBoxLayout | QWidget], ...] = (
            (self.tr("File"), where),
            (self.tr("Kind"), self.kind),
            (self.tr("Width"), width),
            (self.tr("Sharpness"), self.dpi),
        )
        for row, (text, field) in enumerate(rows):
            name = label(text, "muted")
            grid.addWidget(name, row, 0)
            if isinstance(field, QHBoxLayout):
                grid.addLayout(field, row, 1)
            else:
                grid.addWidget(field, row, 1)
        layout.addLayout(grid)
        layout.addWidget(self.numbers)
        layout.addWidget(self.caption)
        layout.addWidget(self.hint)
        layout.addWidget(self.refusal)
        layout.addLayout(self._buttons())

    def _buttons(self) -> QHBoxLayout:
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        cancel = button(self.tr("Cancel"), name="save_cancel")
        cancel.clicked.connect(self.reject)
        self.save_button = button(self.tr("Save"), "primary", name="save_accept")
        self.save_button.setDefault(True)
        self.save_button.clicked.connect(self.save)
        buttons.addWidget(cancel)
        buttons.addWidget(self.save_button)
        return buttons

    def paths(self) -> tuple[Path, ...]:
        """Return the files that saving writes: the picture first."""
        picture = Path(self.path.text().strip()).expanduser()
        kind = self.kind.currentData()
        if picture.suffix.lower() != kind:
            picture = picture.with_name(picture.name + kind)
        beside = [(self.numbers, ".csv"), (self.caption, ".txt")]
        return (picture, *(picture.with_suffix(suffix) for box, suffix in beside if box.isChecked()))

    @Slot()
    def save(self) -> None:
        """Write the files and close; what cannot be written is said here."""
        from app.plots.figure import save_figure  # a figure opens this dialog

        global _last_folder
        try:
            for path in self.paths():
                save_figure(self._figure, path, width_mm=self.width_mm.value(), dpi=self.dpi.value())
        except UserError as error:
            self.refusal.setText(words.say_error(error))
            self.refusal.show()
            return
        _last_folder = self.paths()[0].parent
        self.accept()

    @Slot()
    def _kind_changed(self) -> None:
        self.dpi.setEnabled(self.kind.currentData() == ".png")
        path = Path(self.path.text())
        if path.suffix.lower() in (".png", ".svg", ".pdf"):
            self.path.setText(str(path.with_suffix("")))
        self._describe()

    @Slot(int)
    def _take_preset(self, index: int) -> None:
        self.width_mm.setValue(self.preset.itemData(index))

    @Slot()
    def _describe(self) -> None:
        self.refusal.hide()
        named = bool(Path(self.path.text().strip()).name)
        self.save_button.setEnabled(named)
        if not named:
            self.hint.setText(self.tr("Name the file."))
            return
        lines = []
        if self.kind.currentData() == ".png":
            size = pixel_size(self._figure.canvas(), self.width_mm.value(), self.dpi.value())
            template = self.tr("{width} × {height} pixels")
            lines.append(
                template.format(width=words.number(size.width()), height=words.number(size.height()))
            )
        there = [path.name for path in self.paths() if path.exists()]
        if there:
            lines.append(self.tr("{names} will be replaced.").format(names=", ".join(there)))
        self.hint.setText("\n".join(lines))

    @Slot()
    def _browse(self) -> None:
        ask_save(
            self,
            self.tr("Save picture"),
            self.path.setText,
            name="save_browse_dialog",
            suggested=self.path.text(),
            confirms=False,  # the hint says what will be replaced
        )


def _folder() -> Path:
    pictures = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.PicturesLocation)
    folders = [_last_folder, Path(pictures) if pictures else None, Path.home()]
    return next(folder for folder in folders if folder is not None and folder.is_dir())
