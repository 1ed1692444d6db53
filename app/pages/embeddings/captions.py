"""What a figure of the Embeddings page must say where it stands alone: model, texts, pooling, layer, map."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app import words
from app.pages.embeddings.requests import Held, Mapped, Source
from app.pages.embeddings.settings import VectorsCard
from app.pages.inside.model_bar import model_caption
from engine.inspect.subject import About

Lines = list[tuple[str, str]]
translate = QCoreApplication.translate


def held_lines(held: Held, vectors: VectorsCard, *, with_layer: bool = True) -> Lines:
    """Return what there is to say of held vectors, as they are chosen now."""
    lines = model_caption(held.name, held.fingerprint)
    texts = f"{held.source.words} ({words.number(len(held.texts))})"
    lines.append((translate("embeddings", "texts"), texts))
    if held.spans:
        lines.append((translate("embeddings", "word"), held.source.word))
    lines.append((translate("embeddings", "pooling"), vectors.pooling_words()))
    return lines + (_layer_lines(vectors) if with_layer else [])


def map_lines(mapped: Mapped, vectors: VectorsCard, column: str) -> Lines:
    """Return what there is to say of a map. Args: column: that colours it; "" for none."""
    found = mapped.projected
    if found.shares is not None:
        shares = ", ".join(words.share(share) for share in found.shares)
        kind = translate("embeddings", "PCA, share of the variance {shares}").format(shares=shares)
    else:
        template = translate("embeddings", "t-SNE, perplexity {perplexity}, seed {seed}")
        kind = template.format(perplexity=f"{found.perplexity:g}", seed=found.seed)
    return [
        *held_lines(mapped.held, vectors),
        (translate("embeddings", "map"), kind),
        (translate("embeddings", "coloured by"), column or translate("embeddings", "nothing")),
    ]


def compared_lines(source: Source, about: About, vectors: VectorsCard) -> Lines:
    """Return what there is to say of poolings compared."""
    texts = (translate("embeddings", "texts"), source.words)
    return [*model_caption(about.name, about.fingerprint), texts, *_layer_lines(vectors)]


def _layer_lines(vectors: VectorsCard) -> Lines:
    said = vectors.layer_said()
    return [(translate("embeddings", "layer"), said)] if said else []
