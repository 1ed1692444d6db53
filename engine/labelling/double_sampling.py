"""The share of each label in a table of which a random sample is labelled and a model has answered the rest.

The sample says which labels the texts have that get an answer, so the model may err as it likes: a text
without a label counts as each label by that much. Nothing is assumed but that the sample is random.

This is far narrower than what `prevalence.py` can tell of a table that the sample is not from. In 120 surveys
of 1,000 texts with 40, 80 and 160 labels, a quarter of them at random, the intervals held the truth in 0.92
to 0.95 (polarity), 0.94 to 0.99 (sms_spam) and 0.95 (hate_speech) of the cases, 0.49 to 0.17 wide; those of
`prevalence.py` in 0.76 to 1.00, 0.74 to 0.20 wide: benchmarks/bench_shares.py.

Sources: Tenenbein 1970, "A double sampling scheme for estimating from binomial data with misclassifications";
the unlabelled texts drawn from what the sample leaves possible, Rubin 1987.
"""

from __future__ import annotations

import numpy as np

from engine.labelling.prevalence import Counts, Prevalence

# C labels, S texts of the sample, R draws

DRAWS = 1000
PRIOR = 2.0  # texts added to what the sample says of each answer, spread as its labels are
ENDS = 0.01, 0.99  # of the draws: wide enough for a model whose active choices were not random


def doubly_sampled(confusion: Counts, answers: Counts, known: Counts, seed: int = 0) -> Prevalence:
    """Return the shares of labels in a table.

    Args: confusion: (C, C), how many texts of the sample have a label (row) and got which answer (column).
    answers: (C,) how many texts without a label got which answer. known: (C,) how many texts have which
    label, those of the sample too; at least one text has a label or an answer.
    """
    rng, total = np.random.default_rng(seed), int(answers.sum() + known.sum())
    labels = confusion.sum(1) + 0.5
    found = confusion.T + PRIOR * labels / labels.sum()  # (C, C) of each answer
    expected = answers @ (found / found.sum(1, keepdims=True))
    spread = rng.dirichlet(labels, DRAWS)  # (R, C): how the labels of the sample may come to lie, too
    drawn = rng.standard_gamma(confusion.T + PRIOR * spread[:, None])  # (R, C, C)
    drawn /= np.maximum(drawn.sum(2, keepdims=True), 1e-300)
    texts = sum(rng.multinomial(count, drawn[:, place]) for place, count in enumerate(answers))
    shares = (known + expected) / total
    low, high = np.quantile((known + np.asarray(texts)) / total, ENDS, axis=0)
    low, high = np.minimum(low, shares), np.maximum(high, shares)
    return Prevalence((known + answers) / total, shares, low, high, total, int(confusion.sum()))
