"""Makes a drawing part of a page: only what draws is kept, its colours follow the page, its marks answer.

What comes in may hold people's texts, and was written by another program: elements and attributes that can do
more than draw are dropped, and so is every link but those within the drawing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from engine.report.blocks import Drawing, Mark

SVG = "{http://www.w3.org/2000/svg}"
HREFS = ("href", "{http://www.w3.org/1999/xlink}href")
_DRAWING = (
    "svg g defs title path rect circle ellipse line polyline polygon text tspan image clipPath mask "
    "linearGradient radialGradient stop pattern"
)
DRAWS = frozenset(_DRAWING.split())
COLORED = ("fill", "stroke", "stop-color")
_SAYING = (
    "class d x y x1 y1 x2 y2 cx cy r rx ry fx fy dx dy width height points transform viewBox fill stroke "
    "fill-opacity stroke-opacity opacity stroke-width stroke-linecap stroke-linejoin stroke-dasharray "
    "stroke-dashoffset stroke-miterlimit fill-rule clip-rule clip-path mask offset stop-color stop-opacity "
    "gradientUnits gradientTransform spreadMethod patternUnits patternTransform clipPathUnits maskUnits "
    "font-size font-weight font-style text-anchor dominant-baseline preserveAspectRatio id"
)
SAYS = frozenset(_SAYING.split())
_WITHIN = re.compile(r"url\(#([^)]*)\)")
_PICTURE = re.compile(r"data:image/(png|jpeg);base64,[A-Za-z0-9+/=\s]*\Z")


class Palette:
    """The colours of a page's drawings: a pair for light and for dark has one variable."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, str], str] = {}

    def name_of(self, light: str, dark: str) -> str:
        """Return the variable of a pair."""
        return self._names.setdefault((light, dark), f"--d{len(self._names)}")

    def rules(self, is_dark: bool) -> str:
        """Return the declarations of all of them."""
        return "".join(f"{name}:{pair[is_dark]};" for pair, name in self._names.items())


def drawn(drawing: Drawing, prefix: str, palette: Palette, label: str) -> str:
    """Return a drawing as SVG to stand in a page. Args: prefix: of its names, of which a page has many.

    label: what it is, to those who hear it. Raises: ValueError: it is no drawing.
    """
    try:
        light = ElementTree.fromstring(drawing.svg)
        dark = ElementTree.fromstring(drawing.dark) if drawing.dark else light
    except ElementTree.ParseError as error:
        raise ValueError(f"no drawing: {error}") from error
    is_paired = _shape(light) == _shape(dark)
    made = _taken(light, dark if is_paired else light, prefix, palette)
    if made is None or made.tag != "svg":
        raise ValueError("no drawing: its outermost element is no svg")
    made.attrib |= {"role": "img", "aria-label": printable(label), "tabindex": "0", "xmlns": SVG[1:-1]}
    if drawing.dark and not is_paired:
        made.set("class", "inverted")
    if "viewBox" not in made.attrib:
        made.set("viewBox", f"0 0 {_number(made, 'width')} {_number(made, 'height')}")
    width = made.attrib["viewBox"].split()[2]
    for name in ("width", "height"):
        made.attrib.pop(name, None)
    made.set("style", f"width:{width}px;min-width:min({width}px,30rem)")
    for mark in drawing.marks:
        _add_mark(made, mark)
    return ElementTree.tostring(made, encoding="unicode", short_empty_elements=True)


def _add_mark(into: Element, mark: Mark) -> None:
    box = {
        name: f"{value:.6g}"
        for name, value in (("x", mark.x), ("y", mark.y), ("width", mark.width), ("height", mark.height))
    }
    one = SubElement(into, "rect", {"class": "mark", **box})
    SubElement(one, "title").text = printable(mark.said)


def printable(text: str) -> str:
    """Return a text without what no page may hold: controls, and halves of characters."""
    return "".join(one for one in text if one in "\t\n\r" or (one >= " " and not _is_no_character(one)))


def _is_no_character(one: str) -> bool:
    return "\x7f" <= one <= "\x9f" or "\ud800" <= one <= "\udfff" or one in "\ufffe\uffff"


def _shape(root: Element) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.tag, tuple(sorted(one.attrib))) for one in root.iter()]


def _number(one: Element, name: str) -> str:
    found = re.match(r"[\d.]+", one.get(name, ""))
    return found[0] if found else "0"


def _taken(light: Element, dark: Element, prefix: str, palette: Palette) -> Element | None:
    """Return an element with what it may keep; None for one that does more than draw."""
    name = str(light.tag).removeprefix(SVG)
    if name not in DRAWS:
        return None
    made = Element(name)
    colors = []
    for key, value in light.attrib.items():
        if key in COLORED and value.startswith("#"):
            colors.append(f"{key}:var({palette.name_of(value, dark.get(key, value))})")
        elif key in HREFS:
            if not _is_within(value):
                return None
            made.set("href", f"#{prefix}{value[1:]}" if value.startswith("#") else value)
        elif key == "id":
            made.set("id", prefix + value)
        elif key in SAYS and "url(" not in _WITHIN.sub("", value):
            made.set(key, _WITHIN.sub(lambda found: f"url(#{prefix}{found[1]})", value))
    if colors:
        made.set("style", ";".join(colors))
    made.text, made.tail = light.text, light.tail
    made.extend(_children(light, dark, lambda one, other: _taken(one, other, prefix, palette)))
    return made


def _is_within(link: str) -> bool:
    return link.startswith("#") or _PICTURE.match(link) is not None


def _children(
    light: Element, dark: Element, take: Callable[[Element, Element], Element | None]
) -> Iterator[Element]:
    """Yield what an element holds; of an image whose pixels differ between light and dark, both."""
    for one, other in _pairs(light, dark):
        made = take(one, other)
        if made is None:
            continue
        if made.tag == "image" and any(one.get(key) != other.get(key) for key in HREFS):
            second = take(other, other)
            made.set("class", "only-light")
            if second is not None:
                second.set("class", "only-dark")
                yield second
        yield made


def _pairs(light: Element, dark: Element) -> Iterable[tuple[Element, Element]]:
    return zip(light, dark, strict=True)
