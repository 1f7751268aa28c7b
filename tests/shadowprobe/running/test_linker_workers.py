"""A linker in several processes gives the predictions of a linker in one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from world import write_world

from shadowprobe import open_dataset
from shadowprobe.compute.executor import Executor
from shadowprobe.compute.process_pool import ProcessExecutor
from shadowprobe.errors import UsageError
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.linker_workers import LinkerSource, link_part

LINKER = '''
import os
from shadowprobe import Linker

class Noting(Linker):
    """Writes down which process links."""

    batch_size = 2

    def link(self, snippets):
        self.note("it links")
        with open("NOTED", "a") as file:
            file.writelines(f"{os.getpid()} {snippet.id}\\n" for snippet in snippets)
        return [self.answer(s, self.knowledge.candidates(s.mention)[0], score=0.5) for s in snippets]
'''


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(LINKER.replace("NOTED", str(tmp_path / "noted.txt")))
    write_world(tmp_path / "world")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "noted.txt"


def run_linker(out: str, executor: Executor | None = None) -> None:
    make_linking_job("mine.py:Noting", "world", out=out, executor=executor).run()


def read_noted(noted: Path) -> list[list[str]]:
    return [line.split() for line in noted.read_text().splitlines()]


def test_workers_write_the_same_bytes_and_link_each_snippet_once(noted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_linker("alone")
    snippets = [snippet for _, snippet in read_noted(noted)]
    noted.unlink()
    # A part is one batch of two snippets.
    monkeypatch.setattr("shadowprobe.running.linker_workers.BATCHES", 1)
    with ProcessExecutor(2) as executor:
        run_linker("together", executor)
    assert str(os.getpid()) not in {process for process, _ in read_noted(noted)}
    assert sorted(snippet for _, snippet in read_noted(noted)) == sorted(snippets)
    for name in ("predictions.jsonl", "results.json"):
        assert Path("together", name).read_bytes() == Path("alone", name).read_bytes()
    assert "it links" in Path("together", "run.json").read_text()


def test_a_linker_without_a_name_or_with_a_service_gets_no_workers(noted: Path) -> None:
    with ProcessExecutor(2) as executor:
        with pytest.raises(UsageError, match="an executor goes with a linker by name"):
            make_linking_job(make_linker("prior"), "world", executor=executor)
        with pytest.raises(UsageError, match=r"^--workers: `rel` asks a service; -o concurrency=N sends N requests"):
            make_linking_job("rel", "world", options={"url": "http://127.0.0.1:9"}, executor=executor)


def test_a_worker_refuses_another_dataset_under_the_same_path(noted: Path) -> None:
    path = Path("world").absolute()
    source = LinkerSource("prior", (), path, open_dataset(str(path)).digest, None)
    assert link_part(source, [])[0] == []
    with pytest.raises(UsageError, match=r"world: a worker has another dataset there; all machines need the same"):
        link_part(source._replace(digest="0" * 64), [])
