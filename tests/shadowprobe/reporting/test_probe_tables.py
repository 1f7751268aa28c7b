"""Small tables of single probes and experiments, of findings that are written by hand."""

from __future__ import annotations

from typing import Any

from shadowprobe.build.funnel import Funnel
from shadowprobe.gerbil.experiment import GerbilRow
from shadowprobe.gerbil.gerbil_page import DONE, RUNNING, status_words
from shadowprobe.reporting.tables.funnel_table import funnel_table
from shadowprobe.reporting.tables.gerbil_table import gerbil_table
from shadowprobe.reporting.tables.kinds_table import kinds_table
from shadowprobe.reporting.tables.losses_table import losses_table
from shadowprobe.reporting.tables.suspicion_table import suspicion_table
from shadowprobe.reporting.tables.table import Column, Row, Table, text_column
from shadowprobe.reporting.tables.to_html import table_html
from shadowprobe.reporting.tables.to_latex import render as to_latex
from shadowprobe.reporting.tables.to_markdown import render as to_markdown
from shadowprobe.reporting.tables.to_terminal import render as to_terminal
from shadowprobe.running.reading_losses import Loss


def texts(table: Table) -> list[list[str]]:
    return [table.texts(row) for row in table.rows]


def of_probe(**probes: Any) -> dict[str, Any]:
    return {"probes": probes}


def pair(shadow: str, top: str, n: int, rate: float) -> dict[str, Any]:
    keys = ("overshadowed", "prior_bias", "consistent")
    rates = {key: rate / 2**place for place, key in enumerate(keys)}
    return {"shadow": shadow, "top": top, "n": n, **rates, **{f"{key}_ci95": [0.0, 1.0] for key in keys}}


def test_pairs_of_kinds_are_sorted_by_how_many_names_they_have() -> None:
    pairs = [pair("person", "city", 3, 0.5), pair("city", "person", 12, 1.0)]
    table = kinds_table({"a": of_probe(kinds={"pairs": pairs}), "b": of_probe(kinds={"not_measured": "no kinds"})})
    assert texts(table) == [
        ["a", "city", "person", "12", "100.0 (0–100)", "50.0 (0–100)", "25.0 (0–100)"],
        ["a", "person", "city", "3", "50.0 (0–100)", "25.0 (0–100)", "12.5 (0–100)"],
    ]


def test_signals_of_doubt_have_what_is_kept_and_what_is_wrong() -> None:
    curve = [{"coverage": 0.8, "risk": 0.25}, {"coverage": 1.0, "risk": 0.5}]
    strong = {"auroc": 0.875, "auroc_among_prior": None, "coverage_at_30_fewer_errors": 0.625, "curve": curve}
    weak = {"auroc": 0.5, "auroc_among_prior": 0.75, "coverage_at_30_fewer_errors": None, "curve": curve}
    found = {"n": 8, "suspect": 2, "signals": {"margin": strong, "mine": weak}}
    table = suspicion_table({"a": of_probe(suspicion=found), "b": of_probe(suspicion={"not_measured": "no prior"})})
    assert texts(table) == [
        ["a", "small lead", "8", "2", "0.875", "–", "62.5", "50.0", "25.0"],
        ["a", "mine", "8", "2", "0.500", "0.750", "–", "50.0", "25.0"],
    ]


def mean(value: float) -> dict[str, Any]:
    return {"rate": value, "ci95": [value - 0.125, value + 0.125], "n": 8}


def test_what_a_reader_loses_is_split_between_retriever_and_reader() -> None:
    loss = Loss("a", "human", "qa", "tail", mean(0.75), mean(0.25), mean(0.5), mean(0.375), mean(0.125))
    other = Loss("a", "mine", "other", "all", mean(0.75), mean(0.25), mean(0.5), mean(0.375), mean(0.125))
    table = losses_table([loss, other])
    assert texts(table)[0] == [
        *("people, question answering", "a", "tail", "75.0", "25.0", "50.0"),
        *("+37.5 (+25.0 to +50.0)", "+12.5 (+0.0 to +25.0)"),
    ]
    assert texts(table)[1][0] == "mine, other"


