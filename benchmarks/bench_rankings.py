"""What the AmbER figures of stored rankings cost, against pytrec_eval and ir_measures.

The rankings are made up: 5,000 sets with a head and a tail entity, two queries for each of them, and 20 documents for
each query. All sides start with the rankings in memory, in the form that they need. The baselines count success at 1
and at 20. Ours also compares head and tail with a bootstrap over the sets, and counts confused namesakes. The accuracy
of all sides must be the same.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
from goals import SKIPPED, Goal, Measured, parser, show

from shadowprobe.measure.query_probes import RankingProbe
from shadowprobe.measure.rankings import Rankings
from shadowprobe.plugins import make_retrieval_probe
from shadowprobe.queries.collection import Collection
from shadowprobe.queries.query import Ranking

LIMIT = 1.0
SETS, QUERIES, DEPTH, REPEATS = 5_000, 2, 20, 3
KS = (1, DEPTH)
Accuracy = dict[int, float]


def make_rankings() -> tuple[bytes, list[Ranking], dict[str, str]]:
    """The sets as a file, the rankings, and the gold document of each query; always the same."""
    generator = random.Random("rankings")
    lines, rankings, gold = [], [], {}
    for number in range(SETS):
        entities = {}
        for group in ("head", "tail"):
            document, queries = f"d{number}-{group}", []
            for asked in range(QUERIES):
                query = f"q{number}-{group}-{asked}"
                page = {"wikipedia_id": document}
                queries.append({"id": query, "input": f"Who is {query}?", "output": {"provenance": [page]}})
                found = [f"d{generator.randrange(SETS)}-{generator.choice(('head', 'tail'))}" for _ in range(DEPTH)]
                if generator.random() < 0.7:
                    found[int(generator.random() ** 3 * DEPTH)] = document
                rankings.append(Ranking(query, tuple(dict.fromkeys(found))))
                gold[query] = document
            entities[f"{number}-{group}"] = {"is_head": group == "head", "queries": queries}
        lines.append(msgspec.json.encode({"name": f"name {number}", "qids": entities}))
    return b"\n".join(lines), rankings, gold


def prepare_ours(rankings: list[Ranking], sets: Path) -> Callable[[], Accuracy]:
    """The probe over the rankings, as a run has them."""
    probe = make_retrieval_probe("amber", RankingProbe)
    probe.load(sets)
    documents = sets.with_name("documents.jsonl")
    documents.touch()

    def measure() -> Accuracy:
        findings = probe.measure(Rankings(Collection("made up", documents), rankings, depth=DEPTH, ks=KS))
        return {k: findings["sets"]["queries"]["accuracy"][str(k)]["all"]["rate"] for k in KS}

    return measure


def prepare_baselines(rankings: list[Ranking], gold: dict[str, str]) -> dict[str, Callable[[], Accuracy]]:
    """The two libraries, with the rankings as dictionaries of scores."""
    import ir_measures
    import pytrec_eval

    scores = {one.id: {document: -float(rank) for rank, document in enumerate(one.documents)} for one in rankings}
    wanted = {query: {document: 1} for query, document in gold.items()}

    def measure_trec() -> Accuracy:
        found = pytrec_eval.RelevanceEvaluator(wanted, {f"success.{','.join(map(str, KS))}"}).evaluate(scores)
        return {k: sum(one[f"success_{k}"] for one in found.values()) / len(found) for k in KS}

    def measure_ir() -> Accuracy:
        measures = {k: ir_measures.Success @ k for k in KS}
        found = ir_measures.calc_aggregate(list(measures.values()), wanted, scores)
        return {k: found[measure] for k, measure in measures.items()}

    return {"pytrec_eval": measure_trec, "ir_measures": measure_ir}


def measure_times(sides: dict[str, Callable[[], Accuracy]]) -> dict[str, float]:
    """CPU seconds of each side, the least of several repeats in turn."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    expected = None
    for _ in range(REPEATS):
        for name, side in sides.items():
            began = time.process_time()
            accuracy = {k: round(value, 9) for k, value in side().items()}
            times[name].append(time.process_time() - began)
            expected = expected or accuracy
            assert accuracy == expected, (name, accuracy, expected)
    return {name: min(seconds) for name, seconds in times.items()}


def measure() -> Measured:
    """All sides on the same rankings."""
    sets, rankings, gold = make_rankings()
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "amber_sets.jsonl"
        path.write_bytes(sets)
        times = measure_times({"ours": prepare_ours(rankings, path), **prepare_baselines(rankings, gold)})
    ratio = times["ours"] / times["ir_measures"]
    return Measured(
        Goal(
            f"AmbER figures of {len(rankings):,} rankings: at most {LIMIT:g} times the CPU time of ir_measures",
            ratio,
            "times",
            ratio <= LIMIT,
        ),
        {
            "rankings": len(rankings),
            **{f"{name}, CPU s": seconds for name, seconds in times.items()},
            "ours / pytrec_eval": times["ours"] / times["pytrec_eval"],
            "ours / ir_measures": ratio,
        },
    )


def main() -> None:
    """Measures all sides."""
    given = parser(__doc__).parse_args()
    try:
        import ir_measures  # noqa: F401
    except ImportError:
        print("the baselines need the package ir_measures: pip install ir_measures", file=sys.stderr)
        sys.exit(SKIPPED)
    show(measure(), json=given.json)


if __name__ == "__main__":
    main()
