"""The process that does tests on an emulated GPU: it reads their names and writes what came out, in JSON."""

from __future__ import annotations

import contextlib
import io
import json
import sys

import pytest


class Outcome:
    """What came out of the last test."""

    def __init__(self) -> None:
        self.outcome, self.said = "failed", ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed or report.when == "call" or report.skipped:
            self.outcome = report.outcome
            self.said = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else report.longreprtext


def main() -> None:
    answers = sys.stdout
    for line in sys.stdin:
        found, said = Outcome(), io.StringIO()
        with contextlib.redirect_stdout(said):
            code = pytest.main(
                [json.loads(line), "-q", "--capture=sys", "-p", "no:cacheprovider"], plugins=[found]
            )
        if code and found.outcome == "passed":  # it never came to the test
            found.outcome = "failed"
        answer = {"outcome": found.outcome, "said": found.said or said.getvalue()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
