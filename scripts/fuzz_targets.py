"""Runs the libFuzzer programs in build/fuzz/fuzzers, each for its share of processor time.

What has been found interesting stays in build/fuzz/corpus, so that the next run goes on from there. An input that
breaks something is a finding: it is kept in build/fuzz/findings and the exit code is 1.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from fuzz_seeds import ROOT, write_seeds

BUILD = ROOT / "build" / "fuzz"
# One input may take 5 s and the whole process 2 GB; more is a finding as well.
OPTIONS = ["-timeout=5", "-rss_limit_mb=2048", "-print_final_stats=1", "-verbosity=1"]
LEAST_SECONDS = 10


@dataclass
class Outcome:
    target: str
    seconds: float = 0.0  # of processor time
    executions: int = 0
    coverage: int = 0
    finding: str = ""  # what the program said at its end


def run_once(target: str, seconds: int, log: Path) -> tuple[int, float]:
    """Exit code and seconds of processor time of one process."""
    corpus = BUILD / "corpus" / target
    findings = BUILD / "findings" / target
    for folder in (corpus, findings):
        folder.mkdir(parents=True, exist_ok=True)
    command = [
        str(BUILD / "fuzzers" / target),
        str(corpus),
        str(BUILD / "seeds" / target),
        f"-max_total_time={seconds}",
        f"-artifact_prefix={findings}/",
        *OPTIONS,
    ]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode, usage.ru_utime + usage.ru_stime


def run(target: str, seconds: float) -> Outcome:
    write_seeds(target, BUILD / "seeds" / target)
    log = BUILD / f"{target}.log"
    outcome = Outcome(target)
    # A process stops by the clock, which is ahead of its processor time on a busy machine.
    while outcome.seconds < seconds and not outcome.finding:
        left = max(LEAST_SECONDS, round(seconds - outcome.seconds))
        code, used = run_once(target, left, log)
        text = log.read_text("utf-8", errors="replace")
        outcome.seconds += used
        if ran := re.search(r"stat::number_of_executed_units:\s*(\d+)", text):
            outcome.executions += int(ran[1])
        for covered in re.findall(r" cov: (\d+)", text):
            outcome.coverage = max(outcome.coverage, int(covered))
        if code != 0:
            outcome.finding = tail(text)
    return outcome


def tail(text: str) -> str:
    lines = text.splitlines()
    first = next(
        (i for i, line in enumerate(lines) if re.search(r"broken:|ERROR:|error:", line)), 0
    )
    return "\n".join(lines[first : first + 25] + lines[-3:])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--seconds", type=float, default=1200, help="of processor time, all together"
    )
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("targets", nargs="*")
    arguments = parser.parse_args()
    targets = arguments.targets or sorted(path.name for path in (BUILD / "fuzzers").iterdir())
    began = time.monotonic()
    with ThreadPoolExecutor(arguments.jobs) as pool:
        outcomes = list(pool.map(lambda t: run(t, arguments.seconds / len(targets)), targets))
    for outcome in outcomes:
        print(
            f"{outcome.target:20} {outcome.executions:>12,} executions {outcome.seconds:>7,.0f} s "
            f"{outcome.coverage:>6} covered  {'FINDING' if outcome.finding else 'nothing found'}"
        )
    total = sum(outcome.executions for outcome in outcomes)
    used = sum(outcome.seconds for outcome in outcomes)
    found = [outcome for outcome in outcomes if outcome.finding]
    print(
        f"{total:,} executions in {used / 60:.1f} minutes of processor time "
        f"({time.monotonic() - began:.0f} s), {len(found)} findings"
    )
    for outcome in found:
        print(f"\n{outcome.target}: inputs are in {BUILD / 'findings' / outcome.target}")
        print(outcome.finding)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
