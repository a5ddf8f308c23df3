"""The hand-written stubs say of the compiled module what is true."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

PYTHON = Path(__file__).parents[1] / "python"
STUBS = sorted((PYTHON / "penstock" / "_core").glob("*.pyi"))

# What stubtest finds and cannot be otherwise: pybind11's metaclass, its constructor of classes that have none, the
# buffer protocol (a slot before Python 3.12), and aliases for type checkers only.
EXPECTED = [
    r"\S+ is inconsistent, metaclass differs",
    r'\S+\.__init__ is inconsistent, stub does not have \*args parameter "args"',
    r"\S+\.TimestampBuffer\.__buffer__ is not present at runtime",
    r"\S+\.(task\.Element|state\.Ttl) is not present at runtime",
]


def test_stubtest_finds_nothing_new(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "--concise", "penstock._core"],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(PYTHON)},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    lines = done.stdout.splitlines()
    assert any("metaclass" in line for line in lines), done.stderr
    assert [line for line in lines if not any(re.fullmatch(p, line) for p in EXPECTED)] == []


def stub_functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """All functions and methods of the stubs, by the path of the compiled one."""
    for stub in STUBS:
        module = "penstock._core" + ("" if stub.stem == "__init__" else f".{stub.stem}")
        for node in ast.parse(stub.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef):
                yield f"{module}:{node.name}", node
            elif isinstance(node, ast.ClassDef):
                methods = (item for item in node.body if isinstance(item, ast.FunctionDef))
                yield from ((f"{module}:{node.name}.{method.name}", method) for method in methods)


def is_property(node: ast.FunctionDef) -> bool:
    return any(isinstance(d, ast.Name) and d.id == "property" for d in node.decorator_list)


CALLABLES = [(p, n) for p, n in stub_functions() if not is_property(n) and "__buffer__" not in p]


def compiled(path: str) -> Any:
    module, _, names = path.partition(":")
    found = import_module(module)
    for name in names.split("."):
        found = getattr(found, name)
    return found


def compiled_parameters(path: str) -> list[tuple[str, bool]]:
    """Name of each parameter and whether it has a default, from the signature that pybind11 writes (or, of plain
    CPython types, we do)."""
    function = compiled(path)
    if text := getattr(function, "__text_signature__", None):
        names = [name.strip(" $") for name in text.strip("()").split(",")]
        return [(name, False) for name in names if name != "/"]
    text = (function.__doc__ or "").splitlines()[0]
    inside = text[text.index("(") + 1 : text.rindex(") ->")]
    while (plain := re.sub(r"\[[^\[\]]*\]", "", inside)) != inside:
        inside = plain  # brackets of types, the innermost first
    parts = [part.strip() for part in inside.split(", ") if part.strip()]
    return [(part.partition(":")[0].strip(), "=" in part) for part in parts if part != "/"]


def stub_parameters(node: ast.FunctionDef) -> list[tuple[str, bool]]:
    names = [argument.arg for argument in [*node.args.posonlyargs, *node.args.args]]
    required = len(names) - len(node.args.defaults)
    return [(name, index >= required) for index, name in enumerate(names)]


@pytest.mark.parametrize(("path", "node"), CALLABLES, ids=[path for path, _ in CALLABLES])
def test_parameters_have_the_names_and_defaults_of_the_stub(
    path: str, node: ast.FunctionDef
) -> None:
    assert compiled_parameters(path) == stub_parameters(node)
