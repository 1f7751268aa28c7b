"""What a build kept of its pages is found again beside its dataset."""

from __future__ import annotations

from pathlib import Path

from shadowprobe.base.jsonl import encode_lines
from shadowprobe.dataset.kept_pages import Cut, PageText, kept_cuts, kept_pages

CUTS = [
    Cut("Avon (river)", "Avon", "The Avon.", 4, 8, "Avon", "The Avon.", f"http://{host}.example/", 0)
    for host in ("a", "b")
]
PAGES = [PageText(f"http://{host}.example/", "The Avon.") for host in ("a", "b")]


def write_build(dataset: Path, cuts: str = "cuts", pages: str = "snippets-texts", number: int = 0) -> None:
    (dataset / "build").mkdir(parents=True, exist_ok=True)
    (dataset / "build" / f"{cuts}.jsonl").write_bytes(encode_lines(CUTS[number : number + 1]))
    (dataset / "build" / f"{pages}.jsonl").write_bytes(encode_lines(PAGES[number : number + 1]))


def test_cuts_and_pages_of_names_come_before_those_of_the_tail(tmp_path: Path) -> None:
    assert [*kept_cuts(tmp_path), *kept_pages(tmp_path)] == []
    write_build(tmp_path, "tail-cuts", "tail-texts", 1)
    assert (list(kept_cuts(tmp_path)), list(kept_pages(tmp_path))) == (CUTS[1:], PAGES[1:])
    write_build(tmp_path)
    assert (list(kept_cuts(tmp_path)), list(kept_pages(tmp_path))) == (CUTS, PAGES)


def test_the_training_part_has_the_pages_of_its_dataset_unless_it_was_built_itself(tmp_path: Path) -> None:
    write_build(tmp_path)
    for part in ("train", "other"):
        (tmp_path / part).mkdir()
    assert list(kept_pages(tmp_path / "train")) == PAGES[:1]
    assert list(kept_pages(tmp_path / "other")) == []
    write_build(tmp_path / "train", number=1)
    assert list(kept_pages(tmp_path / "train")) == PAGES[1:]
