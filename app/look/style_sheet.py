"""The style sheet, filled from the theme's tokens: flat, hairlines, a ring around what has the keyboard.

A focused control gets a border 1 px wider and a padding 1 px smaller, so that nothing moves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


def style_sheet(tokens: Mapping[str, str], mono: Sequence[str]) -> str:
    """Return the application's style sheet. Args: tokens: the theme's. mono: the fixed-width families."""
    text = TEMPLATE
    for token in sorted(tokens, key=len, reverse=True):  # @text must not be found within @text_soft
        text = text.replace(f"@{token}", tokens[token])
    return text.replace("$mono", ", ".join(f'"{family}"' for family in mono))


TEMPLATE = """
QMainWindow, QDialog, QWidget[role="page"] { background: @page; }
QToolTip { background: @text; color: @card; border: 0; padding: 4px 6px; }

QLabel { background: transparent; }
QLabel[role="title"] { font-size: 20px; font-weight: 600; }
QLabel[role="big"] { font-size: 20px; font-weight: 600; }
QLabel[role="huge"] { font-size: 28px; font-weight: 600; }
QLabel[role="card-title"] { font-weight: 600; }
QLabel[role="strong"] { font-weight: 600; }
QLabel[role="letter-a"] { color: @accent; font-weight: 600; }
QLabel[role="letter-b"] { color: @b; font-weight: 600; }
QLabel[role="muted"] { color: @muted; }
QLabel[role="changed"] { color: @b; }
QLabel[role="caption"] { color: @muted; font-size: 11px; font-weight: 600; }
QLabel[role="refusal"] { color: @wrong; }
QLabel[role="bubble"] { background: @text; color: @card; border-radius: 4px; padding: 4px 8px;
  font-size: 12px; }
QLabel[role="pill"] { background: @page; border: 1px solid @line; border-radius: 9px; padding: 1px 8px; }
QLabel[role="mono"] { font-family: $mono; }
QLabel[role="accent"] { color: @accent; }
QLabel[role="fine"] { color: @fine; }
QLabel[role="look"] { color: @look; }
QLabel[role="wrong"] { color: @wrong; }

QFrame[role="card"] { background: @card; border: 1px solid @edge; border-radius: 8px; }
QFrame[role="card"][keyed="true"] { border-color: @focus; }
QScrollArea[role="read"] { border: 2px solid transparent; border-radius: 6px; }
QScrollArea[role="read"]:focus { border-color: @focus; }
QFrame[role="rail"] { background: @rail; border: 0; border-right: 1px solid @edge; }
QWidget[role="formula"] { background: @page; border: 1px solid @line; border-radius: 6px; }
QFrame[role="thread-bar"] { background: @page; border: 0; border-bottom: 1px solid @edge; }
QFrame[role="upright"] { background: @line; border: 0; max-width: 1px; min-width: 1px; }
QFrame[role="line"] { background: @line; border: 0; max-height: 1px; min-height: 1px; }
QAbstractScrollArea::corner { background: transparent; border: 0; }
QScrollArea, QScrollArea > QWidget > QWidget[role="clear"] { background: transparent; border: 0; }

QPushButton { background: @card; color: @text; border: 1px solid @edge; border-radius: 6px;
  padding: 5px 14px; min-height: 18px; }
QPushButton:hover { background: @hover; }
QPushButton:pressed { background: @track; }
QPushButton:focus { border: 2px solid @focus; padding: 4px 13px; }
QPushButton:disabled { color: @disabled; background: @page; border-color: @track; }
QPushButton[role="primary"] { background: @accent; color: @on_accent; border-color: @accent;
  font-weight: 600; }
QPushButton[role="primary"]:focus { border: 2px solid @text; }
QPushButton[role="primary"]:disabled { background: @track; color: @disabled; border-color: @track; }
QPushButton[role="member"] { background: @page; padding: 4px 8px; text-align: left; }
QPushButton[role="member"]:checked { background: @accent_soft; }
QPushButton[role="member"]:hover { background: @hover; }
QPushButton[role="member"]:focus { border: 2px solid @focus; padding: 3px 7px; }
QPushButton[role="link"] { background: transparent; border: 1px solid transparent; color: @accent;
  padding: 1px 3px; text-align: left; }
QPushButton[role="link"]:hover { text-decoration: underline; }
QPushButton[role="link"]:focus { border: 2px solid @focus; padding: 0 2px; border-radius: 4px; }
QPushButton[role="link"]:disabled { color: @disabled; background: transparent; }
QPushButton[role="thread"] { background: transparent; border: 1px solid transparent; padding: 0; }
QPushButton[role="thread"]:hover { background: @hover; }
QPushButton[role="thread"]:focus { border: 2px solid @focus; }
QPushButton[role="search"] { background: @field; padding: 0; border-color: @edge; }
QPushButton[role="search"]:hover { border-color: @muted; }
QPushButton[role="search"]:focus { border: 2px solid @focus; padding: 0; }
QPushButton::menu-indicator { image: url(icons:chevron-down.svg); width: 14px; height: 14px;
  subcontrol-origin: padding; subcontrol-position: center right; right: 6px; }

