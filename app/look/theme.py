"""The one place for colours, fonts and icons: light, dark, or as the system is.

Colours are tokens with a meaning; nobody else writes a colour. Text tokens keep 4.5:1 on every ground that
they may stand on (a test computes it). `watcher().changed` comes after palette and style sheet are in place.
"""

from __future__ import annotations

import inspect
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import cast

import shiboken6
from PySide6.QtCore import QByteArray, QDir, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QIcon, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QScrollBar, QStyleFactory, QWidget

from app.look.style_sheet import style_sheet

ICONS = Path(__file__).parent / "icons"
ICON_INK = "#7a8699"  # the ink that every icon file is drawn in; tinting replaces it
UI_SIZE = 13


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """Colours by what they mean, as "#rrggbb"."""

    name: str
    page: str
    card: str
    rail: str
    line: str
    text: str
    muted: str
    accent: str  # A, training, links, the primary action
    b: str  # B, validation
    fine: str
    look: str
    wrong: str
    field: str  # behind what can be typed into
    hover: str
    accent_soft: str  # bars and chips that text stands on
    b_soft: str
    on_accent: str
    focus: str  # the ring around what has the keyboard

    @property
    def is_dark(self) -> bool:
        return self.name == "dark"

    def color(self, token: str) -> QColor:
        """Return a token as a QColor."""
        return QColor(getattr(self, token))

    def level(self, level: str) -> str:
        """Return the colour of "fine", "look" or "wrong"; muted for anything else."""
        return cast(str, getattr(self, level)) if level in ("fine", "look", "wrong") else self.muted


def mix(a: str, b: str, share_of_b: float) -> str:
    """Return the colour that lies `share_of_b` (0 to 1) of the way from `a` to `b`."""
    pairs = ((int(a[i : i + 2], 16), int(b[i : i + 2], 16)) for i in (1, 3, 5))
    return "#" + "".join(f"{round(x + (y - x) * share_of_b):02x}" for x, y in pairs)


def luminance(color: str) -> float:
    """Return the relative luminance of a colour. Source: WCAG 2.2."""
    parts = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21. Source: WCAG 2.2."""
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


LIGHT = Theme(
    name="light",
    page="#f6f7f9",
    card="#ffffff",
    rail="#eceef2",
    line="#dfe3ea",
    text="#1b2330",
    muted="#5a6475",
    accent="#2f5fd0",
    b="#a8480c",
    fine="#15704f",
    look="#7a6200",
    wrong="#b83227",
    field="#ffffff",
    hover="#f1f3f6",
    accent_soft=mix("#ffffff", "#2f5fd0", 0.22),
    b_soft=mix("#ffffff", "#a8480c", 0.18),
    on_accent="#ffffff",
    focus="#2f5fd0",
)
DARK = Theme(
    name="dark",
    page="#14171c",
    card="#1b1f26",
    rail="#101317",
    line="#2b313b",
    text="#e6e9ef",
    muted="#8d97a8",
    accent="#7aa2ff",
    b="#f2a35e",
    fine="#4cc495",
    look="#e6d35a",
    wrong="#ff7b6b",
    field="#14171c",
    hover="#232832",
    accent_soft=mix("#1b1f26", "#7aa2ff", 0.28),
    b_soft=mix("#1b1f26", "#f2a35e", 0.22),
    on_accent="#0f1522",
    focus="#7aa2ff",
)


CATEGORIES = {  # lines to be told apart: A, B, then after Paul Tol's muted scheme, for colour-blind eyes
    "light": (LIGHT.accent, LIGHT.b, "#117733", "#aa4499", "#6b6414", "#882255"),
    "dark": (DARK.accent, DARK.b, "#58c4a8", "#e89adf", "#ddcc77", "#ff9daa"),
}


class ThemeWatcher(QObject):
    """Tells when the colours have changed, whoever changed them."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.mode = "light"
        self.theme = LIGHT
        self.sheet = ""  # what windows wear
        self._follows = False

    def follow(self) -> None:
        """Hear the system's own changes from now on."""
        if not self._follows:
            self._follows = True
            QGuiApplication.styleHints().colorSchemeChanged.connect(self._system_changed)

    def _system_changed(self) -> None:
        app = QApplication.instance()
        if self.mode == "system" and isinstance(app, QApplication) and _system_theme() is not self.theme:
            _paint(app, _system_theme())


