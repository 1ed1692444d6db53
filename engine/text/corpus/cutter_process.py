"""The process that cuts text, as `cutter_pool` starts it."""

from __future__ import annotations

from engine.text.corpus.cutter_pool import serve

if __name__ == "__main__":
    serve()
