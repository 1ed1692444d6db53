"""The pages whose states are kept as scenes, and what they are called."""

from __future__ import annotations

from app.words import translate

KEPT_PAGES = ("tokenizer", "probe", "attention", "embeddings", "anatomy", "family")


def page_titles() -> dict[str, str]:
    """Return what the pages are called."""
    return {
        "tokenizer": translate("lectures", "Tokenizer"),
        "probe": translate("lectures", "Probe"),
        "attention": translate("lectures", "Attention"),
        "embeddings": translate("lectures", "Embeddings"),
        "anatomy": translate("lectures", "Anatomy"),
        "family": translate("lectures", "Family"),
    }
