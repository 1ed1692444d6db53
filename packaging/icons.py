"""Cloze's icon as each system wants it, from app/look/icons/logo.svg: `python packaging/icons.py FOLDER`.

FOLDER gets cloze.svg, cloze-16.png to cloze-1024.png, cloze.ico (Windows) and cloze.icns (macOS).
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QGuiApplication, QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

LOGO = Path(__file__).parents[1] / "app" / "look" / "icons" / "logo.svg"
SIZES = (16, 24, 32, 48, 64, 128, 256, 512, 1024)
ICO_SIZES = (16, 24, 32, 48, 64, 128, 256)
ICNS_NAMES = {128: b"ic07", 256: b"ic08", 512: b"ic09", 1024: b"ic10", 32: b"ic11", 64: b"ic12"}


def png_of(renderer: QSvgRenderer, size: int) -> bytes:
    """Return the logo as a PNG, size x size."""
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    found = QByteArray()
    buffer = QBuffer(found)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return found.data()


def ico_of(pngs: dict[int, bytes]) -> bytes:
    """Return a Windows icon that holds PNGs, which it does since Vista."""
    chosen = [(size, pngs[size]) for size in ICO_SIZES]
    heads, at = b"", 6 + 16 * len(chosen)
    for size, png in chosen:
        heads += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(png), at)
        at += len(png)
    return struct.pack("<HHH", 0, 1, len(chosen)) + heads + b"".join(png for _, png in chosen)


def icns_of(pngs: dict[int, bytes]) -> bytes:
    """Return a macOS icon that holds PNGs, which it does since 10.7."""
    parts = b""
    for size, name in ICNS_NAMES.items():
        parts += name + struct.pack(">I", 8 + len(pngs[size])) + pngs[size]
    return b"icns" + struct.pack(">I", 8 + len(parts)) + parts


def main(folder: Path) -> None:
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QGuiApplication([])
    renderer = QSvgRenderer(str(LOGO))
    pngs = {size: png_of(renderer, size) for size in SIZES}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cloze.svg").write_bytes(LOGO.read_bytes())
    for size, png in pngs.items():
        (folder / f"cloze-{size}.png").write_bytes(png)
    (folder / "cloze.ico").write_bytes(ico_of(pngs))
    (folder / "cloze.icns").write_bytes(icns_of(pngs))
    del application


if __name__ == "__main__":
    main(Path(sys.argv[1]))
