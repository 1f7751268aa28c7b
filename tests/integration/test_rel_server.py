"""`rel` against REL's own server, started as its manual says, over a folder that is made of the mini dataset.

REL lives in an environment of its own, which `scripts/test` makes. Of its two models here one knows only p(e|m) and
the other only the context, so that what the server must answer can be worked out by hand.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from asking import answers_of, marked

from shadowprobe import (
    Card,
    Dataset,
    Failure,
    ItemError,
    Linker,
    Prediction,
    Snippet,
    open_dataset,
    write_dataset,
)
from shadowprobe.base.model import Subset
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.check import check

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
# One thread, no network, and no word about the outdated interfaces that REL uses.
QUIET = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1", "PYTHONWARNINGS": "ignore"}
STARTING, STOPPING = 120.0, 30.0
# The server keeps a file open for each request that it has served, and mini has 1540 snippets.
OPEN_FILES = 4096


@pytest.fixture(scope="module")
def python() -> str:
    """The interpreter of REL's environment."""
    path = Path(os.environ.get("SHADOWPROBE_REL_PYTHON") or ROOT / ".venv-rel" / "bin" / "python")
    if os.environ.get("SHADOWPROBE_TEST_REL") == "0":
        pytest.skip("SHADOWPROBE_TEST_REL=0 leaves REL's server out")
    if not path.exists():
        pytest.skip(f"REL's environment is not there: no {path}; scripts/test makes it")
    installed = "from importlib.metadata import version; version('gensim'); version('radboud-el')"
    if subprocess.run([path, "-c", installed], capture_output=True, check=False).returncode:
        pytest.skip(f"REL's environment is not complete: {path} lacks radboud-el or gensim; scripts/test installs them")
    return str(path)


@pytest.fixture(scope="module")
def mini() -> Dataset:
    return open_dataset("mini")


