"""Tables 3 and 4 of the hand-made answers, in every form."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pytest
from finished_runs import finished_run
from msgspec import structs
from rich.console import Console

from shadowprobe import Answers, InputError, Prediction
from shadowprobe.plugins import make_probe
from shadowprobe.reporting.tables.named_tables import compared_tables
from shadowprobe.reporting.tables.paper_tables import table_3, table_4
from shadowprobe.reporting.tables.rendering import FORMATS, render
from shadowprobe.reporting.tables.table import Column, Estimate, Row, Table, text_column
from shadowprobe.reporting.tables.to_terminal import show
from shadowprobe.running.comparison import compare
from shadowprobe.running.finished import FinishedRun
from shadowprobe.running.linking import measure_answers

HOSTILE = r"""[a]_b & 100% #1 {x} $y ~^\ "q" | <b> *m* `c`"""


def finished(answers: Answers, label: str = "hand", probes: tuple[str, ...] = ("subsets", "prior")) -> FinishedRun:
    linker: dict[str, Any] = {"name": label, "version": "", "options": {}}
    results = measure_answers(answers, [make_probe(name) for name in probes], linker=linker)
    return finished_run(label, results, answers)


def nothing_said(answers: Answers) -> Answers:
    nils = (Prediction(snippet.id, status="nil") for snippet in answers.dataset.snippets())
    return Answers(answers.dataset).fill(nils)


def rows_of(text: str) -> list[str]:
    """The lines of a LaTeX table that hold cells."""
    return [line for line in text.splitlines() if line.endswith(r"\\")]


def test_table_3_has_the_hand_worked_figures(answers: Answers) -> None:
    table = table_3([finished(answers)])
    # Shadow: 2 right, 1 wrong, 1 skipped: P 2/3, R 2/4, F 4/7. Top: 2 right, 1 wrong, 1 NIL. Tail: 1 of 1.
    figures = ["0.67", "0.50", "0.57", "0.50", "0.50", "0.50", "1.00", "1.00", "1.00"]
    assert [table.texts(row) for row in table.rows] == [["hand", *figures]]
    assert table.title == "Table 3: precision, recall and F1 on world"


def test_table_4_has_the_hand_worked_figures(answers: Answers) -> None:
    table = table_4([finished(answers)])
    # Top: Avon and Berg are the prior and right, Como is neither, Dale NIL.
    # Shadow: Avon is the prior and wrong, Berg and Como are not the prior and right, Dale is skipped.
    top, shadow = ["50.0", "0.0", "0.0", "25.0", "25.0"], ["0.0", "25.0", "50.0", "0.0", "25.0"]
    assert [table.texts(row) for row in table.rows] == [["hand", *top, *shadow]]


def test_a_prior_that_was_not_measured_is_a_dash_and_a_note(answers: Answers) -> None:
    table = table_4([finished(nothing_said(answers), "silent")])
    assert [table.texts(row) for row in table.rows] == [["silent", *["–"] * 10]]
    assert table.notes[1] == "silent: not measured, the linker names no entity in any neutral context."


@pytest.mark.parametrize(("make", "number", "probe"), [(table_3, 3, "subsets"), (table_4, 4, "prior")])
def test_results_without_the_probe_are_refused_with_what_to_do(
    answers: Answers, make: Any, number: int, probe: str
) -> None:
    words = f"hand/results.json: has no Table {number}: the probe `{probe}` was left out; `shadowprobe score --pred"
    with pytest.raises(InputError, match=re.escape(words)):
        make([finished(answers, probes=("candidates",))])


def test_published_rows_stand_below_the_runs_and_say_what_the_runs_are_over(answers: Answers) -> None:
    table = table_3([finished(answers)], with_published=True)
    assert [row.published for row in table.rows] == [False] + [True] * 8
    assert f"the runs are over world ({answers.dataset.digest[:12]}...)" in table.notes[0]


def test_markdown_shows_every_name_as_text(answers: Answers) -> None:
    lines = render("markdown", [table_3([finished(answers, HOSTILE)])]).splitlines()
    assert lines[2].startswith("| system | Shadow P | Shadow R | Shadow F | Top P ")
    name = r"""\[a\]\_b &amp; 100% \#1 {x} \$y \~^\\ "q" \| &lt;b> \*m\* \`c\`"""
    assert lines[4] == f"| {name} | 0.67 | 0.50 | 0.57 | 0.50 | 0.50 | 0.50 | 1.00 | 1.00 | 1.00 |"


def test_latex_shows_every_name_as_text(answers: Answers) -> None:
    name = (
        r"{[}a{]}\_b \& 100\% \#1 \{x\} \$y \textasciitilde{}\textasciicircum{}\textbackslash{}"
        r" ''q'' $|$ $<$b$>$ {*}m{*} `c`"
    )
    assert f"\n{name} & 0.67 & 0.50" in render("latex", [table_3([finished(answers, HOSTILE)])])


