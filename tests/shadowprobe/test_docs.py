"""The documentation, held against the package: its examples run, its commands exist, and nothing is left out."""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator
from functools import cached_property
from importlib.metadata import metadata
from pathlib import Path
from typing import Any, NamedTuple, get_args

import msgspec
import pytest
from typer.main import get_command
from world import write_world

import shadowprobe
import shadowprobe.retrieval
from shadowprobe import plugins
from shadowprobe.catalogue import datasets as catalogue
from shadowprobe.cli import app, main
from shadowprobe.formats import FORMATS, import_format
from shadowprobe.measure.outcomes import OUTCOMES
from shadowprobe.reporting.figures import list_figures
from shadowprobe.running.directory import RunCard
from shadowprobe.running.study import assign_options
from shadowprobe.running.study_file import StudyKeys, SystemKeys, read_study

ROOT = Path(__file__).resolve().parents[2]
PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
FENCE = re.compile(r"^```(?P<language>\w*)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<body>.*?)^```$", re.M | re.S)
COMMANDS: Any = get_command(app)


class Block(NamedTuple):
    """A fenced block of a page; a title is the file that it is the content of."""

    language: str
    title: str | None
    body: str


def blocks(page: str) -> list[Block]:
    return [Block(*match.group("language", "title", "body")) for match in FENCE.finditer(PAGES[page])]


def prose(page: str) -> str:
    return FENCE.sub("", PAGES[page])


def section(page: str, heading: str) -> str:
    """The text under a heading, up to the next one of the same level or above."""
    level = len(heading.split(" ", maxsplit=1)[0])
    _, _, rest = PAGES[page].partition(f"\n{heading}\n")
    return re.split(rf"^#{{1,{level}}} ", FENCE.sub("", rest), flags=re.M)[0]


def first_cells(text: str) -> list[str]:
    """What stands as code in the first column of the tables of a text."""
    rows = re.findall(r"^\|((?:[^|`]|`[^`]*`)*)\|", text, re.M)
    return [word for row in rows for word in re.findall(r"`([^`]+)`", row)]


def command_lines() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for block in blocks(page):
            if block.language == "console":
                yield from ((page, line[2:]) for line in block.body.splitlines() if line.startswith("$ "))


OURS = [(page, line) for page, line in command_lines() if line.startswith("shadowprobe ")]


def leaf(words: list[str]) -> tuple[str, Any, list[str]]:
    """The command that the words call, and its arguments."""
    name, command = "", COMMANDS
    while hasattr(command, "commands") and words and words[0] in command.commands:
        name, command, words = f"{name} {words[0]}".strip(), command.get_command(None, words[0]), words[1:]
    return name, command, words


def leaves(command: Any, name: str = "") -> Iterator[str]:
    """Every command that does something, by its full name."""
    if not hasattr(command, "commands"):
        yield name
        return
    for word in command.commands:
        yield from leaves(command.get_command(None, word), f"{name} {word}".strip())


def own(group: plugins.Group) -> list[str]:
    """The plugins of this package; others may be installed beside it."""
    return [listing.name for listing in plugins.listings(group) if listing.package == "shadowprobe"]


