"""A tag for each word of a text: names, parts of speech, chunks."""
