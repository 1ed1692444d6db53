"""The one place for colours, fonts and icons: light, dark, high contrast, or as the system is.

Colours are tokens with a meaning; nobody else writes a colour. Text tokens keep 4.5:1 on every ground that
they may stand on, bars 3:1 on their track and card (a test computes both). `watcher().changed` comes after
palette and style sheet are in place.
"""

from __future__ import annotations

import inspect
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import cast

import shiboken6
from PySide6.QtCore import QByteArray, QDir, QObject, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontDatabase,
    QFontInfo,
    QGuiApplication,
    QIcon,
    QPainter,
    QPalette,
    QPixmap,
)
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QApplication, QScrollBar, QStyleFactory, QWidget

from app.look.style_sheet import style_sheet

ICONS = Path(__file__).parent / "icons"
ICON_INK = "#7a8699"  # the ink that every icon file is drawn in; tinting replaces it
FONTS = Path(__file__).parent / "fonts"
OWN_FONT = "Inter"  # in the box
CHINESE_FONTS = (  # simplified, as systems bring them
    "PingFang SC",  # macOS
    "Hiragino Sans GB",
    "Microsoft YaHei UI",  # Windows
    "Microsoft YaHei",
    "Noto Sans CJK SC",  # Linux
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
)
# what systems without an interface font of their own fall back to; any other is theirs, or a person's choice
FALLBACKS = (
    *("DejaVu", "Bitstream Vera", "Liberation", "Nimbus", "FreeSans", "Luxi", "Sans", "Arial", "Helvetica"),
    *("MS Shell Dlg", "MS Sans Serif"),
)
UI_SIZE = 13
MODES = ("system", "light", "dark", "contrast")  # that can be asked for


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
    accent_soft: str  # behind text: chips, what is chosen; too faint for a bar
    b_soft: str
    bar: str  # bars beside the one that matters
    track: str  # what a bar runs on
    edge: str  # around cards and controls
    disabled: str  # words of what cannot be used now; fainter than muted
    on_accent: str
    focus: str  # the ring around what has the keyboard

    @property
    def is_dark(self) -> bool:
        return self.scheme == "dark"

    @property
    def scheme(self) -> str:
        """The name of the theme that this is a stronger one of, or its own."""
        return self.name.removeprefix("contrast-")

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
    bar="#637cb8",
    track="#e9ecf1",
    edge="#dfe3ea",
    disabled="#98a1b0",
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
    bar="#637cb8",
    track="#2b313b",
    edge="#2b313b",
    disabled="#5a6270",
    on_accent="#0f1522",
    focus="#7aa2ff",
)


CONTRAST_LIGHT = replace(
    LIGHT,
    name="contrast-light",
    page="#ffffff",
    rail="#ffffff",
    line="#767676",
    text="#000000",
    muted="#303030",
    accent="#0033a0",
    b="#8a2f00",
    fine="#005030",
    look="#574500",
    wrong="#9b0000",
    hover="#e6e6e6",
    accent_soft="#d6e0f7",
    b_soft="#f6ddcf",
    bar="#4a5f96",
    track="#e0e0e0",
    edge="#000000",
    disabled="#767676",
    focus="#0033a0",
)
CONTRAST_DARK = replace(
    DARK,
    name="contrast-dark",
    page="#000000",
    card="#000000",
    rail="#000000",
    line="#8c8c8c",
    text="#ffffff",
    muted="#d8d8d8",
    accent="#9dbdff",
    b="#ffb978",
    fine="#6fe0b4",
    look="#fff07a",
    wrong="#ff9d91",
    field="#000000",
    hover="#2a2a2a",
    accent_soft="#1d2f5c",
    b_soft="#4d2c10",
    bar="#7a8dc0",
    track="#303030",
    edge="#ffffff",
    disabled="#8c8c8c",
    on_accent="#000000",
    focus="#9dbdff",
)
THEMES = (LIGHT, DARK, CONTRAST_LIGHT, CONTRAST_DARK)