def slug(heading: str) -> str:
    """The anchor of a heading, where mkdocs and code hosts agree."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page: str) -> list[str]:
    return [slug(heading) for heading in re.findall(r"^#+ (.+)$", prose(page), re.M)]


def keys(found: Any) -> Iterator[str]:
    """Every key of a tree of findings."""
    for key, value in found.items() if isinstance(found, dict) else ():
        yield key
        # Options are the linker's, and kinds the dataset's.
        if key not in {"options", "pulled_to"}:
            yield from keys(value)
    for value in found if isinstance(found, list) else ():
        yield from keys(value)


@pytest.mark.parametrize(("page", "line"), OURS, ids=[line for _, line in OURS])
def test_every_command_shown_is_one_that_can_be_given(page: str, line: str) -> None:
    name, command, arguments = leaf(shlex.split(line)[1:])
    assert name, f"{page}: `{line}` calls no command"
    context = command.make_context(name, arguments)
    if given := context.params.get("option"):
        # Refuses an option that the linker does not have, and a value that it cannot be.
        options = dict(option.split("=", 1) for option in given)
        if "retriever" in context.params:
            plugins.make_retriever(context.params["retriever"], options)
        elif "reader" in context.params:
            plugins.make_reader(context.params["reader"], options)
        else:
            # `run` takes several linkers.
            linkers = context.params["linker"]
            for linker in assign_options(linkers if isinstance(linkers, list) else [linkers], options):
                plugins.make_linker(linker.linker, linker.options)


def test_options_of_linkers_are_among_what_is_checked() -> None:
    assert sum(" -o " in line for _, line in OURS) > 10
    _, command, arguments = leaf(["run", "-o", "weight=1"])
    assert command.make_context("run", arguments).params["option"] == ["weight=1"]


def test_every_command_in_running_text_exists_with_its_options() -> None:
    found = [(page, code) for page in PAGES for code in re.findall(r"`shadowprobe ([a-z][^`]*)`", prose(page))]
    assert found
    for page, code in found:
        name, command, rest = leaf(shlex.split(code))
        known = {option for parameter in command.params for option in parameter.opts}
        assert name, f"{page}: `shadowprobe {code}` calls no command"
        assert {word for word in rest if word.startswith("-")} <= known, f"{page}: `shadowprobe {code}`"


def test_every_option_named_in_running_text_is_an_option_of_some_command() -> None:
    known = {"--help"}
    for name in leaves(COMMANDS):
        known |= {option for parameter in leaf(name.split())[1].params for option in parameter.opts}
    known |= {option for parameter in COMMANDS.params for option in parameter.opts}
    named = {option for page in PAGES for option in re.findall(r"`(--[a-z-]+)", prose(page))}
    assert len(named) > 10
    assert named - known == set()


def test_every_command_has_an_example() -> None:
    shown = {leaf(shlex.split(line)[1:])[0] for _, line in OURS}
    # These only list, and are named in running text.
    assert set(leaves(COMMANDS)) - shown <= {"linkers", "retrievers", "readers"}


def test_the_first_page_lists_every_command() -> None:
    assert sorted(first_cells(section("index.md", "## The commands"))) == sorted(COMMANDS.commands)


def test_every_extra_that_is_installed_exists() -> None:
    extras = {extra for _, line in command_lines() for extra in re.findall(r"shadowprobe\[(\w+)\]", line)}
    assert extras
    assert extras <= set(metadata("shadowprobe").get_all("Provides-Extra") or ())


def test_the_tutorial_runs_as_it_stands_and_prints_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    checked = 0
    for block in blocks("tutorial.md"):
        if block.title:
            Path(block.title).write_text(block.body, encoding="utf-8")
        elif block.language == "python":
            exec(compile(block.body, "tutorial.md", "exec"), {"__name__": "tutorial"})
        for step in re.split(r"^\$ ", block.body, flags=re.M)[1:] if block.language == "console" else ():
            line, *shown = step.splitlines()
            capsys.readouterr()
            with pytest.raises(SystemExit) as end:
                main(shlex.split(line)[1:])
            output = capsys.readouterr()
            assert end.value.code == 0, f"{line}: {output.err}"
            printed = {" ".join(text.split()) for text in output.out.splitlines()}
            expected = [" ".join(text.split()) for text in shown if text.strip() not in {"", "..."}]
            assert [text for text in expected if text not in printed] == [], line
            checked += len(expected)
    assert checked > 5
    assert (tmp_path / "runs/blend-mini/report.html").exists()


PYTHON_PAGES = [page for page in PAGES if any(block.language == "python" for block in blocks(page))]


@pytest.mark.parametrize("page", [page for page in PYTHON_PAGES if page != "tutorial.md"])
def test_the_python_of_every_other_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for block in blocks(page):
        if block.language == "python" and block.title:
            Path(block.title).write_text(block.body, encoding="utf-8")
        elif block.language == "python":
            exec(compile(block.body, page, "exec"), {"__name__": "page"})


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    for page, text in PAGES.items():
        assert len(re.findall(r"^```", text, re.M)) == 2 * len(blocks(page)), page
        assert {block.language for block in blocks(page)} <= {"console", "python", "text", "toml"}, page


def test_the_study_that_is_shown_can_be_run_and_every_key_is_described(tmp_path: Path) -> None:
    (block,) = [block for page in PAGES for block in blocks(page) if block.language == "toml"]
    (tmp_path / "study.toml").write_text(block.body)
    assert read_study(tmp_path / "study.toml").concurrency == 2
    described = first_cells(section("studies.md", "## A study in a file"))
    assert sorted(described) == sorted((*StudyKeys.__struct_fields__, *SystemKeys.__struct_fields__))


def test_every_link_inside_the_docs_leads_to_a_page_and_a_heading() -> None:
    links = [(page, link) for page in PAGES for link in re.findall(r"\]\(([^)\s]+)\)", prose(page))]
    inside = [(page, link) for page, link in links if not link.startswith("https://")]
    assert len(inside) > 20
    for page, link in inside:
        target, _, anchor = link.partition("#")
        if target.startswith("pictures/"):
            assert (ROOT / "docs" / target).exists(), f"{page}: {link}"
            continue
        assert (target or page) in PAGES, f"{page}: {link}"
        assert not anchor or anchor in anchors(target or page), f"{page}: {link}"


def test_every_link_of_the_readme_leads_to_a_file_and_a_heading() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)\s]+)\)", FENCE.sub("", readme)) if not link.startswith("https://")]
    assert len(links) > 20
    for link in links:
        target, _, anchor = link.partition("#")
        assert (ROOT / target).exists(), link
        assert not anchor or anchor in anchors(target.removeprefix("docs/")), link


def test_the_readme_stays_short() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    # Half of the 356 lines and 27,083 bytes of version 0.1.0; the rest belongs to the documentation.
    assert len(readme.splitlines()) <= 178
    assert len(readme.encode()) <= 13_541


def test_every_command_of_the_readme_can_be_given() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^(shadowprobe [^#\n]+)", readme, re.M)
    assert len(lines) > 4
    for line in lines:
        name, command, arguments = leaf(shlex.split(line)[1:])
        assert name, line
        command.make_context(name, arguments)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_the_first_pages_have_the_pictures_and_these_are_small(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    pictures = sorted((ROOT / "docs" / "pictures").iterdir())
    assert [path.name for path in pictures] == ["leaderboard.png", "overshadowing.png", "report.png", "terminal.svg"]
    for path in pictures:
        assert f"pictures/{path.name})" in text
        assert path.stat().st_size <= 120_000


def test_no_two_headings_of_a_page_share_an_anchor() -> None:
    for page in PAGES:
        assert len(set(anchors(page))) == len(anchors(page)), page


def test_the_site_has_every_page_once() -> None:
    site = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert sorted(re.findall(r"^  - .+: (\w+\.md)$", site, re.M)) == sorted(PAGES)


def test_every_linker_has_its_section_and_a_command() -> None:
    assert sorted(re.findall(r"^### `(\w+)`$", PAGES["linkers.md"], re.M)) == sorted(own(plugins.LINKERS))
    for name in own(plugins.LINKERS):
        body = PAGES["linkers.md"].partition(f"\n### `{name}`\n")[2].partition("\n### ")[0]
        assert f"--linker {name}" in body


def test_every_token_that_a_linker_needs_is_named_in_its_section() -> None:
    needed = {
        listing.name: token
        for listing in plugins.listings(plugins.LINKERS)
        for token in re.findall(r"SHADOWPROBE_\w+", listing.needs)
    }
    assert {"wat", "tagme"} <= set(needed)
    for name, token in needed.items():
        assert token in section("linkers.md", f"### `{name}`")


def test_every_probe_has_its_section() -> None:
    assert sorted(re.findall(r"^## `(\w+)`$", PAGES["numbers.md"], re.M)) == sorted(own(plugins.PROBES))


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Results in which every probe has something to measure: scores from 0 to 1, and known commonness."""
    settings = shadowprobe.Settings(gerbil_threshold=True, also=("context_length", "masked_mention"))
    out = tmp_path_factory.mktemp("run")
    return shadowprobe.run("tfidf", "places", limit=30, out=out, settings=settings)


