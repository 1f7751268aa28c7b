"""Small valid inputs of every format that shadowprobe reads, and the commands that read them."""

from __future__ import annotations

import csv
import gzip
import importlib
import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from fuzzing.sandbox import Call, Outcome, run_command

ROOT = Path(__file__).resolve().parents[2]
SUPPORT = ROOT / "tests" / "support"
sys.path.append(str(SUPPORT))

Kit = Literal["light", "heavy"]

# Linkers of web services, whose stand-ins are in tests/linkers.
SERVICES = ("agdistis", "aida", "ambiverse", "fox", "llm", "nif_linker", "rel", "spotlight", "tagme", "wat")
FORMATS = ("zelda", "nif", "aida-conll", "kilt", "blink", "elevant", "simple-jsonl")
# The functions of this module that make the inputs of each kit.
MAKERS: dict[Kit, tuple[str, ...]] = {
    "light": (
        "_linking",
        "_foreign",
        "_retrieval",
        "_answers",
        "_generation",
        "_study",
        "_wikidata",
        "_options",
        "_replies",
    ),
    "heavy": ("_build", "_dumps", "_figures"),
}
ROUNDS = ("--rounds", "100")
# Without `out` and `concurrency`: another folder and other processes would count as findings.
STUDY = """\
datasets = ["world"]
limit = 2
bootstrap_rounds = 100

[[systems]]
linker = "prior"

[[systems]]
linker = "blend"
name = "half"
options = { weight = 0.5 }
"""
# Modules that print something when they are imported or at exit.
_NOT_HERE = ("duckdb", "_duckdb", "matplotlib.style.core")
# The data to which a finished run refers.
_SHARED = frozenset({"world", "little", "sets.json"})


class Target(NamedTuple):
    """A command, the directory of inputs in which it runs, and those of its files that are changed.

    `weight` is how often its turn comes; of a command without files, the options after `-o` are changed.
    """

    name: str
    tree: Path
    arguments: tuple[str, ...]
    files: tuple[str, ...] = ()
    weight: int = 4

    def copy(self, place: Path) -> Path:
        """Copies what the command names, and what a run names, to a new directory."""
        place.mkdir(parents=True)
        names = _SHARED.union(part for argument in self.arguments for part in re.split("[/=:]", argument))
        for path in self.tree.iterdir():
            if path.name in names:
                shutil.copytree(path, place / path.name) if path.is_dir() else shutil.copyfile(path, place / path.name)
        return place


