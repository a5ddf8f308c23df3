"""Settings that hold for all tests."""

import os

import pytest
from conformance.not_yet import summary
from hypothesis import settings

# On a busy machine one example may take long; the timeout of pytest still ends a test that hangs.
settings.register_profile("penstock", deadline=None)
# `make property`: what is found neither in 100 examples nor in ten times as many.
settings.register_profile("long", deadline=None, max_examples=5_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "penstock"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    terminalreporter.write_line(f"conformance: {summary()}")