def test_latex_rows_have_as_many_cells_as_columns(answers: Answers) -> None:
    runs = [finished(answers), finished(nothing_said(answers), HOSTILE)]
    tables = compared_tables(runs, compare(runs), published=True)
    texts = render("latex", tables).split("\\begin{table")[1:]
    assert len(texts) == len(tables) == 5
    for table, text in zip(tables, texts, strict=True):
        for row in rows_of(text):
            spanned = sum(int(width) - 1 for width in re.findall(r"\\multicolumn\{(\d+)\}", row))
            assert len(re.findall(r"(?<!\\)&", row)) + 1 + spanned == len(table.columns)
        assert [text.count(rule) for rule in (r"\toprule", r"\bottomrule", r"\end{tabular}")] == [1, 1, 1]
        assert text.startswith("*}" if r"\end{table*}" in text else "}")
        bare = re.sub(r"\\[{}]", "", "\\begin{table" + text)
        assert bare.count("{") == bare.count("}")


def test_latex_counts_its_tables_itself_and_has_a_true_minus(answers: Answers) -> None:
    runs = [finished(nothing_said(answers), "silent"), finished(answers)]
    text = render("latex", compared_tables(runs, compare(runs)))
    assert r"\caption{Precision, recall and F1 on world.}" in text
    # Top: 0 of 4 against 2 of 4.
    assert re.search(r"Top & silent \$-\$ hand & 0\.0 & 50\.0 & \$-\$50\.0 \(\$-\$100\.0 to ", text)


def test_csv_has_whole_figures_of_runs_and_printed_ones_of_the_paper(answers: Answers) -> None:
    text = render("csv", [table_3([finished(answers, 'a,"b"')], with_published=True)])
    rows = list(csv.DictReader(io.StringIO(text)))
    assert (rows[0]["source"], rows[0]["system"]) == ("run", 'a,"b"')
    assert float(rows[0]["shadow_f1"]) == 4 / 7
    assert (rows[2]["source"], rows[2]["system"]) == ("published", "AIDA (Yosef et al., 2011)")
    assert (rows[2]["shadow_precision"], rows[2]["top_recall"]) == ("0.40", "0.50")


def test_json_has_the_rows_as_objects_and_the_pairs_as_numbers(answers: Answers) -> None:
    runs = [finished(answers), finished(nothing_said(answers), "silent")]
    found = compare(runs)
    document = json.loads(render("json", compared_tables(runs, found, published=True), found))
    assert document["table_3"]["rows"][0]["shadow_f1"] == 4 / 7
    assert document["table_4"]["rows"][0]["shadow_prior_wrong"] == 25.0
    assert document["table_4"]["rows"][1]["shadow_prior_wrong"] is None
    assert document["table_4_published"]["rows"][3]["system"] == "REL"
    assert document["dataset"]["digest"] == answers.dataset.digest
    shadow = next(pair for pair in document["pairs"] if pair["measure"] == "shadow")
    # The two that are right, against none: 2 / 2^2.
    assert (shadow["first_only"], shadow["second_only"], shadow["mcnemar_p"]) == (2, 0, 0.5)


def test_the_csv_of_a_comparison_has_a_line_for_each_pair(answers: Answers) -> None:
    runs = [finished(answers), finished(nothing_said(answers), "silent")]
    found = compare(runs)
    rows = list(csv.DictReader(io.StringIO(render("csv", compared_tables(runs, found), found))))
    assert [row["measure"] for row in rows] == ["shadow", "top", "tail", "overshadowed", "both_right"]
    assert (rows[1]["first_rate"], rows[1]["second_rate"], rows[1]["win"], rows[1]["tie"]) == ("0.5", "0.0", "2", "2")
    assert float(rows[1]["difference_low"]) <= 0.5 <= float(rows[1]["difference_high"])


def test_the_terminal_shows_markup_as_text(answers: Answers) -> None:
    text = render("terminal", [table_3([finished(answers, "[red]x[/red]")], with_published=True)])
    assert "[red]x[/red]" in text
    assert "\x1b" not in text


@pytest.mark.parametrize("format_name", FORMATS)
def test_every_form_ends_with_one_line_end(answers: Answers, format_name: str) -> None:
    text = render(format_name, [table_4([finished(answers)])])
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize("width", [40, 80])
def test_a_narrow_terminal_breaks_names_and_no_number(answers: Answers, width: int) -> None:
    runs = [finished(answers, "one system"), finished(nothing_said(answers), "another system")]
    (*_, pairs) = compared_tables(runs, compare(runs))
    interval = Estimate(100.0, -100.0, 100.0)
    row = Row(("overshadowed", "one system − another system", 100.0, 0.0, interval, "129/664/111"))
    cells = (*row.cells, *pairs.rows[0].cells[len(row.cells) :])
    page = io.StringIO()
    show([structs.replace(pairs, rows=(Row(cells),))], Console(file=page, width=width))
    words = page.getvalue().split()
    assert {"overshadowed", "100.0", "0.0", "+100.0", "(-100.0", "+100.0)", "129/664/111"} <= set(words)
    assert width < 80 or max(map(len, page.getvalue().splitlines())) <= width


def test_a_file_has_no_colours_whatever_the_environment_asks_for(
    answers: Answers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in render("terminal", [table_3([finished(answers)])])


def test_a_text_in_the_place_of_a_number_does_not_make_every_line_as_long() -> None:
    rows = (Row(("one", "9" * 200_000)), Row(("two", 7)))
    table = Table("key", "", (text_column("system"), Column("n", "n")), rows)
    lines = render("terminal", [table]).splitlines()
    # The name, a blank, and of the number 60 digits and three points.
    assert max(map(len, lines)) <= 80
    assert any("9" * 60 + "..." in line for line in lines)