_watcher: ThemeWatcher | None = None
_dressed: weakref.WeakSet[QWidget] = weakref.WeakSet()  # windows that wear the style sheet themselves


def watcher() -> ThemeWatcher:
    """Return the one object whose `changed` says that the colours are new."""
    global _watcher
    if _watcher is None:
        _watcher = ThemeWatcher()
    return _watcher


def mode() -> str:
    """Return what was asked for: "light", "dark" or "system"."""
    return watcher().mode


def current() -> Theme:
    """Return the colours in use."""
    return watcher().theme


def category(place: int) -> str:
    """Return the colour of the first, second, ... of several lines; the seventh is as the first."""
    colors = CATEGORIES[current().name]
    return colors[place % len(colors)]


def apply_theme(app: QApplication, mode: str) -> None:
    """Paint the whole application anew; `mode` is "light", "dark" or "system"."""
    hints = app.styleHints()
    watcher().follow()
    watcher().mode = mode if mode in ("light", "dark") else "system"
    if mode == "dark":
        hints.setColorScheme(Qt.ColorScheme.Dark)  # title bars and native dialogs; nothing on offscreen
    elif mode == "light":
        hints.setColorScheme(Qt.ColorScheme.Light)
    else:
        hints.unsetColorScheme()
    _paint(app, {"light": LIGHT, "dark": DARK}.get(mode) or _system_theme())


def on_theme_change(widget: QWidget, call: Callable[[], None]) -> None:
    """Call now and whenever the colours change, until `widget` is gone; the widget is not kept alive."""
    alive = weakref.ref(widget)
    number = len(widget.__dict__.setdefault("_theme_calls", []))
    widget.__dict__["_theme_calls"].append(weakref.WeakMethod(call) if inspect.ismethod(call) else call)

    def changed() -> None:
        owner = alive()
        if owner is None or not shiboken6.isValid(owner):
            watcher().changed.disconnect(changed)
            return
        target = owner.__dict__["_theme_calls"][number]
        target = target() if isinstance(target, weakref.WeakMethod) else target
        if target:
            target()

    watcher().changed.connect(changed)
    call()


@contextmanager
def worn(widget: QWidget, theme: Theme) -> Iterator[None]:
    """Let a widget and what lies in it have other colours while it is painted into a file."""
    before, own = watcher().theme, [widget, *widget.findChildren(QWidget)]

    def put_on(colors: Theme) -> None:
        watcher().theme = colors
        for one in own:
            _restyle(one)

    put_on(theme)
    try:
        yield
    finally:
        put_on(before)


def _restyle(widget: QWidget) -> None:
    for call in widget.__dict__.get("_theme_calls", ()):
        target = call() if isinstance(call, weakref.WeakMethod) else call
        if target:
            target()


def _system_theme() -> Theme:
    dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return DARK if dark else LIGHT


def dress(window: QWidget) -> None:
    """Let a window wear the style sheet in the application's place, now and when the colours change.

    WORKAROUND: under the application's sheet, Qt styles a widget again whenever anything that it lies in
    finds its place in a layout. Under a window's, what is put together apart from the window is styled once,
    as it comes in: a page is there in half the time.
    """
    app = QApplication.instance()
    assert isinstance(app, QApplication)
    app.setStyleSheet("")
    _dressed.add(window)
    window.setStyleSheet(watcher().sheet)


def put_off(window: QWidget) -> None:
    """Take the style sheet off what wore it: it is to lie in a window that does."""
    _dressed.discard(window)
    window.setStyleSheet("")


def _paint(app: QApplication, theme: Theme) -> None:
    QDir.setSearchPaths("icons", [str(ICONS)])
    watcher().theme = theme
    app.setFont(ui_font())
    app.setPalette(_palette(theme))
    _put_on(app, style_sheet(asdict(theme), mono_font().family()))
    watcher().changed.emit()