def gerbil_row(annotator: str, subset: str, scores: dict[str, float] | None = None, status: int = DONE) -> GerbilRow:
    return GerbilRow(annotator, subset, status, status_words(status), scores or {})


def test_gerbils_subsets_are_in_the_order_of_the_paper_and_columns_without_numbers_are_left_out() -> None:
    scores = {"Micro_Precision": 0.5, "Micro_Recall": 0.25, "Micro_F1_score": 1 / 3, "Macro_F1_score": 0.125}
    rows = [
        gerbil_row("mine", "other"),
        gerbil_row("mine", "top", scores),
        gerbil_row("mine", "shadow", {"Error_Count": 2.0}),
    ]
    table = gerbil_table(rows, "mine on world", ["a note"])
    assert [column.name for column in table.columns] == ["subset", "P", "R", "F", "macro F", "errors", "status"]
    assert [row[:6] for row in texts(table)] == [
        ["Shadow", "", "", "", "", "2"],
        ["Top", "0.500", "0.250", "0.333", "0.125", ""],
        ["other", "", "", "", "", ""],
    ]
    assert table.notes == ("note: a note",)
    assert [column.is_bold for column in table.columns] == [False, True, True, True, False, False, False]
    several = gerbil_table([*rows, gerbil_row("yours", "top", {"confidence_threshold": 0.0625})], "two")
    assert [row[0] for row in texts(several)] == ["mine", "mine", "mine", "yours"]
    assert texts(several)[-1][-2] == "0.062"


def test_a_task_that_is_not_done_is_an_alarm() -> None:
    table = gerbil_table([gerbil_row("mine", "top"), gerbil_row("mine", "tail", status=RUNNING)], "mine")
    assert [(row.tone, table.texts(row)[-1]) for row in table.rows] == [("", "done"), ("alarm", "running")]


def test_stages_say_what_was_left_out_with_the_most_frequent_reason_first() -> None:
    counted = {"spaces": "pages", "captures": "pages cited", "crawl": "pages"}
    funnels = [Funnel("spaces", 9, 4, {"b": 1, "a": 1, "c": 3})]
    table = funnel_table(funnels, counted, "made")
    assert texts(table) == [
        ["spaces", "pages", "9", "4", "3 c\n1 a\n1 b"],
        ["crawl", "pages", "", "", "not done yet"],
    ]
    assert [row.tone for row in table.rows] == ["", "quiet"]


MARKED = Table(
    "marked",
    "Table 3: which is best?",
    (text_column("system"), Column("right", "right", "{:.1f}".format)),
    (
        Row(("a", 50.0), best=("", "clear")),
        Row(("b", 40.0), best=("", "close")),
        Row(("c", 10.0), tone="quiet"),
    ),
)


def test_the_best_figure_is_marked_in_every_format() -> None:
    assert [line for line in to_markdown([MARKED]).splitlines() if line.startswith("| ")][2:] == [
        "| a | **50.0** |",
        "| b | <u>40.0</u> |",
        "| c | 10.0 |",
    ]
    assert [line for line in to_latex([MARKED]).splitlines() if line.endswith("\\\\")][1:] == [
        r"a & \textbf{50.0} \\",
        r"b & \underline{40.0} \\",
        r"c & 10.0 \\",
    ]
    html = table_html(MARKED)
    assert "<td><strong>50.0</strong></td>" in html
    assert "<td><u>40.0</u></td>" in html
    # Plain text has signs before the figures.
    assert to_terminal([MARKED]).split()[-6:] == ["a", "**50.0", "b", "*40.0", "c", "10.0"]


def test_a_table_of_more_than_eight_columns_spans_both_columns_of_a_page() -> None:
    for count, name in ((8, "table"), (9, "table*")):
        columns = tuple(Column(str(number), str(number)) for number in range(count))
        written = to_latex([Table("wide", "wide", columns, (Row(tuple(range(count))),))])
        assert f"\\begin{{{name}}}[t]" in written
        assert f"\\end{{{name}}}" in written
    # LaTeX counts its tables itself, and a caption begins with a capital.
    assert "\\caption{Wide.}" in written
    assert "\\caption{Which is best?}" in to_latex([MARKED])
