"""From files to batches: tables and plain text, WordPiece, examples, packed batches."""
