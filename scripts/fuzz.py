"""Runs commands on damaged inputs of every format, and says what they do that no command may do.

`scripts/fuzz --count 2000 --seed 1` runs so many cases; `scripts/fuzz --seed 1 --case 17` runs one of them again. The
inputs of a case with a finding are kept below --out, with the command and what it printed. Exit 1: there are findings.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import shutil
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

# Before NumPy is imported: threads do not survive the fork of each case.
os.environ.update({"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "COLUMNS": "110"})

from fuzzing.inputs import Inputs, Kit, Target, make_inputs, schedule
from fuzzing.mutations import mutate, mutate_text
from fuzzing.sandbox import Call, Outcome, run_batch, run_command


class Case(NamedTuple):
    """A case that was run; its outcome is None if it has exit code `code` and nothing was found."""

    number: int
    target: Target
    changed: str
    code: int
    outcome: Outcome | None = None


# So many cases run in one process, as long as nothing is found.
BATCH = 12
# One case of so many is of a command that imports large packages.
HEAVY = 50


class Fuzzer:
    """Runs cases, each by its number: the same seed and number always give the same input."""

    def __init__(self, inputs: Inputs, seed: int, out: Path) -> None:
        self.inputs, self.seed, self.out = inputs, seed, out
        self._turns = list(schedule(inputs.targets))

    def run_batch(self, numbers: Sequence[int]) -> list[Case]:
        """Runs cases; one with which something may be wrong is run again, alone."""
        with tempfile.TemporaryDirectory(dir=self.inputs.directory) as name:
            made = [self._make(number, Path(name) / str(number)) for number in numbers]
            codes = run_batch([call for _, _, call in made])
        cases = zip(numbers, made, codes, strict=True)
        return [
            self.run(number) if code is None else Case(number, target, changed, code)
            for number, (target, changed, _), code in cases
        ]

    def run(self, number: int) -> Case:
        """Runs a case alone; its input is kept below `out` if there are findings."""
        with tempfile.TemporaryDirectory(dir=self.inputs.directory) as name:
            target, changed, call = self._make(number, Path(name))
            outcome = run_command(call)
            if outcome.findings:
                kept = self.out / f"seed-{self.seed}-case-{number}"
                shutil.rmtree(kept, ignore_errors=True)
                # Made again, because a command may change its input.
                self._make(number, kept)
                report = [f"shadowprobe {' '.join(map(ascii, call.arguments))}", *outcome.findings, "", outcome.output]
                (kept / "finding.txt").write_text("\n".join(report), encoding="utf-8", errors="backslashreplace")
        return Case(number, target, changed, outcome.code, outcome)

    def _make(self, number: int, place: Path) -> tuple[Target, str, Call]:
        """Makes the input of a case."""
        random = Random(f"{self.seed}-{number}")
        turn = number // HEAVY if choose_kit(number) == "heavy" else number
        target = self._turns[turn % len(self._turns)]
        target.copy(place / "input")
        (place / "log").mkdir()
        changed, arguments = self._change(target, place / "input", random)
        return target, changed, Call(arguments, place / "input", place / "log")

    def _change(self, target: Target, place: Path, random: Random) -> tuple[str, tuple[str, ...]]:
        """Changes a file of the input, or now and then two; else the option at the end of the command."""
        if not target.files:
            key, _, value = target.arguments[-1].partition("=")
            value = mutate_text(value, random)
            return "options", (*target.arguments[:-1], f"{key}={value}" if random.random() < 0.9 else value)
        changed = random.sample(target.files, min(len(target.files), random.choice((1, 1, 1, 2))))
        others = [(place / name).read_bytes() for name in target.files]
        for name in changed:
            (place / name).write_bytes(mutate((place / name).read_bytes(), random, others))
        return ", ".join(changed), target.arguments


def choose_place() -> str | None:
    """A directory in memory for the thousands of small files, where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def choose_kit(number: int) -> Kit:
    """The kit of a case."""
    return "heavy" if number % HEAVY == HEAVY - 1 else "light"


