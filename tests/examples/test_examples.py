"""README's program and the demo do what they say."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run(script: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, EXAMPLES / script, *arguments],
        capture_output=True,
        check=False,
        text=True,
        timeout=280,
        env={**os.environ, "COLUMNS": "100"},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def readme_program_and_output() -> tuple[str, str]:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", readme, re.DOTALL)
    assert found, "README.md has no python block followed by a text block"
    return found[1], found[2]


def test_readme_has_the_first_program() -> None:
    program, _ = readme_program_and_output()
    assert program == (EXAMPLES / "first_program.py").read_text(encoding="utf-8")
    assert len(program.splitlines()) <= 20


def test_first_program_prints_what_readme_says() -> None:
    assert run("first_program.py") == readme_program_and_output()[1]


def test_demo_agrees_with_duckdb() -> None:
    output = run("demo.py", "--rows", "1000000")
    assert "1 million clicks" in output
    assert re.search(r"Both agree: \d+ windows are equal; [\d,]+ late clicks dropped", output)
    assert "alpine-lake" in output


@pytest.mark.spark
def test_demo_on_spark_agrees_with_duckdb() -> None:
    output = run("demo.py", "--target", "spark", "--rows", "300000")
    assert re.search(r"Both agree: \d+ windows are equal; [\d,]+ late clicks dropped", output)
