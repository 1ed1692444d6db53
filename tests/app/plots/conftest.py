"""Pictures are judged by their pixels, so they keep the style sheet that they have in the window."""

import pytest


@pytest.fixture(autouse=True)
def unstyled() -> None:
    """Leave it on."""