def _put_on(app: QApplication, sheet: str) -> None:
    """Put a style sheet on the windows that wear it; on the application, where none does.

    WORKAROUND: a sheet that replaces another styles each widget again for every widget that it lies in,
    eleven times here. So a window's is taken off first; and the application's rules are forgotten, and a
    new style applies the new ones: once.
    """
    watcher().sheet = sheet
    windows = [window for window in _dressed if shiboken6.isValid(window)]
    for window in windows:
        places = [(bar, bar.value()) for bar in window.findChildren(QScrollBar)]
        window.setStyleSheet("")
        window.setStyleSheet(sheet)
        for bar, value in places:  # without its frame and padding, a text was lower for a moment
            bar.setValue(value)
    if not windows:
        app.style().unpolish(app)
        app.setStyleSheet(sheet)
        app.setStyle(QStyleFactory.create("Fusion"))


def _palette(theme: Theme) -> QPalette:
    """Return a full palette, so that nothing is left to a platform that may be of the other scheme."""
    roles = QPalette.ColorRole
    palette = QPalette(theme.color("card"), theme.color("page"))
    soft = mix(theme.muted, theme.page, 0.35)
    for role, color in {
        roles.Window: theme.page,
        roles.WindowText: theme.text,
        roles.Base: theme.field,
        roles.AlternateBase: theme.hover,
        roles.Text: theme.text,
        roles.Button: theme.card,
        roles.ButtonText: theme.text,
        roles.BrightText: theme.wrong,
        roles.ToolTipBase: theme.text,
        roles.ToolTipText: theme.card,
        roles.PlaceholderText: theme.muted,
        roles.Highlight: theme.accent,
        roles.HighlightedText: theme.on_accent,
        roles.Accent: theme.accent,
        roles.Link: theme.accent,
        roles.LinkVisited: theme.accent,
        roles.Light: theme.line,
        roles.Midlight: theme.line,
        roles.Mid: theme.line,
        roles.Dark: theme.line,
        roles.Shadow: theme.line,
    }.items():
        palette.setColor(role, QColor(color))
    for role in (roles.WindowText, roles.Text, roles.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(soft))
    return palette


def ui_font(size_px: int = UI_SIZE, bold: bool = False) -> QFont:
    """Return the system's interface font with figures of one width, so that live numbers do not jitter."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    font.setPixelSize(size_px)  # device-independent: scaled with the screen
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


def mono_font(size_px: int = UI_SIZE) -> QFont:
    """Return the system's fixed-width font."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPixelSize(size_px)
    return font


def icon(name: str, color: str = "text", room: int = 0) -> QIcon:
    """Return app/icons/<name>.svg in a theme colour; fainter when disabled, the accent when checked.

    Args: room: px that stay empty at the right of an icon of 16, which is then that much broader.
    """
    return _icon((ICONS / f"{name}.svg").read_text(encoding="utf-8"), color, room, current())


def digit_icon(digit: int) -> QIcon:
    """Return a digit in the place of an icon: which step something is."""
    text = f'<text x="8" y="12.5" font-size="13" text-anchor="middle" fill="{ICON_INK}">{digit}</text>'
    box = 'xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16"'
    return _icon(f"<svg {box}>{text}</svg>", "text", 0, current())


@cache
def _icon(drawing: str, color: str, room: int, theme: Theme) -> QIcon:
    result = QIcon()
    for mode_, state, token in (
        (QIcon.Mode.Normal, QIcon.State.Off, color),
        (QIcon.Mode.Normal, QIcon.State.On, "accent" if color == "text" else color),
        (QIcon.Mode.Disabled, QIcon.State.Off, "line" if color == "muted" else "muted"),
    ):
        for size in (16, 24, 32, 48, 64):
            result.addPixmap(_draw(drawing, getattr(theme, token), size, room), mode_, state)
    return result


def _draw(drawing: str, color: str, size: int, room: int) -> QPixmap:
    renderer = QSvgRenderer(QByteArray(drawing.replace(ICON_INK, color).encode()))
    pixmap = QPixmap(size + size * room // 16, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    renderer.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return pixmap