class Inputs:
    """The directories of inputs below one directory, and the targets in them."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.targets: list[Target] = []
        self._refused: set[str] = set()

    def add(self, tree: Path, command: str, *files: str, weight: int = 4) -> None:
        """Adds a command whose files, or patterns of them, are changed."""
        found = [str(path.relative_to(tree)) for pattern in files for path in sorted(tree.glob(pattern))]
        if files and not found:
            raise ValueError(f"{command}: {tree} has none of {', '.join(files)}")
        arguments = tuple(command.split())
        name = " ".join(arguments[: 3 if arguments[0] in {"sets", "annotate"} else 2])
        self.targets.append(Target(f"{name} ({', '.join(files) or 'options'})", tree, arguments, tuple(found), weight))

    def run(self, target: Target) -> Outcome:
        """Runs a command on inputs as they are."""
        with tempfile.TemporaryDirectory(dir=self.directory) as log:
            outcome = run_command(Call(target.arguments, target.tree, Path(log)))
        self._import(outcome.modules)
        return outcome

    def _import(self, modules: Sequence[str]) -> None:
        """Imports what a command has imported, so that the next ones need not."""
        for module in modules:
            # What a package has imported in its own way is left to the commands that need it.
            if module not in sys.modules and not module.startswith(_NOT_HERE) and module not in self._refused:
                try:
                    importlib.import_module(module)
                except Exception:
                    self._refused.add(module)

    def make(self, tree: Path, command: str) -> None:
        """Runs a command that makes an input; it must succeed."""
        outcome = self.run(Target(command, tree, tuple(command.split())))
        if outcome.code not in {0, 1}:
            raise ValueError(f"{command}: {outcome.output[-2000:]}")


def make_inputs(directory: Path, kit: Kit) -> Inputs:
    """Makes the inputs of most commands, or of the few that import large packages, which slow every fork down."""
    inputs = Inputs(directory)
    for name in MAKERS[kit]:
        tree = directory / name.strip("_")
        tree.mkdir()
        globals()[name](inputs, tree)
    return inputs


def _write_lines(path: Path, items: Sequence[Any]) -> None:
    path.write_text("".join(f"{json.dumps(item)}\n" for item in items), encoding="utf-8")


def _figures(inputs: Inputs, tree: Path) -> None:
    """Finished runs of linkers, retrievers and language models, as figures and reports."""
    from measured_runs import READ, SAID, write_answers, write_retrieval
    from namesake_sets import write_sets
    from retrieval_world import FOUND, write_collection
    from world import write_world

    write_world(tree / "world")
    for linker in ("prior", "random"):
        inputs.make(tree, f"run --linker {linker} --dataset world {' '.join(ROUNDS)} --out {linker}")
    write_collection(tree / "little")
    write_sets(tree / "sets.json")
    for name, found in (("found", FOUND), ("read", READ)):
        write_retrieval(tree / name, tree / "little", found)
        write_answers(tree / f"said-{name}", tree / "sets.json", SAID)
    inputs.add(tree, "report prior random --out report.html", "prior/*", weight=8)
    inputs.add(tree, "report found read --dataset little --out report.html", "found/*", weight=8)
    inputs.add(tree, "report said-found said-read --queries sets.json --out report.html", "said-found/*", weight=8)
    inputs.add(tree, "plot outcomes prior random --out figure.svg", "prior/*")
    inputs.add(tree, "plot head-tail found read --out figure.svg", "found/*")
    inputs.add(tree, "plot answer-categories said-found said-read --out figure.svg", "said-found/*")


def _linking(inputs: Inputs, tree: Path) -> None:
    """A dataset, predictions, redirects, and finished runs of linkers, one of them with failures."""
    from refusals import world_to_edit
    from world import hand_predictions

    from shadowprobe.base.jsonl import encode_lines

    world_to_edit(tree / "world")
    (tree / "predictions.jsonl").write_bytes(encode_lines(hand_predictions()))
    (tree / "redirects.tsv").write_text("Avon river\tAvon (river)\nAvon boat\tAvon (ship)\n", encoding="utf-8")
    (tree / "redirects.json").write_text('{"Avon river": "Avon (river)", "Boat": "Avon (ship)"}', encoding="utf-8")
    world = f"--dataset world {' '.join(ROUNDS)}"
    score = f"score -p predictions.jsonl {world}"
    inputs.make(tree, f"{score} --out a --name a")
    for linker, out in (("prior", "b"), (f"{SUPPORT / 'recording.py'}:Failing", "c")):
        inputs.make(tree, f"run --linker {linker} {world} --out {out}")
    inputs.add(tree, f"run --linker prior {world} --out out", "world/*", weight=12)
    inputs.add(tree, f"run --linker bm25 {world} --out out --also masked_mention", "world/*")
    inputs.add(tree, "export zelda --dataset world --out out", "world/*")
    inputs.add(tree, "annotate sample --dataset world --n 4 --out out", "world/*")
    inputs.add(tree, f"{score} --out out --gerbil-threshold", "predictions.jsonl", weight=8)
    for suffix, separator in (("csv", ","), ("tsv", "\t")):
        rows = [("id", "answer", "status", "score")]
        rows += [(one.id, one.answer or "", one.status, str(one.score or "")) for one in hand_predictions()]
        table = "".join(separator.join(row) + "\n" for row in rows)
        (tree / f"predictions.{suffix}").write_text(table, encoding="utf-8")
        inputs.add(tree, f"score -p predictions.{suffix} {world} --out out", f"predictions.{suffix}", weight=4)
    inputs.add(tree, f"run --linker replay -o file=predictions.jsonl {world} --out out", "predictions.jsonl")
    for redirects in ("redirects.tsv", "redirects.json"):
        inputs.add(tree, f"{score} --out out --redirects {redirects}", redirects)
    (tree / "study.toml").write_text(STUDY, encoding="utf-8")
    inputs.add(tree, "run --config study.toml", "study.toml", weight=8)
    inputs.add(tree, f"compare a b {' '.join(ROUNDS)}", "a/*", weight=12)
    inputs.add(tree, "table 3 a b", "a/*", weight=8)
    inputs.add(tree, "table 4 a --format csv", "a/*")
    inputs.add(tree, f"score -p a {' '.join(ROUNDS)} --out out", "a/*")
    inputs.add(tree, "export nif -p a --out out", "a/*")
    inputs.add(tree, f"run --linker {SUPPORT / 'recording.py'}:Failing {world} --out c", "c/*", weight=8)


def _foreign(inputs: Inputs, tree: Path) -> None:
    """The small world and answers to it in every foreign format, and the files of the ShadowLink release."""
    from world import hand_predictions, snippet, write_world

    from shadowprobe.base.jsonl import encode_lines

    write_world(tree / "world")
    (tree / "predictions.jsonl").write_bytes(encode_lines(hand_predictions()))
    for name in FORMATS:
        inputs.make(tree, f"export {name} --dataset world --out gold-{name}")
        inputs.make(tree, f"export {name} --dataset world --out answers-{name} -p predictions.jsonl")
        inputs.add(tree, f"import {name} gold-{name} --out out", f"gold-{name}/*", weight=10)
        score = f"score -p answers-{name} --format {name} --dataset world --out out {' '.join(ROUNDS)}"
        inputs.add(tree, score, f"answers-{name}/*", weight=6)
    inputs.make(tree, "export hf folder --dataset world")
    inputs.add(tree, "import hf folder --out out", "folder/*", weight=4)
    release = tree / "release"
    release.mkdir()
    rows: dict[str, list[dict[str, Any]]] = {"Top": [], "Shadow": [], "Tail": [], "Neutral": []}
    for number, (subset, text) in enumerate((("Top", "They rowed on Ree all day."), ("Shadow", "The film Ree won."))):
        place = snippet("", "top", text, "Ree")
        row = {"entity_space_name": "Ree", "wiki_id": number + 1, "entity_name": f"Ree {number}", "example": text}
        rows[subset].append({**row, "span": [place.start, 3]})
    rows["Tail"].append({"wiki_id": 3, "entity_name": "Mow", "example": "At work, Mow is used.", "span": [9, 3]})
    rows["Neutral"].append({"entity_space": "Ree", "neutral_examples": ["I see Ree", "Ree is a story.", "So: Ree."]})
    for subset, content in rows.items():
        (release / f"{subset}.json").write_text(json.dumps(content), encoding="utf-8")
    inputs.add(tree, "import shadowlink release --out out", "release/*", weight=10)


def _retrieval(inputs: Inputs, tree: Path) -> None:
    """A collection with its queries, documents of KILT and DPR, rankings, and finished runs of retrievers."""
    from measured_runs import READ, write_retrieval
    from retrieval_world import DOCUMENTS, FOUND, as_kilt, write_collection

    from shadowprobe.base.jsonl import encode_lines
    from shadowprobe.queries.query import Ranking

    write_collection(tree / "little")
    kilt = [{"wikipedia_id": one.id, "wikipedia_title": one.title, "text": [one.title, one.text]} for one in DOCUMENTS]
    _write_lines(tree / "kilt.jsonl", kilt)
    passages = "".join(f"{one.id}\t{one.text}\t{one.title}\n" for one in DOCUMENTS)
    (tree / "dpr.tsv").write_text(f"id\ttext\ttitle\n{passages}", encoding="utf-8")
    (tree / "dpr.tsv.gz").write_bytes(gzip.compress((tree / "dpr.tsv").read_bytes()))
    rankings = [Ranking(query, documents) for query, documents in FOUND.items()]
    (tree / "rankings.jsonl").write_bytes(encode_lines(rankings))
    _write_lines(tree / "kilt-rankings.jsonl", [as_kilt(ranking) for ranking in rankings])
    for name, found in (("a", FOUND), ("b", READ)):
        write_retrieval(tree / name, tree / "little", found)
        # The run names its collection by the directory in which it was made.
        card = tree / name / "run.json"
        if card.exists():
            card.write_text(card.read_text(encoding="utf-8").replace(f"{tree}/", ""), encoding="utf-8")
    ask = f"retrieve --retriever tfidf -k 1 --depth 3 {' '.join(ROUNDS)} --out out"
    inputs.add(tree, f"{ask} --collection little", "little/**/*.json*", weight=16)
    queries = "--queries little/amber --probe amber"
    for documents in ("kilt.jsonl", "dpr.tsv", "dpr.tsv.gz"):
        inputs.add(tree, f"{ask} --collection {documents} {queries}", documents, "little/amber/**/*.jsonl")
    for stored in ("rankings.jsonl", "kilt-rankings.jsonl"):
        scoring = f"retrieve -p {stored} --collection little --out out {' '.join(ROUNDS)}"
        inputs.add(tree, scoring, stored, weight=6)
    inputs.add(tree, f"compare a b --dataset little {' '.join(ROUNDS)}", "a/*", weight=6)
    inputs.add(tree, "table amber a b", "a/*")
    (tree / "seen.txt").write_text("Avon\nElbe\nQ42\n", encoding="utf-8")
    inputs.add(tree, f"{ask} --collection little --probe entity_questions --seen seen.txt", "seen.txt")


def _answers(inputs: Inputs, tree: Path) -> None:
    """AmbigDocs' sets, answers in both forms, and a finished run of a language model."""
    from measured_runs import SAID, write_answers
    from namesake_sets import SETS, as_released, write_sets

    write_sets(tree / "sets.json")
    _write_lines(tree / "sets.jsonl", [as_released(one) for one in SETS])
    _write_lines(tree / "said.jsonl", [{"id": name, "answer": text} for name, text in SAID.items()])
    _write_lines(tree / "items.jsonl", [as_released(one, gen_answer=SAID[one.id]) for one in SETS])
    for name in ("a", "b"):
        write_answers(tree / name, tree / "sets.json", SAID)
    score = f"answer --out out {' '.join(ROUNDS)}"
    for queries, answers in (("sets.json", "said.jsonl"), ("sets.jsonl", "items.jsonl")):
        inputs.add(tree, f"{score} --queries {queries} -p {answers}", queries, weight=8)
        inputs.add(tree, f"{score} --queries {queries} -p {answers}", answers, weight=8)
    write_sets(tree / "train.json")
    shots = "--show-prompt --shots 1 --order given"
    inputs.add(tree, f"answer --queries sets.jsonl {shots} --held-out 1", "sets.jsonl")
    inputs.add(tree, f"answer --queries sets.json {shots} --examples train.json", "train.json", weight=4)
    inputs.make(tree, f"answer --out held {' '.join(ROUNDS)} --queries sets.json -p said.jsonl --held-out 1")
    inputs.add(tree, "answer --queries sets.json -p held", "held/run.json", weight=4)
    inputs.add(tree, "table answers a b", "a/*")
    inputs.add(tree, f"compare a b --queries sets.json {' '.join(ROUNDS)}", "a/*")


