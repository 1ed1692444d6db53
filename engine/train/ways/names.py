"""The ways to learn a table that are compared, what they are called, and which of them a table is judged by.

Nothing is computed here: settings, plans and pages read it without torch.
"""

from __future__ import annotations

from collections.abc import Sequence

from engine.errors import marked

AUTO = "auto"  # the best of them, by cross-validation
TFIDF, REGRESSION, CONTRASTIVE, FINE_TUNED = "tfidf", "regression", "contrastive", "fine-tuning"
ORDER = (REGRESSION, CONTRASTIVE, FINE_TUNED)  # of the ways that make a model, the cheapest first
USUAL = CONTRASTIVE  # with few labels the best or near it, more often than any other: `benchmarks/README.md`
SOLVED = (REGRESSION, CONTRASTIVE)  # whose head is solved for, not stepped to
SAID = {
    REGRESSION: marked("engine", "Regression on the frozen encoder"),
    TFIDF: marked("engine", "TF-IDF and a regression"),
    CONTRASTIVE: marked("engine", "Contrastive pairs, then a regression"),
    FINE_TUNED: marked("engine", "Fine-tuning of all weights"),
}
LEAST_STEPS = 60  # that teach
PAIRS = 16  # of a step of the contrastive way
COSTLY_FOLDS, COSTLY_FROM = 3, {CONTRASTIVE: 16, FINE_TUNED: 96}  # rows from which on a way is tried at all
LEAST_A_LABEL = 4  # examples of the rarest label, for the same


def tried(counts: Sequence[int], take: str = "") -> tuple[str, ...]:
    """Return the ways that a table is judged by, the quickest first.

    Args: counts: examples of each label. take: the way that is asked for; "": the best.
    """
    own, rows = [count for count in counts if count], sum(counts)
    able = own and min(own) >= LEAST_A_LABEL
    costly = (name for name, least in COSTLY_FROM.items() if able and rows >= least)
    return (REGRESSION, TFIDF, *(name for name in costly if take in ("", name)))