QToolButton { background: transparent; color: @muted; border: 1px solid transparent; border-radius: 6px;
  padding: 2px 7px; }
QToolButton:hover, QToolButton:checked { color: @text; background: @hover; }
QToolButton:focus { border: 2px solid @focus; padding: 1px 6px; }
QToolButton:disabled { color: @disabled; background: transparent; }
QToolButton[role="corner"] { padding: 2px 3px; }
QToolButton[role="corner"]:focus, QToolButton[role="link"]:focus { padding: 1px 2px; }
QToolButton::menu-indicator { image: none; width: 0; }
QToolButton[role="link"] { color: @accent; padding: 2px 3px; }
QToolButton[role="link"]:hover { background: transparent; text-decoration: underline; }
QToolButton[role="link"]:disabled { color: @disabled; }
QToolButton[role="nav"] { color: @text; padding: 5px 9px; text-align: left; }
QToolButton[role="nav"]:hover { background: @track; }
QToolButton[role="nav"]:checked { background: @card; color: @accent; font-weight: 600; border-color: @edge; }
QToolButton[role="nav"]:focus { border: 2px solid @focus; padding: 4px 8px; }
QToolButton[role="thread"] { padding: 0; }
QToolButton[role="thread"]:focus { padding: 0; }
QToolButton[role="toggle"] { border: 1px solid @edge; }
QToolButton[role="toggle"]:checked { background: @accent_soft; color: @text; }
QToolButton[role="toggle"]:focus { border: 2px solid @focus; }
QToolButton[role="more"] { background: @card; border: 1px solid @line; padding: 6px 9px; min-height: 16px; }
QToolButton[role="more"]:hover { background: @hover; }
QToolButton[role="more"]:focus { border: 2px solid @focus; padding: 5px 8px; }
QToolButton[role="question"] { background: @card; color: @text; border: 1px solid @line; border-radius: 10px;
  padding: 6px 7px; }
QToolButton[role="question"]:hover { background: @hover; }
QToolButton[role="question"]:checked { background: @accent_soft; border-color: @accent; }
QToolButton[role="question"]:focus { border: 2px solid @focus; padding: 5px 6px; }
QToolButton[role="question"]:checked:focus { border-color: @text; }
QToolButton[role="chip"] { background: @accent_soft; color: @text; border: 1px solid @accent;
  border-radius: 11px; padding: 2px 10px; }
QToolButton[role="chip"]:focus { border: 2px solid @text; padding: 1px 9px; }

QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox, QPlainTextEdit, QTextEdit {
  background: @field; color: @text; border: 1px solid @edge; border-radius: 6px;
  placeholder-text-color: @muted;
  padding: 5px 9px; selection-background-color: @accent; selection-color: @on_accent; }
