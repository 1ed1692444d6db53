"""All stories, by their language: a line each. A language without one shows the English one, translated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.stories import chinese, english
from app.stories.story import Story
from engine.language import ENGLISH, spoken_language

if TYPE_CHECKING:
    from engine.text.tokenizer import Tokenizer

STORIES: dict[str, Story] = {ENGLISH: english.STORY, "zh": chinese.STORY}


def language_here() -> str:
    """Return the language of the story that is told: the window's, as "pt" of pt_BR; else English."""
    spoken = spoken_language()
    return next((one for one in (spoken, spoken.partition("_")[0]) if one in STORIES), ENGLISH)


def story() -> Story:
    """Return the story in the language of the window."""
    return STORIES[language_here()]


def story_of(language: str) -> Story:
    """Return the story in a language; the English one where it has none."""
    return STORIES.get(language, STORIES[ENGLISH])


def story_read_by(tokenizer: Tokenizer) -> Story:
    """Return the story whose texts a vocabulary knows: of those it reads the window's, else the first."""
    from engine.inspect.example_texts import reads_english  # here: it takes long to import

    def knows(language: str, one: Story) -> bool:
        if language == ENGLISH:
            return reads_english(tokenizer)
        ids = tokenizer.encode_ids([one.first[0]])[0].tolist()
        return tokenizer.unk_id not in ids and len(ids) <= len(one.first[0])  # bytes are no knowledge

    found = [language for language, one in STORIES.items() if knows(language, one)]
    return story_of(language_here() if language_here() in found else next(iter(found), ENGLISH))
