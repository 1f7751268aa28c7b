"""Linkers and probes of other people: a file, a module, an installed package."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from world import write_world

from shadowprobe import Linker, PluginError, UsageError, open_dataset
from shadowprobe.plugins import LINKERS, PROBES, listings, loading, make_linker, make_probe, names
from shadowprobe.running.check import check
from shadowprobe.systems.options import option_values

PLUGIN_PACKAGE = Path(__file__).resolve().parents[2] / "plugin_package"
# The example of the README and of the design, ten lines.
FIRST = '''
from shadowprobe import Linker, Prediction, Snippet

class FirstCandidate(Linker):
    """Always the first entity of the space."""

    name = "first"

    def link(self, snippets: list[Snippet]) -> list[Prediction]:
        return [self.ranked(s, self.knowledge.candidates(s.mention)) for s in snippets]
'''
OPTIONS = '''
from __future__ import annotations
from pathlib import Path
from typing import Literal
from shadowprobe import Linker

class Options(Linker):
    """Takes one of each."""

    def __init__(self, weight: float = 0.5, top: int | None = 3, fast: bool = False, where: Path = Path("."),
                 mode: Literal["local", "global"] = "local", url: str = "http://localhost") -> None:
        self.weight, self.top, self.fast, self.where, self.mode, self.url = weight, top, fast, where, mode, url

class Demanding(Linker):
    """Cannot do without."""

    def __init__(self, url: str) -> None:
        self.url = url

class Unannotated(Linker):
    """Says nothing of the types of its options."""

    def __init__(self, use_prior=True, top=3, share=0.5, mode="local"):
        self.use_prior, self.top, self.share, self.mode = use_prior, top, share, mode

class Unresolvable(Linker):
    """Names a type that is not there when it runs."""

    def __init__(self, tensor: "torch.Tensor" = None, n: "int" = 1):
        self.tensor, self.n = tensor, n

class Lists(Linker):
    """Takes several."""

    def __init__(self, sizes: list[int] = []):
        self.sizes = sizes

class NotALinker:
    """Something else."""
'''


@pytest.fixture
def first(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FIRST)
    return path


@pytest.fixture
def options(tmp_path: Path) -> Path:
    path = tmp_path / "options.py"
    path.write_text(OPTIONS)
    return path


def shadowprobe(*arguments: str, cwd: Path, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    command = [python, "-m", "shadowprobe", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_ten_lines_in_a_file_of_the_users_run(first: Path, tmp_path: Path) -> None:
    write_world(tmp_path / "world")
    done = shadowprobe("run", "--linker", "mine.py:FirstCandidate", "--dataset", "world", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "first on world" in done.stdout
    assert (tmp_path / "runs" / "first-world" / "results.json").exists()


def test_the_users_file_may_import_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "neighbour.py").write_text("ANSWER = 'Avon (river)'\n")
    (tmp_path / "with_neighbour.py").write_text(FIRST.replace("\nclass", "\nfrom neighbour import ANSWER\n\nclass", 1))
    assert make_linker(f"{tmp_path}/with_neighbour.py:FirstCandidate").name == "first"


def test_a_changed_file_is_another_version(first: Path) -> None:
    before = make_linker(f"{first}:FirstCandidate").version
    first.write_text(FIRST.replace("(s.mention)", "(s.mention)[::-1]"))
    assert make_linker(f"{first}:FirstCandidate").version != before


def test_a_linker_by_module_and_class() -> None:
    assert make_linker("shadowprobe.linkers.nil:NilLinker").name == "nil"


@pytest.mark.slow
def test_a_linker_and_a_probe_in_an_installed_package_go_by_their_names(tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        "--target",
        str(site),
    ]
    subprocess.run([*pip, str(copy_of_package(tmp_path))], check=True, capture_output=True)
    write_world(tmp_path / "world")
    script = f"import sys; sys.path.insert(0, {str(site)!r}); from shadowprobe.cli import main; main(sys.argv[1:])"

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        line = [sys.executable, "-c", script, *arguments]
        return subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)

    listed = {item["name"]: item for item in json.loads(command("linkers", "--json").stdout)}
    assert listed["longest-title"] == {
        "name": "longest-title",
        "about": "The candidate with the longest title.",
        "needs": "patience",
        "package": "shadowprobe-plugin-example",
        "error": "",
    }
    done = command(
        "run", "--linker", "longest-title", "--dataset", "world", "--probe", "subsets", "--probe", "vowels", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert '"vowels"' in done.stdout
    assert '"version": "3.1"' in done.stdout


def copy_of_package(tmp_path: Path) -> Path:
    """The plugin package outside the source tree, where building it may leave files."""
    return Path(shutil.copytree(PLUGIN_PACKAGE, tmp_path / "package"))


def test_options_are_read_as_their_types_ask(options: Path) -> None:
    given = {"weight": "0.25", "top": "none", "fast": "yes", "where": "a/b", "mode": "global"}
    linker = make_linker(f"{options}:Options", given)
    assert option_values(linker, given) == {
        "weight": 0.25,
        "top": None,
        "fast": True,
        "where": Path("a/b"),
        "mode": "global",
        "url": "http://localhost",
    }


def test_an_option_without_a_type_has_that_of_its_default(options: Path) -> None:
    given = {"use_prior": "false", "top": "5", "share": "0.25", "mode": "global"}
    linker = make_linker(f"{options}:Unannotated", given)
    assert option_values(linker, given) == {"use_prior": False, "top": 5, "share": 0.25, "mode": "global"}
    assert vars(linker)["use_prior"] is False


def test_a_type_that_cannot_be_found_does_not_make_the_others_text(options: Path) -> None:
    assert vars(make_linker(f"{options}:Unresolvable", {"n": "7"}))["n"] == 7


def test_a_list_is_given_with_commas(options: Path) -> None:
    assert vars(make_linker(f"{options}:Lists", {"sizes": "1, 2,3"}))["sizes"] == [1, 2, 3]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"weigth": "1"}, r"no option `weigth` \(did you mean `weight`\?\)"),
        ({"weight": "much"}, "`weight`: 'much' is not a number"),
        ({"top": "1.5"}, "`top`: '1.5' is not a whole number"),
        ({"fast": "maybe"}, "`fast`: 'maybe' is neither true nor false"),
        ({"mode": "both"}, "`mode`: 'both' is not one of local, global"),
    ],
)
def test_a_wrong_option_is_refused_with_what_would_be_right(
    options: Path, given: dict[str, str], complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        make_linker(f"{options}:Options", given)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ("priors", r"unknown linker `priors` \(did you mean `prior`\?\)"),
        ("zzzzzz", "unknown linker `zzzzzz`: `shadowprobe linkers` lists them"),
        ("mine.py", "name the class too, as in mine.py:MyLinker"),
        ("nowhere.py:X", "nowhere.py: no such file"),
        ("no.such.module:X", "there is no module `no`"),
        ("OPTIONS:Optoins", r"no class `Optoins` in it \(did you mean `Options`\?\)"),
        ("OPTIONS:NotALinker", "does not derive from shadowprobe.Linker"),
        ("OPTIONS:Demanding", "needs the option `url`: add -o url=VALUE"),
        ("BROKEN:X", "SyntaxError"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_is_reported_in_one_line(
    options: Path, tmp_path: Path, spec: str, complaint: str
) -> None:
    (tmp_path / "broken.py").write_text("def link(:\n")
    spec = spec.replace("OPTIONS", str(options)).replace("BROKEN", f"{tmp_path}/broken.py")
    with pytest.raises((PluginError, UsageError), match=complaint) as caught:
        make_linker(spec)
    assert "\n" not in str(caught.value)


def test_every_built_in_linker_is_listed_with_what_it_does_and_needs() -> None:
    found = {item.name: item for item in listings(LINKERS)}
    assert {"prior", "random", "oracle", "nil", "tfidf", "bm25", "blend", "dense"} <= set(found)
    assert all(item.about.endswith(".") for item in found.values() if item.package == "shadowprobe")
    assert found["prior"].needs == "nothing"
    assert "shadowprobe[dense]" in found["dense"].needs


def test_every_built_in_probe_is_listed() -> None:
    assert {"subsets", "overshadowing", "prior", "candidates", "confidence"} <= set(names(PROBES))
    assert make_probe("subsets").top_level


def test_an_unknown_option_is_refused_with_the_kind_of_the_system() -> None:
    with pytest.raises(UsageError, match=r"^linker `blend` has no option `nope`: it takes weight$"):
        loading.make_linker("blend", {"nope": "1"})
    with pytest.raises(UsageError, match=r"^retriever `bm25` has no option `nope`: it takes k1, b$"):
        loading.make_retriever("bm25", {"nope": "1"})
    with pytest.raises(UsageError, match=r"^reader `first-sentence` has no option `nope`: it takes none$"):
        loading.make_reader("first-sentence", {"nope": "1"})


def test_options_reach_a_retriever_and_the_linker_of_one() -> None:
    assert vars(loading.make_retriever("bm25", {"b": "0.5"}))["b"] == 0.5
    assert vars(loading.make_retriever("bm25"))["b"] == 0.75
    blended = loading.make_retriever("linker:blend", {"weight": "0.25"})
    assert (blended.name, vars(vars(blended)["linker"])["weight"]) == ("linker:blend", 0.25)


def test_a_class_without_link_says_what_is_missing() -> None:
    with pytest.raises(NotImplementedError, match=r"Linker must define link\(\)"):
        Linker().link([])


def test_the_example_of_the_readme_is_the_one_that_is_tested() -> None:
    readme = (Path(__file__).resolve().parents[3] / "README.md").read_text(encoding="utf-8")
    assert FIRST.strip() in readme


def test_the_example_of_the_readme_passes_its_check(first: Path) -> None:
    findings = check(make_linker(f"{first}:FirstCandidate"), open_dataset("mini"))
    assert [finding for finding in findings if not finding.holds] == []


@pytest.mark.parametrize("options", [{}, {"url": "http://127.0.0.1:1/gerbil"}])
def test_a_benchmark_that_is_looked_for_among_the_linkers_is_refused_with_what_to_use_instead(
    options: dict[str, str],
) -> None:
    assert "gerbil" not in names(LINKERS)
    with pytest.raises(PluginError, match=r"no linker.*`shadowprobe gerbil run .* --linker nif -o url="):
        make_linker("gerbil", options)


def test_a_python_that_runs_in_the_source_tree_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "shadowprobe.linkers", None)
    with pytest.raises(PluginError, match=r"no module `shadowprobe\.linkers`: this Python runs in the source tree"):
        make_linker("shadowprobe.linkers:NilLinker")
    with pytest.raises(PluginError, match=r"there is no module `no`$"):
        make_linker("no.such.module:X")


def test_a_system_of_ours_has_the_version_that_last_changed_its_answers() -> None:
    # So that a run that 0.1.0 began goes on with a later release; the requests of `llm` are others since 0.2.0.
    assert make_linker("bm25").version == "0.1.0"
    assert make_linker("llm", {"url": "http://127.0.0.1:1", "model": "m"}).version == "0.2.0"