QLineEdit, QComboBox { min-height: 18px; }
QSpinBox, QDoubleSpinBox { min-height: 18px; max-height: 18px; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus, QPlainTextEdit:focus,
  QTextEdit:focus {
  border: 2px solid @focus; padding: 4px 8px; }
QLineEdit:disabled, QSpinBox:disabled, QDoubleSpinBox:disabled, QComboBox:disabled,
QPlainTextEdit:disabled, QTextEdit:disabled { color: @disabled; background: @page; }
*[refused="true"] { border: 2px solid @wrong; padding: 4px 8px; }
QAbstractSpinBox QLineEdit, QAbstractSpinBox QLineEdit:focus, QAbstractSpinBox QLineEdit:disabled {
  border: 0; padding: 0; min-height: 0; background: transparent; }
/* Stepped by keys and wheel. NoButtons would be plainer,
  but beside a style sheet it makes the text 1 px wide. */
QSpinBox::up-button, QDoubleSpinBox::up-button { width: 0; border: 0;
  subcontrol-origin: border; subcontrol-position: top right; }
QSpinBox::down-button, QDoubleSpinBox::down-button { width: 0; border: 0;
  subcontrol-origin: border; subcontrol-position: bottom right; }
QComboBox { combobox-popup: 0; }
QComboBox::drop-down { border: 0; width: 24px; }
QComboBox::down-arrow { image: url(icons:chevron-down.svg); width: 16px; height: 16px; }
QComboBox QAbstractItemView { background: @card; color: @text; border: 1px solid @edge; padding: 4px;
  outline: 0;
  selection-background-color: @accent; selection-color: @on_accent; }
QComboBox QAbstractItemView:focus { border: 2px solid @focus; padding: 3px; }

QCheckBox, QRadioButton { spacing: 8px; padding: 2px; border: 2px solid transparent; border-radius: 6px; }
QCheckBox:focus, QRadioButton:focus { border: 2px solid @focus; }
QCheckBox::indicator, QRadioButton::indicator { width: 14px; height: 14px; border: 1px solid @muted;
  border-radius: 4px; background: @field; }
QRadioButton::indicator { border-radius: 8px; }
QCheckBox::indicator:checked { background: @accent; border-color: @accent;
  image: url(icons:check-@scheme.svg); }
QRadioButton::indicator:checked { border: 4px solid @accent; width: 8px; height: 8px; }
QCheckBox:disabled, QRadioButton:disabled { color: @disabled; }
QCheckBox::indicator:disabled, QRadioButton::indicator:disabled { border-color: @disabled; }
QCheckBox::indicator:checked:disabled { background: @disabled; }
QRadioButton::indicator:checked:disabled { border-color: @disabled; }

QSlider { min-height: 22px; border: 2px solid transparent; border-radius: 6px; }
QSlider:focus { border: 2px solid @focus; }
QSlider::groove:horizontal { height: 4px; background: @track; border-radius: 2px; }
QSlider::sub-page:horizontal { background: @accent; border-radius: 2px; }
QSlider::handle:horizontal { width: 12px; height: 12px; margin: -4px 0; border-radius: 6px;
  background: @accent; }
QSlider::sub-page:horizontal:disabled, QSlider::handle:horizontal:disabled { background: @disabled; }

QTableView { background: @card; border: 2px solid transparent; border-radius: 4px; outline: 0;
  gridline-color: @line;
  selection-background-color: @accent_soft; selection-color: @text; }
QTableView:focus { border: 2px solid @focus; }
QTableView::item { padding: 0 8px; border: 0; }
QTableView::item:focus { border: 2px solid @focus; }
QHeaderView { background: @card; }
QHeaderView::section { background: @card; color: @muted; border: 0; padding: 4px 8px; }
QHeaderView::section:horizontal { padding-left: 11px; padding-right: 11px; border-bottom: 1px solid @line; }
QTableView[role="dense"]::item { padding: 0 4px; }
QHeaderView[role="dense"]::section:horizontal { font-size: 11px; padding-left: 7px; padding-right: 7px; }
QTableView QTableCornerButton::section { background: @card; border: 0; border-bottom: 1px solid @line; }
QListView, QTreeView { background: @card; border: 1px solid @edge; border-radius: 6px; outline: 0; }
QListView:focus, QTreeView:focus { border: 2px solid @focus; }
QListView[role="flat"] { border: 2px solid transparent; border-radius: 4px; }
QListView[role="flat"]:focus { border: 2px solid @focus; }
QListView[role="flat"]::item { padding: 0; }
QListView[role="flat"]::item:hover { background: @hover; }
QListView::item, QTreeView::item { padding: 4px 8px; }
QListView::item:selected, QTreeView::item:selected { background: @accent_soft; color: @text; }

QMenu { background: @card; border: 1px solid @edge; padding: 4px; }
QMenu::item { padding: 6px 24px 6px 12px; border-radius: 4px; }
QMenu::item:selected { background: @accent; color: @on_accent; }
QMenu::indicator { width: 16px; height: 16px; left: 6px; }
QMenu::indicator:non-exclusive:unchecked { border: 1px solid @muted; border-radius: 3px; width: 12px;
  height: 12px; }
QMenu::indicator:checked { image: url(icons:check.svg); }
QMenu::item:disabled { color: @disabled; background: transparent; }
QMenu::separator { height: 1px; background: @line; margin: 4px 8px; }
QMenuBar { background: @rail; border-bottom: 1px solid @line; }
QMenuBar::item { padding: 4px 10px; background: transparent; border-radius: 4px; }
QMenuBar::item:selected { background: @track; }

QStatusBar { background: @rail; border-top: 1px solid @edge; color: @muted; }
QStatusBar::item { border: 0; }
QStatusBar QLabel { color: @muted; padding: 0 10px; }
QProgressBar { background: @track; border: 0; border-radius: 3px; max-height: 6px; min-height: 6px;
  color: @muted;
  text-align: right; }
QProgressBar::chunk { background: @accent; border-radius: 3px; }

QScrollBar { background: transparent; border: 0; }
QScrollBar:vertical { width: 10px; margin: 0; }
QScrollBar:horizontal { height: 10px; margin: 0; }
QScrollBar::handle { background: @line; border-radius: 4px; margin: 1px; }
QScrollBar::handle:hover { background: @muted; }
QScrollBar::handle:vertical { min-height: 32px; }
QScrollBar::handle:horizontal { min-width: 32px; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QSplitter::handle { background: transparent; }
QSplitter::handle:hover, QSplitter::handle:focus { background: @line; }
QTabBar::tab { background: transparent; color: @muted; padding: 4px 10px; border: 2px solid transparent; }
QTabBar::tab:disabled { color: @disabled; }
QTabBar::tab:selected { color: @text; border-bottom: 2px solid @accent; }
QTabBar::tab:selected:focus { color: @accent; border: 2px solid @focus; border-radius: 4px; }
QTabWidget::pane { border: 0; }
QGroupBox { border: 0; font-weight: 600; }
"""
