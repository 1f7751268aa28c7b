"""What is said of a run of any kind beside its tables."""

from __future__ import annotations

from typing import Any

from shadowprobe.reporting.run_summary import summarize, tables_of


def linker(**more: Any) -> dict[str, Any]:
    results: dict[str, Any] = {
        "linker": {"name": "blend", "options": {"weight": 0.5, "depth": 3}},
        "dataset": {"name": "mini", "spaces": 4, "snippets": 21, "limit": None},
        "identity": {"title": 3, "unresolved": 0, "page_id_conflicts": 0},
        "missing": 2,
        "notes": ["slow today"],
        "probes": {"prior": {"not_measured": "no neutral contexts"}, "mine": {"share": 0.5}},
    }
    return {**results, **more}


def model(**probes: Any) -> dict[str, Any]:
    return {
        "model": {"name": "gpt", "options": {"temperature": 0}},
        "queries": {"name": "sets", "sets": 3, "limit": None, "documents": None},
        "missing": 0,
        "notes": [],
        "probes": probes,
    }


def test_a_linker_is_named_with_its_options_and_what_it_lacks() -> None:
    summary = summarize(linker())
    assert (summary.name, summary.system, summary.data) == ("blend", "blend (weight=0.5 depth=3)", "mini")
    assert summary.size == "4 names, 21 snippets"
    assert (summary.verdict, summary.sentence) == (None, None)
    assert summary.not_measured == ["prior not measured: no neutral contexts"]
    assert len(summary.warnings) == 1
    assert (summary.notes, summary.examples) == (["slow today"], [])
    bare = summarize(linker(linker={"name": "prior", "options": {}}))
    assert bare.system == "prior"


def test_a_model_is_named_without_options_and_has_examples() -> None:
    example = {"id": "s1", "question": "Who?", "answer": "Both."}
    summary = summarize(model(ambigdocs={"examples": {"merged": example}}))
    assert (summary.system, summary.data, summary.size) == ("gpt", "sets", "3 sets")
    assert summary.sentence == "gpt was not asked whether every namesake gets its own answer."
    assert summary.examples == [("merged, as in s1: Who?", "Both.")]


def test_a_probe_without_a_table_of_its_own_gets_one() -> None:
    assert [table.key for table in tables_of({"a": linker()})] == ["probe-mine"]
    assert tables_of({"a": linker(probes={"prior": {"not_measured": "nothing"}})}) == []
    assert [table.key for table in tables_of({"a": model(mine={"n": 1}), "b": model()})] == ["probe-mine"]


def test_only_tables_of_retrievers_and_readers_have_rows_of_papers() -> None:
    questions = {
        "questions": 1,
        "relations": {"P19": {"question": "Where was [E] born?", "n": 1, "accuracy": {"20": 1.0}}},
        "macro": {"20": 1.0},
        "micro": {"n": 1, "accuracy": {"20": 1.0}, "accuracy_ci95": {"20": [0.2, 1.0]}},
        "buckets": [],
    }
    results = {
        "retriever": {"name": "bm25", "options": {}},
        "settings": {"k": [20]},
        "probes": {"entity_questions": questions},
    }
    (plain,), (published,) = tables_of({"a": results}), tables_of({"a": results}, published=True)
    assert len(published.columns) == len(plain.columns) + 3
    # Table 5 of the paper, and below it Natural Questions.
    assert published.texts(published.rows[0])[-3:] == ["25.4", "41.8", "75.3"]
    assert published.texts(published.rows[-1])[-3:] == ["80.1", "79.4", "64.4"]
    assert tables_of({"a": linker()}, published=True) == tables_of({"a": linker()})
