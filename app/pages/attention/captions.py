"""What the Attention page says in words: the title of a view, the lines of a figure's caption, effects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app import words
from app.pages.attention.state import AttentionChoice, AttentionComparison, Head
from app.pages.inside.model_bar import model_caption
from engine.inspect.attention.ablation import Effect, EffectTable, WatchedAnswer
from engine.inspect.attention.views import BlockMasses
from engine.inspect.attention.weights import AttentionMaps, estimate_bytes
from engine.model.config import BertConfig

MOST_NAMED = 6  # heads
MOST_ROWS = 6  # of effects
LARGE_BYTES = 64 * 2**20  # maps that take more say so beforehand


@dataclass(frozen=True, slots=True)
class EffectRow:
    """One probability, 0 to 1, with all heads on and with some off."""

    name: str
    before: float
    after: float
    tip: str = ""


def head_words(head: Head) -> str:
    """Return "layer 3, head 4", counted from 1."""
    return words.translate("attention", "layer {layer}, head {head}").format(
        layer=head[0] + 1, head=head[1] + 1
    )


def title(chosen: AttentionChoice) -> str:
    """Return whose attention is shown, as a card's title."""
    layer = chosen.layer + 1
    if chosen.of == "rollout":
        return words.translate("attention", "Rollout, layer {layer}").format(layer=layer)
    if chosen.of == "layer":
        return words.translate("attention", "Layer {layer}, all heads").format(layer=layer)
    if chosen.of == "model":
        return words.translate("attention", "All heads of all layers")
    if len(chosen.heads) > 1:
        return words.translate("attention", "{count} heads averaged").format(count=len(chosen.heads))
    return words.translate("attention", "Layer {layer}, head {head}").format(
        layer=layer, head=chosen.head + 1
    )


def comparison_words(against: AttentionComparison) -> str:
    """Return what is subtracted."""
    if against.kind == "head" and against.head is not None:
        return head_words(against.head)
    if against.kind == "text":
        pair = f" · {words.shorten(against.text_pair, 12)}" if against.text_pair else ""
        return f"“{words.shorten(against.text, 24)}{pair}”"
    return against.name


def _minus(against: AttentionComparison) -> str:
    """Return what is subtracted, in full."""
    return " · ".join(text for text in (against.text, against.text_pair) if text) or comparison_words(against)


def difference_words(chosen: AttentionChoice, left_out: Sequence[str] = ()) -> str:
    """Return what is subtracted and which colour is which; "" where there is no comparison.

    Args: left_out: tokens that have no partner in the other text.
    """
    if chosen.comparison is None:
        return ""
    said = words.translate("attention", "minus {other}: blue more here, orange more there")
    said = said.format(other=comparison_words(chosen.comparison))
    if left_out:
        said += words.translate("attention", " · without a partner: {tokens}").format(
            tokens=words.shorten(" ".join(left_out), 60)
        )
    return said


def heads_words(heads: tuple[Head, ...]) -> str:
    """Return heads as "3.4, 3.5": layer, then head, counted from 1."""
    named = [f"{layer + 1}.{head + 1}" for layer, head in sorted(heads)]
    return words.listed(named if len(named) <= MOST_NAMED else [*named[:MOST_NAMED], "…"])


def caption(chosen: AttentionChoice, maps: AttentionMaps) -> list[tuple[str, str]]:
    """Return the lines of a figure's caption file: name and value."""
    several = chosen.of == "heads" and len(chosen.heads) > 1
    lines = [
        *model_caption(maps.model_name, maps.fingerprint),
        (words.translate("attention", "text"), maps.text),
        (words.translate("attention", "second text"), maps.text_pair or ""),
        (
            words.translate("attention", "layer"),
            "" if several or chosen.of == "model" else str(chosen.layer + 1),
        ),
        (words.translate("attention", "head"), str(chosen.head + 1) if chosen.is_single else ""),
        (words.translate("attention", "shown"), title(chosen)),
        (
            words.translate("attention", "heads averaged (layer.head)"),
            heads_words(chosen.heads) if several else "",
        ),
        (words.translate("attention", "minus"), _minus(chosen.comparison) if chosen.comparison else ""),
        (
            words.translate("attention", "unit"),
            words.translate("attention", "words")
            if chosen.unit == "words"
            else words.translate("attention", "pieces"),
        ),
        (words.translate("attention", "special tokens"), specials_words(chosen.specials)),
        (
            words.translate("attention", "block"),
            "" if chosen.block == "all" else " → ".join(chosen.block.upper()),
        ),
        (
            words.translate("attention", "strongest share of each row"),
            "" if chosen.top_share >= 1 else words.share(chosen.top_share, 0),
        ),
        (words.translate("attention", "turned off (layer.head)"), heads_words(tuple(chosen.off))),
    ]
    return [(name, value) for name, value in lines if value]


def specials_words(specials: str) -> str:
    """Return what was done with [CLS] and [SEP]."""
    return {
        "show": words.translate("attention", "shown"),
        "hide": words.translate("attention", "hidden"),
        "renormalise": words.translate("attention", "masked, rows rescaled to sum to 1"),
    }[specials]


def count_words(segments: Sequence[int], config: BertConfig) -> str:
    """Return how many pieces there are, and what the weights of all heads will take where it is much."""
    in_b = sum(segments)
    said = (
        words.translate("attention", "A {a} · B {b} pieces")
        if in_b
        else words.translate("attention", "{a} pieces")
    )
    said = said.format(a=len(segments) - in_b, b=in_b)
    size = estimate_bytes(config, len(segments))
    return f"{said} · {words.file_size(size)}" if size > LARGE_BYTES else said


def mass_words(masses: BlockMasses, cls: str, sep: str) -> list[tuple[str, str]]:
    """Return where the words' attention goes: "A → B" and a share of A's; [CLS] and [SEP] of all words'.

    Args: cls, sep: as the vocabulary calls them.
    """
    arrow = "\u2009→\u2009"
    found = []
    for row, name in enumerate(masses.rows):
        for column, at in enumerate(masses.columns[:2]):
            if at in masses.rows:
                found.append((f"{name}{arrow}{at}", words.share(float(masses.values[row, column]), 0)))
    found += [(cls, words.share(masses.cls, 0)), (sep, words.share(masses.sep, 0))]
    return found


def effect_rows(found: EffectTable, masks: list[int]) -> list[EffectRow]:
    """Return what to show of effects, masked words first. Args: masks: where they stand among the tokens."""
    rows = [
        EffectRow(watched_words(one.watched, masks), one.before, one.after, _tip(one))
        for one in found.effects
    ]
    if len(rows) > MOST_ROWS:  # the next sentence stands last and must not be lost
        rows = [*rows[: MOST_ROWS - 1], rows[-1]]
    return rows


def watched_words(watched: WatchedAnswer, masks: list[int]) -> str:
    """Return an answer in words: a guess, "B follows A", a label."""
    if watched.kind == "next_sentence":
        return words.translate("attention", "B follows A")
    if watched.kind == "class":
        return words.translate("attention", "label “{name}”").format(name=words.shorten(watched.name, 30))
    if len(masks) > 1 and watched.place in masks:
        number = masks.index(watched.place) + 1
        return words.translate("attention", "[MASK] {number} = “{name}”").format(
            number=number, name=watched.name
        )
    return words.translate("attention", "[MASK] = “{name}”").format(name=watched.name)


def _tip(effect: Effect) -> str:
    return words.translate("attention", "probability {before} with all heads on, {after} without").format(
        before=words.share(effect.before), after=words.share(effect.after)
    )
