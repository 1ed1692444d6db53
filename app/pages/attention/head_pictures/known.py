"""All pictures of heads, in the order of their tabs."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from app.pages.attention.head_pictures.arcs import Arcs
from app.pages.attention.head_pictures.attributed import AttributionPicture
from app.pages.attention.head_pictures.every_head import EveryHeadPicture
from app.pages.attention.head_pictures.head_picture import HeadPicture
from app.pages.attention.head_pictures.heatmap import Heatmap
from app.pages.attention.head_pictures.query_key import QueryKey


def make_pictures(attribution: QWidget) -> tuple[HeadPicture, ...]:
    """Return a picture for each of PICTURES of state.py. Args: attribution: the page's own."""
    return Heatmap(), Arcs(), QueryKey(), EveryHeadPicture(), AttributionPicture(attribution)
