"""What the commands share: options, consoles, progress on a terminal."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

import shadowprobe
from shadowprobe.errors import UsageError, nearest

if TYPE_CHECKING:
    from rich.console import Console

    from shadowprobe.base.model import Subset
    from shadowprobe.dataset.dataset import Dataset
    from shadowprobe.reporting.tables.table import Table
    from shadowprobe.running.directory import Results
    from shadowprobe.running.job import FinishedJob, Progress

Choice = TypeVar("Choice", bound=str)
CONTACT = "SHADOWPROBE_CONTACT"
# How wide tables are where the output is no terminal and nothing says otherwise.
PIPE_WIDTH = 110
# The control characters but for line break and tab; those from 0x80 on are commands too, to some terminals.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def complete(what: str) -> Callable[[str], list[str]]:
    """What the shell offers for the names of one kind; nothing is imported before it asks."""

    def offer(incomplete: str) -> list[str]:
        from shadowprobe.cli import completion

        found: list[str] = getattr(completion, f"complete_{what}")(incomplete)
        return found

    return offer


def dataset_option(about: str, completed: str | None = None) -> Any:
    """The option --dataset; `completed` is the kind of names that the shell offers."""
    offered = complete(completed) if completed is not None else None
    return typer.Option("--dataset", "-d", metavar="NAME|DIR", autocompletion=offered, help=about)


def collection_option(about: str) -> Any:
    """The option --collection."""
    return typer.Option("--collection", "-c", metavar="NAME|DIR|FILE", help=about)


def system_option(noun: str, short: str, about: str, metavar: str = "NAME|FILE.py:CLASS") -> Any:
    """The option for a linker, a retriever or a reader, whose names the shell offers."""
    return typer.Option(f"--{noun}", short, metavar=metavar, autocompletion=complete(f"{noun}s"), help=about)


def options_of(noun: str) -> Any:
    """The option -o for the options of a linker, a retriever or a reader."""
    return typer.Option("--option", "-o", metavar="KEY=VALUE", help=f"An option of the {noun}.")


def predictions_option(about: str, metavar: str = "FILE|RUN") -> Any:
    """The option --predictions for stored answers."""
    return typer.Option("--predictions", "-p", metavar=metavar, help=about)


def runs_argument(about: str, metavar: str = "RUN...") -> Any:
    """The argument for run directories, which the shell offers."""
    return typer.Argument(metavar=metavar, autocompletion=complete("runs"), help=about)


DatasetOption = Annotated[str, dataset_option("A known dataset, or the directory of one.", "datasets")]
LinkerOption = Annotated[str, system_option("linker", "-l", "The linker, by name or place.")]
OptionsOption = Annotated[list[str] | None, options_of("linker")]
ContactOption = Annotated[
    str | None,
    typer.Option("--contact", metavar="MAIL|URL", help=f"Who is asking, for the User-Agent [{CONTACT}]."),
]
WorkersOption = Annotated[
    int | None, typer.Option("--workers", min=1, metavar="N", help="Processes that work at a time [all cores].")
]
ExecutorOption = Annotated[
    str, typer.Option("--executor", metavar="local|ray", help="Where they run: on this machine, or on a Ray cluster.")
]
RayAddressOption = Annotated[
    str | None,
    typer.Option("--ray-address", metavar="HOST:PORT|auto", help="The cluster of --executor ray [a new one, here]."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
QueriesOption = Annotated[
    Path | None,
    typer.Option("--queries", metavar="FILE|DIR", help="The probe's queries as released [the collection's own]."),
]
PublishedOption = Annotated[
    bool, typer.Option("--published", help="Add the figures that the papers print, marked as published.")
]
AfreshOption = Annotated[bool, typer.Option("--force", help="Forget what --out holds and start afresh.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Write over what is there.")]
ProbeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--probe",
        metavar="[+]NAME|FILE.py:CLASS",
        autocompletion=complete("probes"),
        help="Ask only this probe (may be repeated); results.json then holds no other. +NAME adds it to the others.",
    ),
]
AlsoOption = Annotated[
    list[str] | None,
    typer.Option(
        "--also",
        metavar="NAME|FILE.py:CLASS",
        autocompletion=complete("probes"),
        help="Ask this probe too, which needs new predictions: context_length, masked_mention (may be repeated).",
    ),
]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first N names and N tail entities.")]
RedirectsOption = Annotated[
    Path | None,
    typer.Option("--redirects", metavar="FILE", help="A table of redirects: old<TAB>new, or JSON."),
]
ThresholdOption = Annotated[
    bool, typer.Option("--gerbil-threshold", help="Add the scores at GERBIL's oracle confidence threshold.")
]
NilOption = Annotated[
    bool,
    typer.Option(
        "--gerbil-nil",
        help="Count as GERBIL: where the gold is in no knowledge base, any answer outside of it is right.",
    ),
]
RoundsOption = Annotated[int, typer.Option("--rounds", min=100, help="Rounds of the paired bootstrap.")]
# --seed is its earlier name.
SeedOption = Annotated[int, typer.Option("--bootstrap-seed", "--seed", min=0, help="Seed of the paired bootstrap.")]


# Kept in step with `shadowprobe.formats` by a test: importing that for a line of help would cost every start.
FORMATS_HELP = "shadowlink, zelda, nif, aida-conll, kilt, blink, elevant, simple-jsonl or hf."


def subsets(names: list[str] | None, dataset: Dataset) -> list[Subset]:
    """The subsets of a dataset that a user names; none is all."""
    for name in names or ():
        if name not in dataset.subsets:
            raise UsageError(f"--subset {name}: `{dataset.name}` has {', '.join(dataset.subsets)}")
    return [subset for subset in dataset.subsets if subset in (names or ())]


def choose(option: str, given: str, choices: Sequence[Choice]) -> Choice:
    """The choice that a user gave by its word."""
    for choice in choices:
        if given == choice:
            return choice
    raise UsageError(f"{option} {given}: choose from {', '.join(choices)}{nearest(given, choices)}")


def parse_options(pairs: list[str] | None) -> dict[str, str]:
    """`key=value` pairs as a table."""
    options: dict[str, str] = {}
    for pair in pairs or []:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"-o {pair}: an option is given as key=value")
        if any("\ud800" <= character <= "\udfff" for character in pair):
            raise UsageError(f"-o {pair!r}: is not UTF-8")
        if key in options:
            raise UsageError(f"-o {key} is given twice")
        options[key] = value
    return options


def user_agent(contact: str | None, *, needed: bool = True) -> str:
    """The name under which hosts see our requests, with an address for complaints."""
    given = (contact or os.environ.get(CONTACT, "")).strip()
    if not given and needed:
        raise UsageError(
            f"--contact: say who is asking, by mail or web address, or set {CONTACT}; every host that is asked sees it"
        )
    if not given.isascii() or not given.isprintable():
        raise UsageError("--contact: a header carries nothing but ASCII, on one line: give a mail or web address")
    return f"shadowprobe/{shadowprobe.__version__} (+{given or 'no contact'})"


def out_directory(about: str) -> Any:
    """The option --out for a directory; the empty name, which a script's unset variable makes, is refused."""
    return typer.Option("--out", metavar="DIR", help=about, parser=lambda name: _parse_path(name, "directory"))


