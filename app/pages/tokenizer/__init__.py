"""The Tokenizer page: how texts and tables become WordPieces, and new vocabularies."""