@pytest.fixture(scope="module")
def base(python: str, mini: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that REL reads: its tables, two models and a tagger."""
    folder = tmp_path_factory.mktemp("rel")
    names = {snippet.mention: titles(mini, snippet.mention) for snippet in mini.snippets()}
    descriptions = {entity.title: entity.description for entity in mini.entities.values()}
    made = subprocess.run(
        [python, ROOT / "tests" / "support" / "rel_base.py", folder],
        input=json.dumps({"names": names, "descriptions": descriptions}),
        env={**os.environ, **QUIET, "FLAIR_CACHE_ROOT": str(folder / "cache")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    return folder


def titles(dataset: Dataset, name: str) -> list[str]:
    return [entity.title for entity in dataset.knowledge.candidates(name)]


@contextmanager
def serving(python: str, base: Path, model: str, open_files: int = OPEN_FILES) -> Iterator[str]:
    """The URL of REL's server, which runs while the block does and is gone after it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    module = [python, "-m", "REL.server", str(base), "wiki_2019", "--bind", "127.0.0.1", "--port", port]
    models = ["--ed-model", str(base / model / "model"), "--ner-model", str(base / "tagger.pt")]
    log = base / f"{model}.log"
    with log.open("wb") as written:
        server = subprocess.Popen(
            ["sh", "-c", 'ulimit -n "$0" && exec "$@"', str(open_files), *module, *models],
            env={**os.environ, **QUIET, "FLAIR_CACHE_ROOT": str(base / "cache")},
            stdout=written,
            stderr=written,
        )
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(server, url, log)
        yield url
    finally:
        server.terminate()
        try:
            server.wait(STOPPING)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def wait_for(server: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Returns once the server answers."""
    last = time.monotonic() + STARTING
    while time.monotonic() < last and server.poll() is None:
        try:
            assert httpx.get(url).json()["message"] == "up"
        except httpx.TransportError:
            time.sleep(0.2)
        else:
            return
    pytest.fail(f"REL's server did not start: {log.read_text()[-2000:]}")


@pytest.fixture(scope="module")
def prior(python: str, base: Path) -> Iterator[str]:
    """A server to which the context says nothing."""
    with serving(python, base, "prior") as url:
        yield url


@pytest.fixture(scope="module")
def context(python: str, base: Path) -> Iterator[str]:
    """A server to which p(e|m) says nothing."""
    with serving(python, base, "context") as url:
        yield url


def linker(url: str, **options: str) -> Linker:
    return make_linker("rel", {"url": url, **options})


def ask(dataset: Dataset, url: str, *texts: str) -> list[Prediction | Failure]:
    snippets = [marked(text, str(number)) for number, text in enumerate(texts)]
    return answers_of(linker(url), dataset.knowledge, *snippets)


def answered(dataset: Dataset, url: str, *texts: str) -> list[str | None]:
    return [getattr(found, "answer", None) for found in ask(dataset, url, *texts)]


def results_of(url: str, dataset: str, out: Path) -> dict[str, Any]:
    """What `shadowprobe run` finds, as a user starts it."""
    command = [sys.executable, "-m", "shadowprobe", "run", "--linker", "rel", "-o", f"url={url}", "--json"]
    done = subprocess.run(
        [*command, "--dataset", dataset, "--out", str(out)],
        capture_output=True,
        text=True,
        check=False,
        cwd=out.parent,
    )
    assert done.returncode == 0, done.stderr
    results: dict[str, Any] = json.loads(done.stdout)
    return results


def predictions_in(out: Path) -> dict[str, dict[str, Any]]:
    lines = [json.loads(line) for line in (out / "predictions.jsonl").read_text(encoding="utf-8").splitlines()]
    return {line["id"]: line for line in lines}


def test_a_server_that_knows_only_its_prior_is_told_that_it_repeats_it(
    prior: str, mini: Dataset, tmp_path: Path
) -> None:
    results = results_of(prior, "mini", tmp_path / "run")
    # The first of a name is the most common one: always right where it is meant, and never where another is.
    assert [results["subsets"][subset]["recall"] for subset in ("top", "shadow", "tail")] == [1.0, 0.0, 1.0]
    assert results["probes"]["overshadowing"]["verdict"] == "repeats"
    assert (results["identity"]["title"], results["missing"], results["notes"]) == (mini.count(), 0, [])
    stored = predictions_in(tmp_path / "run")
    assert len(stored) == mini.count()
    for snippet in mini.snippets():
        found = titles(mini, snippet.mention)
        # Each of n titles is twice as common as the next, so the first has 2^(n-1) parts of 2^n - 1; its score is the
        # logarithm of that share p, and its confidence p / (1 + p).
        share = 2 ** (len(found) - 1) / (2 ** len(found) - 1)
        assert stored[snippet.id]["answer"] == found[0].replace(" ", "_")
        assert stored[snippet.id]["score"] == pytest.approx(share / (1 + share), abs=1e-5)


def described(dataset: Dataset, subset: Subset, name: str, title: str) -> Snippet:
    """The name of an entity before its own description, of whose words the server's vector of it is the sum."""
    text = f"{name}: {dataset.entities[title].description}"
    return Snippet(f"{subset}-{name}", subset, text, 0, len(name), space=name, gold=title)


def test_a_server_that_knows_only_the_context_is_told_that_it_reads_it(
    context: str, mini: Dataset, tmp_path: Path
) -> None:
    spaces = list(mini.spaces.values())[:40]
    kept = {space.name for space in spaces}
    snippets: dict[Subset, list[Snippet]] = {
        "top": [described(mini, "top", space.name, space.entities[0]) for space in spaces],
        "shadow": [described(mini, "shadow", space.name, space.entities[1]) for space in spaces],
        "neutral": [snippet for snippet in mini.snippets("neutral") if snippet.space in kept],
    }
    write_dataset(tmp_path / "described", Card(name="described"), mini.entities.values(), spaces, snippets)
    results = results_of(context, str(tmp_path / "described"), tmp_path / "run")
    assert [results["subsets"][subset]["recall"] for subset in ("top", "shadow")] == [1.0, 1.0]
    assert results["probes"]["overshadowing"]["verdict"] == "reads"
    # A share of votes is between 0 and 1, and the confidence of a score s is 1 / (1 + exp(-s)).
    scores = [line["score"] for line in predictions_in(tmp_path / "run").values()]
    assert 0.5 <= min(scores) < max(scores) <= 0.7311


@pytest.mark.parametrize("server", ["prior", "context"])
def test_it_passes_its_check(server: str, mini: Dataset, request: pytest.FixtureRequest) -> None:
    findings = list(check(linker(request.getfixturevalue(server)), mini))
    assert [finding for finding in findings if not finding.holds] == []


PIANIST = "the pianist and composer [Bill Evans] wrote a waltz"
SAXOPHONIST = "with tenor and soprano [Bill Evans] mixed funk and bluegrass"


@pytest.mark.parametrize("before", ["", "Grüße aus Zürich: ", "🎬𝐀 👩‍👩‍👧 🇩🇪 ", "Salt &amp; pepper &amp;amp; so on: "])
def test_the_mention_is_found_behind_any_characters(context: str, mini: Dataset, before: str) -> None:
    found = answered(mini, context, before + PIANIST, before + SAXOPHONIST)
    assert found == ["Bill_Evans", "Bill_Evans_(saxophonist)"]


def test_each_of_two_mentions_with_the_same_name_can_be_linked(prior: str, mini: Dataset) -> None:
    first, second = "[Bill Evans] met Bill Evans, and Barracuda.", "Bill Evans met [Bill Evans], and Barracuda."
    third = "Bill Evans met Bill Evans, and [Barracuda]."
    assert answered(mini, prior, first, second, third) == ["Bill_Evans", "Bill_Evans", "Barracuda"]


def test_without_candidates_and_without_a_sentence_a_mention_is_skipped(prior: str, mini: Dataset) -> None:
    found = ask(
        mini, prior, "It was [Qwyzzlethorp].", "It rained.[ Bill Evans] played.", "It rained,[ Bill Evans] said."
    )
    # REL strips the space of the last two itself, and so knows their name; only the place of the second is amiss.
    assert [getattr(answer, "status", None) for answer in found] == ["skipped", "skipped", "linked"]


def test_an_escaped_ampersand_left_in_the_text_would_move_the_mention(prior: str) -> None:
    text = "Salt &amp; pepper, Bill Evans"
    wrong = httpx.post(prior, json={"text": text, "spans": [[text.index("Bill"), 10]]})
    right = httpx.post(prior, json={"text": text, "spans": [[text.index("Bill") - len("amp;"), 10]]})
    assert (wrong.json(), right.json()[0][:4]) == ([], [15, 10, "Bill Evans", "Bill_Evans"])


def test_a_failure_comes_after_a_status_of_200_and_is_found_in_the_body(prior: str) -> None:
    response = httpx.post(prior, content=b"no JSON")
    assert response.status_code == 200
    with pytest.raises(ItemError, match=r"REL failed on this text: HTTP/1.0 400 Bad Request after a status of 200"):
        linker(prior).parse(response, marked("[Bill Evans]"))  # type: ignore[attr-defined]


def test_after_the_first_sentence_rel_cuts_the_context_at_the_wrong_place(context: str, mini: Dataset) -> None:
    # Counted from the wrong start, it is `tenor, fun` that is taken out of the second sentence and not the name.
    one, two = (
        "It is late; [Bill Evans]: tenor, funk and a waltz.",
        "It is late. [Bill Evans]: tenor, funk and a waltz.",
    )
    assert answered(mini, context, one, two) == ["Bill_Evans_(saxophonist)", "Bill_Evans"]


def test_without_a_model_of_confidence_every_score_is_zero_and_a_note_says_so(
    python: str, base: Path, mini: Dataset, tmp_path: Path
) -> None:
    shutil.copytree(base / "prior", base / "bare")
    (base / "bare" / "lr_model.pkl").unlink()
    with serving(python, base, "bare") as url:
        results = make_linking_job(linker(url), mini, out=tmp_path / "run", limit=2).run().results
    assert {line["score"] for line in predictions_in(tmp_path / "run").values()} == {0.0}
    assert results["notes"] == ["REL gave no confidence: every score of this run is exactly 0 or 1 and says nothing"]


def test_a_server_that_has_run_out_of_files_fails_and_answers_nothing_wrong(
    python: str, base: Path, mini: Dataset
) -> None:
    asked = list(mini.snippets("top"))
    with serving(python, base, "prior", open_files=len(asked)) as url:
        found = answers_of(linker(url, retries="0"), mini.knowledge, *asked)
    # It works until it has no file left for one more request; what comes then is no answer, and not a skipped mention.
    answers = {answer.id: answer.answer for answer in found if isinstance(answer, Prediction)}
    assert 0 < len(answers) < len(asked)
    gold = {snippet.id: (snippet.gold or "").replace(" ", "_") for snippet in asked}
    assert answers.items() <= gold.items()