def test_every_number_of_the_results_is_defined(results: dict[str, Any]) -> None:
    assert not [name for name, found in results["probes"].items() if "not_measured" in found]
    for probe in own(plugins.PROBES):
        words = set(re.findall(r"`([\w]+)`", section("numbers.md", f"## `{probe}`")))
        words |= {"top", "shadow", "tail", "neutral", "all"}
        found = set(keys(results[probe] if probe in results else results["probes"][probe]))
        # Templates go by number.
        undefined = {key for key in found if key.removesuffix("_ci95") not in words and not key.isdigit()}
        assert undefined == set(), probe
    head = {key: value for key, value in results.items() if key not in {"subsets", "probes"}}
    named = set(re.findall(r"`([\w]+)`", section("numbers.md", "## The head of the file")))
    assert set(keys(head)) | set(results) <= named


def test_no_number_is_defined_that_the_results_do_not_have(results: dict[str, Any]) -> None:
    for probe in own(plugins.PROBES):
        defined = set(first_cells(section("numbers.md", f"## `{probe}`")))
        found = results[probe] if probe in results else results["probes"][probe]
        assert defined - set(keys(found)) == set(), probe


def test_every_figure_is_listed() -> None:
    assert first_cells(section("showing.md", "## Plot")) == [name for name, _ in list_figures()]


