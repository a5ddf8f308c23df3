"""Settings that hold for all tests."""

import pytest
from conformance.not_yet import summary
from hypothesis import settings

# On a busy machine one example may take long; the timeout of pytest still ends a test that hangs.
settings.register_profile("penstock", deadline=None)
settings.load_profile("penstock")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"conformance: {summary()}")
