"""The command line: ``penstock state ls|show``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; its exit code."""
    parser = argparse.ArgumentParser(prog="penstock", description="Tools for Penstock jobs.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    state = commands.add_parser("state", help="what checkpoints and savepoints hold")
    actions = state.add_subparsers(required=True, metavar="ACTION")
    ls = actions.add_parser("ls", help="list operators and their states")
    ls.add_argument("path", help="a chk-<n> or savepoint directory, or a URI of one")
    ls.set_defaults(run=_list)
    show = actions.add_parser("show", help="show the entries of a state")
    show.add_argument("path", help="a chk-<n> or savepoint directory, or a URI of one")
    show.add_argument("uid", help="of the operator")
    show.add_argument("name", help="of the state")
    show.add_argument("--limit", type=_limit, default=20, help="rows to show (20; 0: all)")
    show.add_argument("--format", choices=("text", "csv", "json"), default="text")
    show.set_defaults(run=_show)
    options = parser.parse_args(arguments)
    from penstock.errors import PenstockError

    try:
        options.run(options)
    except (PenstockError, KeyError, ValueError) as error:
        print(f"penstock: {error.args[0] if error.args else error}", file=sys.stderr)
        return 1
    except BrokenPipeError:  # whoever reads has seen enough
        sys.stderr.close()
        return 1
    return 0


def _limit(text: str) -> int:
    limit = int(text)
    if limit < 0:
        raise argparse.ArgumentTypeError(f"{limit} is less than 0")
    return limit


def _list(options: argparse.Namespace) -> None:
    from penstock.state.reports import list_states

    print("\n".join(list_states(options.path)))


def _show(options: argparse.Namespace) -> None:
    from penstock.state.reports import show_state

    for line in show_state(options.path, options.uid, options.name, options.limit, options.format):
        print(line)


if __name__ == "__main__":
    sys.exit(main())