def test_every_outcome_is_explained() -> None:
    assert sorted(first_cells(section("showing.md", "## Report"))) == sorted(OUTCOMES)


def test_every_format_is_listed_with_what_it_can_do() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \|.*?\| (\w+) \| (\w+) \| (\w+) \| (\w+) \|$", PAGES["files.md"], re.M)
    assert [row[0] for row in rows] == list(FORMATS)
    for name, *told in rows:
        module = import_format(name)
        ways = [
            ("read_documents", "read_dataset"),
            ("encode_documents", "write_folder"),
            ("read_documents",),
            ("encode_documents",),
        ]
        assert told == ["yes" if any(hasattr(module, function) for function in way) else "no" for way in ways], name


def test_every_column_of_the_answers_is_documented_and_no_other(tmp_path: Path) -> None:
    answers = shadowprobe.Answers(write_world(tmp_path / "world"))
    bases = [vars(base).items() for base in type(answers).__mro__]
    properties = {name for items in bases for name, value in items if isinstance(value, cached_property)}
    public = {name for name in (*vars(answers), *properties) if not name.startswith("_")}
    # What a run needs to enter answers, and no probe reads.
    public -= {"resolver", "redirects_digest", "gerbil_threshold", "gerbil_nil", "rules", "page_id_conflicts"}
    methods = {"rows(...)", "scored(...)", "gold_subsets()"}
    listed = first_cells(section("numbers.md", "## Columns for your own probe"))
    assert sorted(listed) == sorted(public | methods)
    # A column has a row for each snippet.
    table = section("numbers.md", "## Columns for your own probe").partition("| for each name")[0]
    for column in first_cells(table):
        assert len(getattr(answers, column)) == len(answers) == answers.dataset.count()
    assert (answers.text[0], answers.mention[0]) == ("Anglers say that Avon runs clear above the mill.", "Avon")


