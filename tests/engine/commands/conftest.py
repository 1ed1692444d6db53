"""For every command: run in this process, without waiting for the disk."""

import pytest

from tests.engine.typed import Engine, typed


@pytest.fixture
def engine(capsys: pytest.CaptureFixture[str]) -> Engine:
    """Run a command; give its exit code, stdout and stderr."""
    return typed(capsys)
