"""What a model says of a text: a tag for each word, and the entities that they make."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class FoundEntity:
    """Characters start to stop - 1 of a text, with their type. probability: the lowest of its words'."""

    start: int
    stop: int
    type: str
    probability: float


@dataclass(frozen=True, slots=True)
class TaggedAnswer:
    """What a model says of a text. spans: the characters of each word. tags, probabilities: of each word.

    entities: none where tags are plain.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    tags: tuple[str, ...]
    probabilities: tuple[float, ...]  # 0 for a word that the model does not see
    entities: tuple[FoundEntity, ...]

    def document(self) -> dict[str, Any]:
        """Return it as JSON has it: words and entities with the characters that they stand at."""
        words = zip(self.spans, self.tags, self.probabilities, strict=True)
        return {
            "words": [
                {"text": self.text[start:stop], "start": start, "stop": stop, "tag": tag, "probability": sure}
                for (start, stop), tag, sure in words
            ],
            "entities": [{"text": self.text[one.start : one.stop], **asdict(one)} for one in self.entities],
        }