def _generation(inputs: Inputs, tree: Path) -> None:
    """Documents about names, a reader that writes questions about them, and the replies of an earlier command."""
    from generation_world import write_generation_world

    write_generation_world(tree)
    made = "sets ambigdocs --reader writers.py:Parrot --collection documents.jsonl --out"
    inputs.make(tree, f"{made} made")
    inputs.add(tree, f"{made} out", "documents.jsonl", weight=6)
    inputs.add(tree, f"{made} made", "made/replies.jsonl", "made/generation.json", weight=6)


def _study(inputs: Inputs, tree: Path) -> None:
    """A sample of each study for annotators, its key, their answers as form and as sheet, and runs to compare."""
    from measured_runs import SAID, write_answers, write_retrieval
    from namesake_sets import write_sets
    from study_world import RANKED, write_trio
    from world import write_world

    write_world(tree / "world")
    write_trio(tree / "trio")
    write_answers(tree / "toy", write_sets(tree / "sets.json"), SAID)
    write_retrieval(tree / "ranked", tree / "trio", RANKED, probes=("amber",))
    samples = {
        "shadowlink": "annotate sample --dataset world --n 4",
        "amber": "annotate sample --study amber --collection trio",
        "ambigdocs": "annotate sample --study ambigdocs --run toy --queries sets.json",
    }
    for study, command in samples.items():
        inputs.make(tree, f"{command} --out {study}")
        _write_annotations(tree, study)
        score = f"annotate score ann-{study}.json bob-{study}.csv --sample {study}"
        inputs.add(tree, score, f"ann-{study}.json", f"bob-{study}.csv", weight=10)
        inputs.add(tree, score, f"{study}/sample.json", weight=6)
    inputs.add(tree, f"{samples['amber']} --out out", "trio/**/*.json*")
    inputs.add(tree, f"{samples['ambigdocs']} --out out", "toy/*", "sets.json")
    inputs.add(tree, "annotate score ann-amber.json --sample amber --run ranked", "ranked/*")


