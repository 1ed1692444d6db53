"""The small heads that turn what BERT found into an answer."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from engine.model.bert import Bert
from engine.model.config import BertConfig
from engine.model.kernels import Dropout


class SequenceClassifier(nn.Module):
    """A label for a text or a pair of texts: dropout and one linear layer on the pooled output.

    Source: Devlin et al. 2019, section 4.1; the published BertForSequenceClassification.
    """

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.bert = Bert(config)
        dropout = config.classifier_dropout
        self.dropout = Dropout(config.hidden_dropout_prob if dropout is None else dropout, self.bert.noise)
        self.classifier = nn.Linear(config.hidden_size, len(config.id2label))

    def forward(self, *args: Any, **kwargs: Any) -> Tensor:
        """Take what `Bert` takes; return logits (B, C)."""
        pooled = self.bert(*args, **kwargs).pooled_output  # (B, D)
        return self.classifier(self.dropout(pooled))  # type: ignore[no-any-return]
