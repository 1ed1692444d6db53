"""Sentences of ours that every family is asked: ten for each of two words with two senses, five of each."""

from __future__ import annotations

SENTENCES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # a word: sentences of each of its senses
    "bank": (
        (
            "The bank of the river was covered with trees.",
            "The boat came to the bank of the river.",
            "The water rose over the bank and into the fields.",
            "An old house stands on the left bank of the river.",
            "They built a small town on the north bank of the river.",
        ),
        (
            "The bank gave money to the company.",
            "The national bank of the country was founded in 1900.",
            "He worked in a bank in the city of London.",
            "The government took control of the largest bank.",
            "She put her money into a bank for ten years.",
        ),
    ),
    "play": (
        (
            "The play was written in 1600 and performed in London.",
            "She had a small role in the play.",
            "His first play was a great success in the theatre.",
            "The second act of the play is set in Paris.",
            "The author of the play died before it was performed.",
        ),
        (
            "They play football in the national league.",
            "He began to play for the club in 1998.",
            "The team will play two games this season.",
            "She learned to play the game as a child.",
            "He did not play in the final.",
        ),
    ),
}