def out_file(about: str, metavar: str = "FILE") -> Any:
    """The option --out for a file; the empty name is refused too."""
    return typer.Option("--out", metavar=metavar, help=about, parser=lambda name: _parse_path(name, "file"))


def _parse_path(name: str, what: str) -> Path:
    if not name:
        raise UsageError(f"--out: the name of the {what} is empty")
    return Path(name)


def stdout_is_ours() -> AbstractContextManager[Any]:
    """Sends what a linker prints to stderr: our stdout may be read by a program."""
    return redirect_stdout(sys.stderr)


def stdout() -> Console:
    """The console for results; wide enough for its tables where it is no terminal."""
    console = _make_console()
    fixed = console.is_terminal or "COLUMNS" in os.environ
    return console if fixed else _make_console(width=PIPE_WIDTH)


def stderr() -> Console:
    """The console for progress and warnings."""
    return _make_console(stderr=True)


def _make_console(**settings: Any) -> Console:
    from rich.console import Console
    from rich.segment import Segment

    class SafeConsole(Console):
        """Obeys no command inside a text, and bears a reader who leaves, as `| head` does."""

        def render(self, *arguments: Any, **options: Any) -> Iterator[Segment]:
            for text, style, control in super().render(*arguments, **options):
                yield Segment(text if control else escape_controls(text), style, control)

        def on_broken_pipe(self) -> None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    return SafeConsole(highlight=False, **settings)


