"""Asks how a picture is saved: which kind of file, how wide, and whether numbers and caption go beside it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QDir, QStandardPaths
from PySide6.QtWidgets import QCheckBox, QDialog, QWidget

from app import words
from app.look.files import ask_save
from app.look.inputs import ComboBox, DoubleSpinBox, LineEdit, SpinBox
from app.look.labels import label
from app.look.layout import column, dialog_buttons, form_rows, row
from app.look.widgets import CARD_X, CARD_Y, button, named, tidy_spin
from app.plots.figure_files import KINDS, file_stem, pixel_size, screen_width_mm
from engine.errors import UserError

COLUMN_MM, PAGE_MM, SLIDE_MM = 85.0, 170.0, 254.0
DEFAULT_DPI = 300
_last_folder: Path | None = None  # where the last picture went, for as long as the window is open


class SaveDialog(QDialog):
    """Saves one picture when it is accepted."""

    def __init__(
        self,
        title: str,
        canvas: QWidget,
        write: Callable[[Path, float, int], None],
        parent: QWidget | None = None,
    ) -> None:
        """Args: title: of the picture. canvas: the picture. write: saves it, or what is beside it, by the
        suffix of a path, so many mm wide and with so many dots an inch; it may raise a UserError.
        """
        super().__init__(parent)
        self.setObjectName("save_figure_dialog")
        self.setWindowTitle(self.tr("Save picture"))
        self._canvas, self._write = canvas, write
        self._make_fields(file_stem(title))
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

    def _make_fields(self, name: str) -> None:
        screen = round(screen_width_mm(self._canvas), 1)
        self.path = named(LineEdit(QDir.toNativeSeparators(str(_folder() / name))), "save_path")
        self.path.setMinimumWidth(380)
        self.kind = named(ComboBox(), "save_kind")
        for suffix, text in (
            (".png", self.tr("PNG, pixels: for slides and the web")),
            (".svg", self.tr("SVG, lines: for editing")),
            (".pdf", self.tr("PDF, lines: for papers")),
        ):
            self.kind.addItem(text, suffix)
        width = DoubleSpinBox(minimum=10, maximum=2000, decimals=1, value=screen, suffix=self.tr(" mm"))
        self.width_mm = tidy_spin(named(width, "save_width"))
        self.preset = named(ComboBox(), "save_preset")
        for text, preset in (
            (self.tr("As on screen"), screen),
            (self.tr("One column"), COLUMN_MM),
            (self.tr("Page width"), PAGE_MM),
            (self.tr("Slide"), SLIDE_MM),
        ):
            self.preset.addItem(text, preset)
        dots = SpinBox(minimum=50, maximum=1200, value=DEFAULT_DPI, suffix=self.tr(" dots per inch"))
        self.dpi = tidy_spin(named(dots, "save_dpi"))

    def _lay_out(self) -> None:
        self.numbers = named(QCheckBox(self.tr("Also its numbers, as a table (.csv)")), "save_numbers")
        self.caption = named(
            QCheckBox(self.tr("Also its caption (.txt)")),
            "save_caption",
            tool_tip=self.tr("What is shown, for which model and which text"),
        )
        for box in (self.numbers, self.caption):
            box.setChecked(True)
        self.hint = label("", "muted", wrap=True)
        self.refusal = label("", "refusal", wrap=True, name="save_refusal")
        self.refusal.hide()
        browse = button(self.tr("Browse…"), name="save_browse")
        browse.clicked.connect(self._browse)
        fields = form_rows(
            (self.tr("File"), row((self.path, 1), browse)),
            (self.tr("Kind"), self.kind),
            (self.tr("Width"), row((self.width_mm, 1), (self.preset, 1))),
            (self.tr("Sharpness"), self.dpi),
            role="muted",
            caption_gap=10,
        )
        self.save_button = button(self.tr("Save"), "primary", name="save_accept")
        self.save_button.clicked.connect(self.save)
        cancel = button(self.tr("Cancel"), name="save_cancel")
        cancel.clicked.connect(self.reject)
        column(
            fields,
            self.numbers,
            self.caption,
            self.hint,
            self.refusal,
            dialog_buttons(accept=self.save_button, reject=cancel),
            gap=10,
            margins=(CARD_X, CARD_Y, CARD_X, CARD_Y),
            parent=self,
        )

    def paths(self) -> tuple[Path, ...]:
        """Return the files that saving writes: the picture first."""
        picture = Path(self.path.text().strip()).expanduser()
        kind = self.kind.currentData()
        if picture.suffix.lower() != kind:
            picture = picture.with_name(picture.name + kind)
        beside = [(self.numbers, ".csv"), (self.caption, ".txt")]
        return (picture, *(picture.with_suffix(suffix) for box, suffix in beside if box.isChecked()))

    def save(self) -> None:
        """Write the files and close; what cannot be written is said here."""
        global _last_folder
        try:
            for path in self.paths():
                self._write(path, self.width_mm.value(), self.dpi.value())
        except UserError as error:
            self.refusal.setText(words.say_error(error))
            self.refusal.show()
            return
        _last_folder = self.paths()[0].parent
        self.accept()

    def _kind_changed(self) -> None:
        self.dpi.setEnabled(self.kind.currentData() == ".png")
        path = Path(self.path.text())
        if path.suffix.lower() in KINDS:
            self.path.setText(str(path.with_suffix("")))
        self._describe()

    def _take_preset(self, index: int) -> None:
        self.width_mm.setValue(self.preset.itemData(index))

    def _describe(self) -> None:
        self.refusal.hide()
        named = bool(Path(self.path.text().strip()).name)
        self.save_button.setEnabled(named)
        if not named:
            self.hint.setText(self.tr("Name the file."))
            return
        lines = []
        if self.kind.currentData() == ".png":
            size = pixel_size(self._canvas, self.width_mm.value(), self.dpi.value())
            template = self.tr("{width} × {height} pixels")
            lines.append(
                template.format(width=words.number(size.width()), height=words.number(size.height()))
            )
        there = [path.name for path in self.paths() if path.exists()]
        if there:
            lines.append(self.tr("{names} will be replaced.").format(names=words.listed(there)))
        self.hint.setText("\n".join(lines))

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
