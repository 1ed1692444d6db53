"""A widget shown larger than it is laid out, all of it: text, controls and pictures alike.

What lies within believes to be on a smaller screen, as under the system's own scaling, but the size can be
changed at any moment. It wears the window's style sheet itself meanwhile.
"""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import QFrame, QGraphicsProxyWidget, QGraphicsScene, QGraphicsView, QWidget

from app.look import theme


def zoom_of(widget: QWidget) -> float:
    """Return how many times larger than it is laid out a widget is shown; 1 outside of a `ZoomView`."""
    proxy = widget.window().graphicsProxyWidget()
    views = proxy.scene().views() if proxy is not None and proxy.scene() is not None else []
    return float(views[0].transform().m11()) if views else 1.0


class ZoomView(QGraphicsView):
    """Holds one widget, enlarged by a factor; empty until `hold`, and again after `release`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._scene = QGraphicsScene(self)
        self.setScene(self._scene)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        for policy in (self.setHorizontalScrollBarPolicy, self.setVerticalScrollBarPolicy):
            policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
        self._proxy: QGraphicsProxyWidget | None = None
        self.factor = 1.0

    def hold(self, widget: QWidget, factor: float) -> None:
        """Show a widget, which leaves its layout, enlarged by a factor."""
        self.factor = factor
        if self._proxy is None:
            widget.hide()
            widget.setParent(None)
            self._proxy = QGraphicsProxyWidget()
            self._proxy.setWidget(widget)
            self._scene.addItem(self._proxy)
            theme.dress(widget)
            widget.show()
        self._fit()

    def release(self) -> QWidget | None:
        """Give the widget back, without a parent and not shown; None where none is held."""
        proxy, self._proxy = self._proxy, None
        if proxy is None:
            return None
        widget = proxy.widget()
        theme.put_off(widget)
        proxy.setWidget(None)  # type: ignore[arg-type]  # it is the caller's again
        self._scene.removeItem(proxy)
        return widget

    def drop_focus(self) -> None:
        """Take the keyboard away from what lies within."""
        held = self._proxy.widget().focusWidget() if self._proxy is not None else None
        if held is not None:
            held.clearFocus()
        self._scene.clearFocus()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._proxy is None:
            return
        self.resetTransform()
        self.scale(self.factor, self.factor)
        room = self.viewport().size()
        rect = QRectF(0, 0, room.width() / self.factor, room.height() / self.factor)
        self._proxy.setGeometry(rect)
        self.setSceneRect(rect)
