"""Small parts that the pages share; they know no session and no page."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QMenu,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
    QWidgetAction,
)

from app.form.fields import ElidedBox
from app.look import theme
from app.look.widgets import set_role, show_icon, tip
from app.plots.curve import CurvePlot
from app.plots.figure import Figure

WIDEST_LIST = 640  # px
COPIED_MS = 1_500


class ChoiceBox(ElidedBox):
    """A box for names of any length: its list is as wide as its entries."""

    def __init__(self, name: str, accessible: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName(name)
        self.setAccessibleName(accessible)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setMinimumContentsLength(6)

    def showPopup(self) -> None:
        wanted = self.view().sizeHintForColumn(0) + 40
        self.view().setMinimumWidth(max(self.width(), min(WIDEST_LIST, wanted)))
        super().showPopup()

    def elide_mode(self) -> Qt.TextElideMode:
        return Qt.TextElideMode.ElideMiddle


class CopyCommandButton(QPushButton):
    """Puts a command on the clipboard, and says so for a moment."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, autoDefault=False)
        self.setObjectName("copy_command")
        show_icon(self, "copy")
        self._said = QTimer(self, singleShot=True, interval=COPIED_MS)
        self._said.timeout.connect(self.rest)
        self._is_short = False
        self.rest()

    def copy(self, command: str) -> None:
        """Copy a command."""
        QGuiApplication.clipboard().setText(command)
        self.setText(self.tr("Copied"))
        self._said.start()

    def offer(self, lacking: str, said: str = "") -> None:
        """Be there to press, or say in the tooltip what a command lacks. Args: said: of what it does."""
        self.setEnabled(not lacking)
        self.setToolTip(tip(lacking or said))

    @Slot()
    def rest(self) -> None:
        """Say what it does, at once."""
        self._said.stop()
        self.setText(self.tr("Copy") if self._is_short else self.tr("Copy as command"))

    def set_short(self, is_short: bool) -> None:
        """Take less room; it is called the same."""
        if is_short != self._is_short:
            self._is_short = is_short
            self.setAccessibleName(self.tr("Copy as command"))
            self.rest()


def save_icon(plot: Figure) -> QToolButton:
    """Return a picture's "Save…" menu as an icon, for the corner of a small card."""
    result = plot.save_button()
    result.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
    theme.on_theme_change(result, lambda: result.setIcon(theme.icon("save", "muted")))
    return result


def controls_icon(plot: CurvePlot) -> QToolButton:
    """Return a curve's controls behind an icon, for a card that has no room for a row of them."""
    result = QToolButton()
    menu = QMenu(result)
    action = QWidgetAction(menu)
    controls = plot.controls()
    controls.setContentsMargins(8, 4, 8, 4)
    action.setDefaultWidget(controls)
    menu.addAction(action)
    words = QCoreApplication.translate("page_parts", "How the curve is drawn")
    result.setToolTip(words)
    result.setAccessibleName(words)
    result.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    result.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    result.setMenu(menu)
    set_role(result, "corner")
    theme.on_theme_change(result, lambda: result.setIcon(theme.icon("settings", "muted")))
    return result


def yield_to_layout(plot: Figure, least_height: int) -> None:
    """Let a picture take the room there is, whatever it would like to have."""
    plot.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)
    plot.setMinimumSize(120, least_height)
