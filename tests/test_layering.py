"""No room uses another that docs/architecture.md does not allow it to use."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CPP = ROOT / "cpp"
PYTHON = ROOT / "python" / "penstock"

Edges = dict[str, set[str]]


def allowed_edges(block: str) -> Edges:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    found = re.search(rf"```layering-{block}\n(.*?)```", text, re.DOTALL)
    assert found, f"docs/architecture.md has no block layering-{block}"
    lines = [line.partition(":") for line in found[1].splitlines() if line.strip()]
    return {room.strip(): set(uses.split()) for room, _, uses in lines}


def cpp_files() -> list[Path]:
    return sorted(p for p in CPP.rglob("*") if p.suffix in {".h", ".cpp", ".cc"})


def cpp_includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', path.read_text("utf-8"), re.MULTILINE)


def cpp_uses() -> Iterator[tuple[Path, str, str]]:
    """Each file with the room it is in and a room it includes from."""
    rooms = {p.name for p in CPP.iterdir() if p.is_dir()}
    for path in cpp_files():
        for included in cpp_includes(path):
            room, slash, _ = included.partition("/")
            if slash and room in rooms:
                yield path, path.relative_to(CPP).parts[0], room


def python_imports(path: Path) -> Iterator[str]:
    """The absolute names of all modules that `path` imports, inside functions too."""
    package = ["penstock", *path.relative_to(PYTHON).parent.parts]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            # "from penstock import graph" imports the room graph.
            yield from (f"{module}.{alias.name}" for alias in node.names)


def python_uses() -> Iterator[tuple[Path, str, str]]:
    rooms = set(allowed_edges("python")) | {"_core"}
    for path in sorted(PYTHON.rglob("*.py")):
        room = path.relative_to(PYTHON).parts[0].removesuffix(".py")
        for name in python_imports(path):
            parts = name.split(".")
            if parts[0] == "penstock" and len(parts) > 1 and parts[1] in rooms:
                yield path, room, parts[1]


def violations(uses: Iterator[tuple[Path, str, str]], allowed: Edges) -> list[str]:
    return sorted(
        {
            f"{path.relative_to(ROOT)}: {room} must not use {used}"
            for path, room, used in uses
            if room != used and used not in allowed.get(room, set())
        }
    )


def test_cpp_rooms_include_only_what_they_may() -> None:
    assert violations(cpp_uses(), allowed_edges("cpp")) == []


def test_python_rooms_import_only_what_they_may() -> None:
    # The package's own __init__ and its private modules gather names for users.
    uses = (use for use in python_uses() if use[1] in allowed_edges("python"))
    assert violations(uses, allowed_edges("python")) == []


def test_only_runtime_touches_the_compiled_module() -> None:
    # Anywhere in the package, also in files that are in no room.
    users = {room for _, room, used in python_uses() if used == "_core" and room != "_core"}
    assert users <= {"runtime"}


def test_only_bindings_know_python() -> None:
    knowing = {
        str(path.relative_to(ROOT))
        for path in cpp_files()
        if path.relative_to(CPP).parts[0] != "bindings"
        for included in cpp_includes(path)
        if included == "Python.h" or included.startswith("pybind11/")
    }
    assert knowing == set()


def test_every_cpp_room_is_in_the_document() -> None:
    rooms = {p.name for p in CPP.iterdir() if p.is_dir()}
    assert rooms == set(allowed_edges("cpp"))


@pytest.mark.parametrize("block", ["cpp", "python"])
def test_allowed_edges_name_known_rooms(block: str) -> None:
    allowed = allowed_edges(block)
    assert set().union(*allowed.values()) <= {*allowed, "_core"}
