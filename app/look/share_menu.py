"""The last two buttons of every page's header, in the same place: Save or send, and what is rarer.

What takes something along stands here and nowhere else in a header: the page, a figure, its numbers, the
command. Both menus are filled as they open, so that they say what can be done now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

from app.look import theme
from app.look.copy_command import COPY_KEYS
from app.look.inputs import PushButton, ToolButton
from app.look.labels import tip
from app.look.widgets import named, set_role, show_icon

SHARE_KEYS = "Ctrl+Shift+S"  # on every page
SAID_MS = 1_500
HEIGHT = 30  # px, as the buttons beside it
ON_PAGES = "on_pages"  # the property of an action of the window that stands in every page's menu


class SharedFigure(Protocol):
    """What of a figure the menu needs."""

    @property
    def title(self) -> str: ...
    @property
    def is_empty(self) -> bool: ...
    def save_picture(self) -> None: ...
    def save_numbers(self) -> None: ...


class ShareButton(PushButton):
    """Takes what a page shows along. `page_wanted`: as one file; the page's own texts are in it in any case.

    Args: figures: gives the figures in view. copying: gives the button of the page's command; None: it has
    none.
    """

    page_wanted = Signal()

    def __init__(
        self,
        figures: Callable[[], Sequence[SharedFigure]],
        copying: Callable[[], QAbstractButton | None],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, autoDefault=False)
        self.setObjectName("share")
        self.setText(self.tr("Save or send"))
        self.setToolTip(
            tip(self.tr("Save what this page shows, or send it ({keys})").format(keys=SHARE_KEYS))
        )
        show_icon(self, "share")
        self._figures, self._copying = figures, copying
        self._said = QTimer(self, singleShot=True, interval=SAID_MS)
        self._said.timeout.connect(lambda: self.setText(self.tr("Save or send")))
        self.share_menu = named(QMenu(self), "share_menu")
        self.share_menu.setToolTipsVisible(True)
        self.share_menu.aboutToShow.connect(self._fill)
        self.include = QAction(self.tr("Include the texts: they may be private"), self, checkable=True)
        self.include.setObjectName("share_texts")
        self.include.setToolTip(
            self.tr("The rows of your tables. What is typed on the page itself is always included.")
        )
        self.clicked.connect(self._open)

    @property
    def has_texts(self) -> bool:
        """Whether the texts of a table are to be included."""
        return self.include.isChecked()

    def say(self, text: str) -> None:
        """Say for a moment what became of it."""
        self.setText(text)
        self._said.start()

    def _open(self) -> None:
        corner = self.mapToGlobal(QPoint(self.width(), self.height() + 2))
        self.share_menu.popup(corner - QPoint(self.share_menu.sizeHint().width(), 0))

    def _fill(self) -> None:
        menu, copying = self.share_menu, self._copying()
        menu.removeAction(self.include)
        menu.clear()
        whole = menu.addAction(theme.icon("open"), self.tr("One page to send…") + f"\t{SHARE_KEYS}")
        whole.setObjectName("share_page")
        whole.setToolTip(self.tr("One HTML file; it opens in any browser, without a network"))
        whole.triggered.connect(self.page_wanted)
        figures = [one for one in self._figures() if not one.is_empty]
        for name, icon, text, kinds, save in (
            ("share_figure", "evaluate", self.tr("This figure…"), "SVG, PDF, PNG", _save_picture),
            ("share_numbers", "data", self.tr("Numbers…"), "CSV", _save_numbers),
        ):
            self._add_saving(name, icon, text, kinds, save, figures)
        add_copying(menu, copying, self.tr("Copy as command"))
        menu.addSeparator()
        menu.addAction(self.include)

    def _add_saving(
        self,
        name: str,
        icon: str,
        text: str,
        kinds: str,
        save: Callable[[SharedFigure], None],
        figures: Sequence[SharedFigure],
    ) -> None:
        """Add what saves the figure in view; of several, a menu of them."""
        if len(figures) > 1:
            under = self.share_menu.addMenu(theme.icon(icon), text)
            under.setObjectName(name)
            for figure in figures:
                action = under.addAction((figure.title or self.tr("Figure")).replace("&", "&&"))
                action.triggered.connect(partial(_call, save, figure))
            return
        action = self.share_menu.addAction(theme.icon(icon), f"{text}\t{kinds}")
        action.setObjectName(name)
        action.setEnabled(bool(figures))
        if figures:
            action.triggered.connect(partial(_call, save, figures[0]))


class MoreButton(ToolButton):
    """The "⋯" of a header: its rarer actions, and those of the window that fit every page."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("more")
        said = self.tr("More")
        self.setAccessibleName(said)
        self.setToolTip(said)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setFixedHeight(HEIGHT)
        set_role(self, "more")
        theme.on_theme_change(self, self._draw)
        self.kept = QWidget(self)  # buttons whose place is the menu: the page goes on setting them
        self.kept.hide()
        self.more_menu = named(QMenu(self), "more_menu")
        self.more_menu.setToolTipsVisible(True)
        self.more_menu.aboutToShow.connect(self._fill)
        self.clicked.connect(self._open)

    def _draw(self) -> None:
        self.setIcon(theme.icon("more"))

    def take(self, button: QAbstractButton) -> None:
        """Give a button its place in the menu, where it is as able as the page says."""
        button.setParent(self.kept)
        if not button.testAttribute(Qt.WidgetAttribute.WA_WState_ExplicitShowHide):
            button.show()  # as far as the menu goes

    @property
    def buttons(self) -> list[QAbstractButton]:
        """The buttons in the menu."""
        return self.kept.findChildren(QAbstractButton, options=Qt.FindChildOption.FindDirectChildrenOnly)

    def _open(self) -> None:
        corner = self.mapToGlobal(QPoint(self.width(), self.height() + 2))
        self.more_menu.popup(corner - QPoint(self.more_menu.sizeHint().width(), 0))

    def _fill(self) -> None:
        self.more_menu.clear()
        for button in self.buttons:
            add_copying(self.more_menu, button, button.text())
        self.more_menu.addSeparator()
        self.more_menu.addActions([one for one in self.window().actions() if one.property(ON_PAGES)])


def add_copying(menu: QMenu, button: QAbstractButton | None, text: str) -> None:
    """Add what a button does to a menu; nothing where it is not to be had now."""
    if button is None or button.isHidden():
        return
    keys = f"\t{COPY_KEYS}" if button.property("copies") else ""
    action = menu.addAction(button.icon(), text + keys)
    action.setObjectName(f"{button.objectName()}_action")
    action.setEnabled(button.isEnabled())
    action.setToolTip(button.toolTip())
    action.triggered.connect(lambda _checked=False: button.click())


def _call(save: Callable[[SharedFigure], None], figure: SharedFigure, _checked: bool = False) -> None:
    save(figure)


def _save_picture(figure: SharedFigure) -> None:
    figure.save_picture()


def _save_numbers(figure: SharedFigure) -> None:
    figure.save_numbers()