CATEGORIES = {  # lines to be told apart: A, B, then after Paul Tol's muted scheme, for colour-blind eyes
    "light": (LIGHT.accent, LIGHT.b, "#117733", "#aa4499", "#6b6414", "#882255"),
    "dark": (DARK.accent, DARK.b, "#58c4a8", "#e89adf", "#ddcc77", "#ff9daa"),
    "contrast-light": (CONTRAST_LIGHT.accent, CONTRAST_LIGHT.b, "#005f22", "#8a2583", "#534d00", "#6b1040"),
    "contrast-dark": (CONTRAST_DARK.accent, CONTRAST_DARK.b, "#7fe8cd", "#ffb8f6", "#f2e59a", "#ffbcc5"),
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
        if self._follows:
            return
        self._follows = True
        hints = QGuiApplication.styleHints()
        hints.colorSchemeChanged.connect(self._system_changed)
        if hasattr(hints, "accessibility"):  # Qt 6.10 on
            hints.accessibility().contrastPreferenceChanged.connect(self._system_changed)

    def _system_changed(self) -> None:
        app = QApplication.instance()
        theme = _theme_of(self.mode)
        if isinstance(app, QApplication) and theme is not self.theme:
            _paint(app, theme)


_watcher: ThemeWatcher | None = None
_dressed: weakref.WeakSet[QWidget] = weakref.WeakSet()  # windows that wear the style sheet themselves


def watcher() -> ThemeWatcher:
    """Return the one object whose `changed` says that the colours are new."""
    global _watcher
    if _watcher is None:
        _watcher = ThemeWatcher()
    return _watcher


def mode() -> str:
    """Return what was asked for, one of `MODES`."""
    return watcher().mode


def current() -> Theme:
    """Return the colours in use."""
    return watcher().theme


def category(place: int) -> str:
    """Return the colour of the first, second, ... of several lines; the seventh is as the first."""
    colors = CATEGORIES[current().name]
    return colors[place % len(colors)]


def apply_theme(app: QApplication, mode: str) -> None:
    """Paint the whole application anew. Args: mode: one of `MODES`; any other is as the system is."""
    hints = app.styleHints()
    watcher().follow()
    watcher().mode = mode if mode in MODES else "system"
    if mode == "dark":
        hints.setColorScheme(Qt.ColorScheme.Dark)  # title bars and native dialogs; nothing on offscreen
    elif mode == "light":
        hints.setColorScheme(Qt.ColorScheme.Light)
    else:
        hints.unsetColorScheme()
    _paint(app, _theme_of(mode))


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


def _theme_of(mode: str) -> Theme:
    """Return the colours of a mode; what it leaves open is as the system says."""
    if mode in ("light", "dark"):
        return LIGHT if mode == "light" else DARK
    hints = QGuiApplication.styleHints()
    is_dark = hints.colorScheme() == Qt.ColorScheme.Dark
    if mode == "contrast" or _wants_contrast():
        return CONTRAST_DARK if is_dark else CONTRAST_LIGHT
    return DARK if is_dark else LIGHT


def _wants_contrast() -> bool:
    """Whether the system asks for high contrast; False where Qt does not hear it, before 6.10."""
    hints = QGuiApplication.styleHints()
    if not hasattr(hints, "accessibility"):
        return False
    return bool(hints.accessibility().contrastPreference() == Qt.ContrastPreference.HighContrast)


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
    _ui_family.cache_clear()  # the system may have other fonts by now
    _chinese_families.cache_clear()
    app.setFont(ui_font())
    app.setPalette(_palette(theme))
    _put_on(app, style_sheet({**asdict(theme), "scheme": theme.scheme}, mono_font().families()))
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
        palette.setColor(QPalette.ColorGroup.Disabled, role, theme.color("disabled"))
    return palette


def ui_font(size_px: int = UI_SIZE, bold: bool = False) -> QFont:
    """Return the interface font with figures of one width, so that live numbers do not jitter."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
    own = [_ui_family()] if _ui_family() else []
    font.setFamilies([*own, *font.families(), *_chinese_families()])  # other scripts as in the system's
    font.setPixelSize(size_px)  # device-independent: scaled with the screen
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    font.setFeature(QFont.Tag("tnum"), 1)
    return font


@cache
def _ui_family() -> str:
    """Return the family in the box where the system has no font, or a fallback alone; "": the system's.

    `CLOZE_FONT`, "inter" or "system", decides by hand.
    """
    wanted = os.environ.get("CLOZE_FONT", "")
    system = QFontInfo(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)).family()
    if wanted == "system" or (wanted != "inter" and system and not system.startswith(FALLBACKS)):
        return ""
    loaded = [_load_font(path) for path in sorted(FONTS.glob("*.ttf"))]
    return OWN_FONT if loaded and all(loaded) else ""


@cache
def _chinese_families() -> tuple[str, ...]:
    """Return the system's fonts with simplified Chinese: without their names, Qt may take Japanese forms."""
    known = QFontDatabase.families()
    return tuple(family for family in CHINESE_FONTS if family in known)


@cache
def _load_font(path: Path) -> bool:
    """Make a font of the box known to Qt; whether it could."""
    return QFontDatabase.addApplicationFont(str(path)) >= 0


def mono_font(size_px: int = UI_SIZE) -> QFont:
    """Return the system's fixed-width font."""
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setFamilies([*font.families(), *_chinese_families()])
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
        (QIcon.Mode.Disabled, QIcon.State.Off, "disabled"),
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