def prepare(directory: Path, kit: Kit) -> Inputs:
    """Makes the inputs, and imports what the commands import."""
    with warnings.catch_warnings():
        # Some packages warn when a part of them is imported that they import themselves.
        warnings.simplefilter("ignore")
        inputs = make_inputs(directory, kit)
        check_inputs(inputs)
    return inputs


def check_inputs(inputs: Inputs) -> None:
    """Checks that every command succeeds on its input as it is: otherwise its cases would say nothing."""
    failed = []
    for target in inputs.targets:
        with tempfile.TemporaryDirectory(dir=inputs.directory) as name:
            outcome = inputs.run(target._replace(tree=target.copy(Path(name) / "first")))
            # The first that draws a figure makes a list of fonts for all, outside of its own directory.
            if any("fontlist" in finding for finding in outcome.findings):
                outcome = inputs.run(target._replace(tree=target.copy(Path(name) / "second")))
        if outcome.code not in {0, 1} or outcome.findings:
            failed.append(f"{target.name} fails on its own input: {outcome.findings} {outcome.output[-1000:]}")
    if failed:
        raise SystemExit("\n".join(failed))


def run_cases(fuzzer: Fuzzer, numbers: Sequence[int], jobs: int) -> Iterator[Case]:
    """Runs cases in several processes, which have imported all that the commands import."""
    gc.collect()
    gc.freeze()
    if len(numbers) == 1:
        yield fuzzer.run(numbers[0])
        return
    batches = [numbers[start : start + BATCH] for start in range(0, len(numbers), BATCH)]
    with multiprocessing.get_context("fork").Pool(jobs) as pool:
        for cases in pool.imap_unordered(fuzzer.run_batch, batches):
            yield from cases


def report(case: Case, seed: int, out: Path) -> None:
    """Prints the findings of a case and how to repeat it."""
    print(f"case {case.number}: {case.target.name}: {case.changed}")
    for finding in case.outcome.findings if case.outcome is not None else ():
        print(f"  {finding!a}" if not finding.isprintable() else f"  {finding}")
    print(
        f"  scripts/fuzz --seed {seed} --case {case.number}   # input: {out}/seed-{seed}-case-{case.number}", flush=True
    )


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000, help="the number of cases")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same cases")
    parser.add_argument("--case", type=int, help="run only this case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="cases at the same time")
    parser.add_argument("--out", type=Path, default=Path("fuzz-findings"), help="where inputs with findings are kept")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the cases that the options ask for; returns 1 if there are findings."""
    options = parse_arguments(arguments)
    began = time.monotonic()
    numbers = [options.case] if options.case is not None else range(options.count)
    codes: Counter[int] = Counter()
    found = commands = 0
    kits: tuple[Kit, ...] = ("light", "heavy")
    for kit in kits:
        chosen = [number for number in numbers if choose_kit(number) == kit]
        if not chosen:
            continue
        with tempfile.TemporaryDirectory(prefix="shadowprobe-fuzz-", dir=choose_place()) as directory:
            os.environ["MPLCONFIGDIR"] = directory
            inputs = prepare(Path(directory), kit)
            commands += len(inputs.targets)
            for case in run_cases(Fuzzer(inputs, options.seed, options.out), chosen, options.jobs):
                codes[case.code] += 1
                if case.outcome is not None and case.outcome.findings:
                    found += 1
                    report(case, options.seed, options.out)
                elif options.case is not None:
                    print(f"case {case.number}: {case.target.name}: {case.changed}: nothing found")
                    print(case.outcome.output if case.outcome is not None else "")
    ends = ", ".join(f"{count} ended with {code}" for code, count in sorted(codes.items()))
    print(
        f"{sum(codes.values())} cases of {commands} commands with seed {options.seed}: {found} with findings"
        f" ({ends}; {time.monotonic() - began:.0f} s)"
    )
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