def test_every_group_of_entry_points_is_named_in_the_docs_and_in_the_readme() -> None:
    groups = get_args(plugins.Group)
    for text in (PAGES["numbers.md"], (ROOT / "README.md").read_text(encoding="utf-8")):
        assert [group for group in groups if f"`{group}`" not in text] == []


@pytest.mark.parametrize(
    ("kind", "heading"),
    [
        (shadowprobe.Card, "## A dataset"),
        (shadowprobe.Entity, "## A dataset"),
        (shadowprobe.EntitySpace, "## A dataset"),
        (shadowprobe.Snippet, "## A dataset"),
        (RunCard, "## A run"),
        (shadowprobe.Failure, "## A run"),
        (shadowprobe.Prediction, "## Predictions"),
        (shadowprobe.Candidate, "## Predictions"),
    ],
)
def test_every_field_of_a_file_is_described(kind: type[msgspec.Struct], heading: str) -> None:
    named = set(re.findall(r"`(\w+)`", section("files.md", heading)))
    assert {field.encode_name for field in msgspec.structs.fields(kind)} <= named


def test_every_dataset_with_a_name_is_described() -> None:
    names = first_cells(section("files.md", "## A dataset"))
    assert {known.name for known in catalogue.listing()} <= set(names)


def test_every_stage_of_the_builder_is_described() -> None:
    from shadowprobe.build.status import STAGES

    assert first_cells(section("build.md", "## The stages")) == list(STAGES)


def test_the_public_names_are_listed_once_each_with_a_sentence() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.+) \|$", PAGES["api.md"], re.M)
    assert sorted(name for name, _ in rows) == sorted(shadowprobe.__all__)
    assert all(sentence.endswith(".") for _, sentence in rows)


def test_the_reference_has_every_public_name_once() -> None:
    named = re.findall(r"^::: ([\w.]+)$", PAGES["reference.md"], re.M)
    public = {f"shadowprobe.{name}" for name in shadowprobe.__all__ if name != "__version__"}
    public |= {f"shadowprobe.retrieval.{name}" for name in shadowprobe.retrieval.__all__}
    assert sorted(named) == sorted(public)


def test_every_number_of_a_correction_is_defined(tmp_path: Path) -> None:
    from shadowprobe.running.correction import correct_run
    from shadowprobe.running.finished import read_runs

    shadowprobe.run("tfidf", "mini", limit=10, out=tmp_path / "run")
    (run,) = read_runs([tmp_path / "run"])
    found = correct_run(run).found
    described = set(re.findall(r"`(\w+)`", PAGES["correction.md"])) | {"top", "shadow", "tail"}
    head = {key: value for key, value in found.items() if key not in {"linker", "dataset", "settings", "priors"}}
    assert {key.removesuffix("_ci95") for key in {*found, *keys(head)}} <= described


def list_code() -> dict[str, str]:
    """The Python of README, docs and notebooks, by the name of its file and place."""
    pages = {"README.md": (ROOT / "README.md").read_text(encoding="utf-8"), **PAGES}
    code = {
        f"{name} {number}": block
        for name, text in pages.items()
        for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", text, re.M | re.S))
    }
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "code":
                code[f"{path.name} {number}"] = re.sub(r"^[%!].*$", "", "".join(cell["source"]), flags=re.M)
    return code


CODE = list_code()


@pytest.mark.parametrize("place", CODE)
def test_examples_use_public_names_only(place: str) -> None:
    public = {"shadowprobe": set(shadowprobe.__all__), "shadowprobe.retrieval": set(shadowprobe.retrieval.__all__)}
    for node in ast.walk(ast.parse(CODE[place])):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "shadowprobe":
            assert {alias.name for alias in node.names} <= public.get(node.module or "", set()), ast.unparse(node)
        if isinstance(node, ast.Import):
            ours = {alias.name for alias in node.names if alias.name.split(".")[0] == "shadowprobe"}
            assert ours <= set(public), ast.unparse(node)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "shadowprobe":
            assert node.attr in public["shadowprobe"] | {"retrieval"}, ast.unparse(node)