def escape_controls(text: str) -> str:
    r"""Replaces control characters by their codes such as `\x1b`, so that a terminal shows and does not obey them."""
    return _CONTROLS.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def escape_json_controls(text: str) -> str:
    r"""The same for JSON, where only the later ones are left: as `\u009b`, so that it is still the same JSON."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def echo(text: str, *, err: bool = False, end: str = "\n") -> None:
    """Prints text; commands to the terminal inside it are shown and not obeyed."""
    print(escape_controls(text), end=end, file=sys.stderr if err else sys.stdout, flush=True)


def warn(sentence: str) -> None:
    """A warning on stderr."""
    echo(f"shadowprobe: warning: {sentence}", err=True)


def print_json(value: Any) -> None:
    """JSON for programs."""
    from shadowprobe.base.jsonl import encode_json

    echo(escape_json_controls(encode_json(value).decode()), end="")


def print_lines(*lines: str) -> None:
    """Lines of text; a file may be named like markup."""
    for line in lines:
        stdout().print(line, markup=False, soft_wrap=True)


def print_listing(items: Any, table: Table, *, json: bool) -> None:
    """The same items as a table or as JSON."""
    if json:
        print_json(items)
    else:
        print_tables([table])


def print_results(results: Results, *, json: bool, published: bool = False) -> None:
    """Results as a screen or as JSON."""
    if json:
        print_json(results)
        return
    from shadowprobe.reporting.tables.to_terminal import show_run

    show_run(results, stdout(), published=published)


def print_outcome(finished: FinishedJob, unit: str, subject: str = "") -> int:
    """Says how the asking went and where the results are; returns the exit code: 1 where something has no answer.

    `subject` goes before it, where there are several runs.
    """
    from shadowprobe.running.directory import read_failures

    outcome = finished.outcome
    words = [f"{outcome.resumed} taken from an earlier run"] if outcome.resumed else []
    if outcome.answered or outcome.failed:
        words.append(f"{outcome.answered} answered in {outcome.seconds:.1f} s")
    if outcome.repeated:
        words.append(f"{outcome.repeated} of them repeated a text and were not asked again")
    if finished.status:
        words.append(finished.status)
    echo(f"{subject}{'; '.join(words)}{'. ' if words else ''}Written to {finished.out}/", err=True)
    if outcome.failed:
        echo(
            f"shadowprobe: {outcome.failed} {unit} failed and count as not answered: {finished.out}/failures.jsonl"
            " lists them, and the same command tries them again",
            err=True,
        )
        if failures := read_failures(finished.out):
            echo(f"shadowprobe: the first of them: {failures[0].error}", err=True)
    return 1 if finished.results["missing"] else 0


def print_tables(tables: Iterable[Table]) -> None:
    """Tables on the screen."""
    from shadowprobe.reporting.tables.to_terminal import show

    show(tables, stdout())


def open_dataset(name: str) -> Dataset:
    """A dataset by name or directory, with a progress bar where it must be downloaded."""
    from shadowprobe.catalogue.datasets import open_dataset as open_quietly

    with _Downloads() as watcher:
        return open_quietly(name, watcher)


@contextmanager
def status_line(text: str) -> Iterator[Callable[[str], None]]:
    """A line on stderr with a function that replaces it, only where stderr is a terminal."""
    console = stderr()
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status(text) as status:
        yield status.update


@contextmanager
def working(what: str, total: int, status: Callable[[], str] = str) -> Iterator[Progress | None]:
    """A progress bar on stderr with the status of the system, only where stderr is a terminal."""
    with bars(transient=True, status=status) as move:
        done = 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            if move is not None:
                move(what, done, total)

        yield advance


@contextmanager
def bars(
    *, transient: bool = False, status: Callable[[], str] = str
) -> Iterator[Callable[[str, int, int | None], None] | None]:
    """Progress bars on stderr, one for each name, only where stderr is a terminal; shows rate and remaining time."""
    console = stderr()
    if not console.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, ProgressColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Status(ProgressColumn):
        """Read each time the bar is drawn, because it changes while nothing is finished."""

        def render(self, _: Any) -> Text:
            return Text(status(), style="yellow")

    columns = (
        TextColumn("{task.description:<18}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(elapsed_when_finished=True),
        Status(),
    )
    with Bars(*columns, console=console, transient=transient) as shown:
        tasks: dict[str, Any] = {}

        def move(name: str, done: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = shown.add_task(name, total=total, rate="")
            speed = shown.tasks[tasks[name]].speed
            shown.update(tasks[name], completed=done, total=total, rate=f"{speed:.1f}/s" if speed else "")

        yield move


class _Downloads(ExitStack):
    """Shows downloads as they go; the bars are made only when the first byte arrives."""

    _is_shown = False
    _move: Callable[[str, int, int | None], None] | None = None

    def progress(self, name: str, done: int, total: int | None) -> None:
        """Moves the bar of a file."""
        if not self._is_shown:
            self._is_shown, self._move = True, self.enter_context(bars())
        if self._move is not None:
            self._move(name, done, total)

    def warn(self, sentence: str) -> None:
        """A warning on stderr."""
        warn(sentence)
