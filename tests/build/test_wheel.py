"""The wheel works where nothing else is installed, and README's first program runs from it."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([ROOT / "scripts" / "wheel", folder], check=True)
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def empty_venv_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new venv that has the wheel and its dependencies and nothing else."""
    venv = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    python = venv / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel]
    subprocess.run(install, check=True)
    return python


def readme_program_and_output() -> tuple[str, str]:
    """README's first Python block, and the text block that follows it."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```.*?```text\n(.*?)```", readme, re.DOTALL)
    assert found, "README.md has no python block followed by a text block"
    return found[1], found[2]


def run(python: Path, arguments: list[str], cwd: Path) -> str:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL"))}
    done = subprocess.run(
        [python, *arguments],
        check=False,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_wheel_carries_rocksdb_and_type_information(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert any(re.fullmatch(r"penstock\.libs/librocksdb-.*", name) for name in names)
    assert "penstock/py.typed" in names
    assert sum(name.startswith("penstock/_core.") for name in names) == 1
    assert "manylinux" in wheel.name


def test_core_loads_from_an_empty_venv(empty_venv_python: Path, tmp_path: Path) -> None:
    code = "import penstock, penstock._core as c; print(penstock.__version__ == c.__version__)"
    assert run(empty_venv_python, ["-c", code], tmp_path).strip() == "True"


def test_readme_program_prints_what_readme_says(empty_venv_python: Path, tmp_path: Path) -> None:
    program, expected = readme_program_and_output()
    script = tmp_path / "program.py"
    script.write_text(program, encoding="utf-8")
    output = run(empty_venv_python, [str(script)], tmp_path)
    assert expected.strip() in output
