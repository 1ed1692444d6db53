"""Starts Cloze where Briefcase has packed it."""

import sys

sys.frozen = True  # type: ignore[attr-defined]  # Briefcase's starter is no Python, and does not say so

from app.__main__ import main  # noqa: E402

sys.exit(main())
