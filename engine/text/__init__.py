"""From a file to batches: tables, WordPiece, examples, packed batches."""