def _write_annotations(tree: Path, study: str) -> None:
    """The answers of an annotator as the form writes them, and of another one in the sheet."""
    key = json.loads((tree / study / "sample.json").read_text(encoding="utf-8"))
    answers = [{"item": item["item"], "choice": 1} for item in key["items"]]
    if study == "amber":
        marked = (item["documents"][0]["text"][:7] for item in key["items"])
        answers = [{**one, "start": 0, "end": 7, "text": text} for one, text in zip(answers, marked, strict=True)]
    form = {"sample": key["sample"], "annotator": "Ann", "answers": answers, "schema": 1}
    (tree / f"ann-{study}.json").write_text(json.dumps(form), encoding="utf-8")
    with (tree / study / "sample.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row, item in zip(rows, key["items"], strict=True):
        row["answer"] = "2"
        if "span" in row:
            row["span"] = item["documents"][1]["text"].split()[0]
    with (tree / f"bob-{study}.csv").open("w", encoding="utf-8", newline="") as file:
        sheet = csv.DictWriter(file, rows[0])
        sheet.writeheader()
        sheet.writerows(rows)


def _wikidata(inputs: Inputs, tree: Path) -> None:
    """A dump of Wikidata, articles, page views, names, triples, and questions for AmbigDocs' sets."""
    from wikidata_world import NAMES, write_documents, write_dump, write_views
    from world import write_world

    write_world(tree / "world")
    for name in ("dump.json", "dump.json.gz", "dump.json.bz2"):
        write_dump(tree / name)
    write_documents(tree / "documents.jsonl")
    write_views(tree / "views.tsv")
    (tree / "views.txt").write_text("en.z Ada_Quill 42\nen.wikipedia Bo_Tarn 7 desktop 42 A1B2\n", encoding="utf-8")
    (tree / "names.txt").write_text("".join(f"{name}\n" for name in NAMES), encoding="utf-8")
    (tree / "triples.tsv").write_text("Ada Quill\tP19\tPorthgain|Bay\t7\nBo Tarn\tP19\tUsk\n", encoding="utf-8")
    triple = {"subject": "Ada Quill", "property": "P19", "object": ["Porthgain"], "frequency": 3}
    _write_lines(tree / "triples.jsonl", [triple, {**triple, "subject": "Bo Tarn"}])
    what = {"Avon (river)": "water", "Avon (ship)": ["vessel", "boat"]}
    _write_lines(tree / "questions.jsonl", [{"name": "Avon", "question": "What?", "answers": what}])
    amber = "sets amber --out out --documents documents.jsonl"
    for dump in ("dump.json", "dump.json.gz", "dump.json.bz2"):
        inputs.add(tree, f"{amber} --dump {dump} --pageviews views.tsv", dump)
    given = f"{amber} --dump dump.json --names names.txt"
    inputs.add(tree, f"{given} --pageviews views.tsv", "documents.jsonl", "views.tsv", "names.txt", weight=8)
    inputs.add(tree, f"{given} --pageviews views.txt", "views.txt")
    inputs.add(tree, "sets entity-questions --out out --dump dump.json", "dump.json")
    for triples in ("triples.tsv", "triples.jsonl"):
        inputs.add(tree, f"sets entity-questions --out out --triples {triples}", triples, weight=6)
    inputs.add(tree, "sets ambigdocs --questions questions.jsonl --dataset world --out out.json", "questions.jsonl")


def _options(inputs: Inputs, tree: Path) -> None:
    """Options of plugins, which are changed instead of files."""
    from retrieval_world import write_collection
    from world import hand_predictions, write_world

    from shadowprobe.base.jsonl import encode_lines

    write_world(tree / "world")
    write_collection(tree / "little")
    (tree / "predictions.jsonl").write_bytes(encode_lines(hand_predictions()))
    world = f"--dataset world {' '.join(ROUNDS)} --out out"
    for linker, options in (("blend", "weight=0.5"), ("random", "seed=7"), ("replay", "file=predictions.jsonl")):
        inputs.add(tree, f"run --linker {linker} {world} -o {options}")
    inputs.add(tree, f"retrieve --retriever bm25 --collection little {' '.join(ROUNDS)} --out out -o k1=1.2")


def _build(inputs: Inputs, tree: Path) -> None:
    """The archive of a build, its settings and its stages."""
    from build_world import small

    with small() as world:
        out = tree / "out"
        command = f"build --wiki {world.url} --out {out} --name small --contact me@example.org --delay 0"
        os.environ["SOURCE_DATE_EPOCH"] = "1500000000"
        inputs.make(tree, f"{command} --allow-network 127.0.0.0/8")
    again = "build --out out --from-archive"
    inputs.add(tree, again, "out/build/archive/*", "out/build/settings.json", weight=6)
    inputs.add(tree, f"{again} snippets", "out/build/*.json*", "out/build/archive/*")
    inputs.add(tree, "build status --out out", "out/build/*.json", weight=6)


def _dumps(inputs: Inputs, tree: Path) -> None:
    """The dumps of a wiki as tables and as articles, with the archive of the wiki's answers."""
    from dump_world import write_tables
    from wiki_standin import StandIn

    write_tables(tree / "dumps")
    from service import serving

    with serving(StandIn(extensions=("Disambiguator",))) as service:
        url = service.url.removesuffix("/api")
        command = f"build spaces --wiki {url} --dumps dumps --out out --name small"
        inputs.make(tree, f"{command} --contact me@example.org")
    # All but the archive of the wiki's answers: the place of the dumps is a setting, and every case has another.
    for path in (tree / "out" / "build").iterdir():
        if path.is_file():
            path.unlink()
    again = f"{command} --from-archive"
    inputs.add(tree, again, "dumps/*", weight=8)
    articles = _load_tests("shadowprobe/build/dumps/test_dumps_xml.py")
    for name in ("pages-articles.xml", "pages-articles.xml.bz2"):
        articles.write_articles(tree / name, name=name)
        inputs.add(tree, again.replace("--dumps dumps", f"--dumps {name}"), f"{name}/*")
    (tree / "templates.txt").write_text("I saw {name}.\nWhy not {name}?\nOf {name}.\n", encoding="utf-8")
    inputs.add(tree, f"{again} --templates templates.txt", "templates.txt", weight=2)


def _replies(inputs: Inputs, tree: Path) -> None:
    """What services have answered, kept by runs."""
    for service in SERVICES:
        _replies_of(inputs, tree / service, service)


def _replies_of(inputs: Inputs, tree: Path, service: str) -> None:
    from service import serving
    from world import write_world

    tree.mkdir()
    write_world(tree / "world")
    contract = _load_tests(f"linkers/test_{service}.py").TestContract()
    options = " ".join(f"-o {key}={value}" for key, value in contract.options.items())
    with serving(contract.stand_in()) as running:
        if hasattr(contract, "token"):
            os.environ[contract.variable] = contract.token
        command = f"run --linker {contract.wrapper} {options} --dataset world {' '.join(ROUNDS)} -o url={running.url}"
        inputs.make(tree, f"{command} --out a --keep-replies")
    again = f"{command} --out out --from-replies a"
    inputs.add(tree, again, "a/replies.jsonl")
    if service == "rel":
        for option in ("timeout=30", "rate=5", "concurrency=2", "retries=1"):
            inputs.add(tree, f"{again} -o {option}", weight=2)


def _load_tests(name: str) -> Any:
    """A file of tests, for what it has besides: a stand-in for a service, or a writer of a format."""
    path = ROOT / "tests" / name
    spec = importlib.util.spec_from_file_location(f"tests_of_{path.stem}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def schedule(targets: Sequence[Target]) -> Iterator[Target]:
    """The targets in the order of their turns, each as often as its weight."""
    for turn in range(max(target.weight for target in targets)):
        yield from (target for target in targets if target.weight > turn)
