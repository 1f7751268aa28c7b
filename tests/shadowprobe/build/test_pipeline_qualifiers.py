"""Titles with qualifiers through all stages of a build."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from build_world import SAID, citing, made, small, small_wiki
from web_pages import Web
from wiki_standin import StandIn

from shadowprobe.base.jsonl import read_lines
from shadowprobe.build.status import read_funnels
from shadowprobe.dataset.kept_pages import Cut

PARKS = ("Glen Park (Ostland)", "Glen Park (Brennia)")
PARK_PAGES = {
    "/ostland": ["The keeper of Glen Park has lived at the gate of it for most of his life."],
    "/brennia": [
        "Nobody may light a fire in Glen Park in the summer, and few have ever done it.",
        "The trains to Ostland stop at Glen Park when there is a feast in the woods.",
    ],
    # The same report on two sites.
    "/report": ["The last wolf of Glen Park was seen on the day on which the railway came."],
    "/copy": ["The last wolf of Glen Park was seen on the day on which the railway came."],
    "/both": ["A book about Glen Park was sold at the gate for as long as the old men lived."],
}


def small_wiki_with_parks(served: Web) -> StandIn:
    """Two parks that are written the same way, and a page that both cite."""
    standin = small_wiki(served)
    standin.lists["pageswithprop"].append({"ns": 0, "title": "Glen Park"})
    standin.add("Glen Park", 600, links=[{"ns": 0, "title": park} for park in PARKS], pageprops={"disambiguation": ""})
    for number, (park, own) in enumerate(zip(PARKS, ("/ostland", "/brennia"), strict=True)):
        standin.add(park, 601 + number, linkshere=[{"pageid": page} for page in range(901, 904 - number)])
        # The second park cites the shared page last.
        paths = [own, "/copy", "/both"] if number else ["/both", own, "/report"]
        standin.texts[park] = citing([served.url(path) for path in paths])
    return standin


@pytest.mark.parametrize("references", [20, 1])
def test_two_titles_that_differ_only_in_their_qualifiers_get_snippets(tmp_path: Path, references: int) -> None:
    with small(small_wiki_with_parks, SAID | PARK_PAGES) as world:
        dataset = world.build(tmp_path / "out", references=references)
        before, asked = made(tmp_path / "out"), world.asked
        world.build(tmp_path / "out", references=references, from_archive=True)
    assert (made(tmp_path / "out"), world.asked) == (before, asked)
    cuts = [cut for _, cut in read_lines(tmp_path / "out" / "build" / "cuts.jsonl", Cut) if cut.space == "Glen Park"]
    assert dataset is not None
    card = json.loads((tmp_path / "out" / "dataset.json").read_text())["build"]
    lost = read_funnels(tmp_path / "out")[4].dropped
    # The word that tells the first park apart stands in a sentence on a page of the second.
    assert lost["the words around the name point to another entity of the space"] == 1
    if references == 1:
        # The first park's only page is also cited by the second, whose reference to it is not followed.
        assert [cut.entity for cut in cuts] == ["Glen Park (Brennia)"]
        assert lost["the page is also cited by another entity of the space"] == 1
        assert "Glen Park" not in dataset.spaces
        return
    assert [(cut.entity, cut.original) for cut in cuts] == [
        ("Glen Park (Ostland)", PARK_PAGES["/ostland"][0]),
        ("Glen Park (Brennia)", PARK_PAGES["/brennia"][0]),
    ]
    assert lost["the page is also cited by another entity of the space"] == 2
    assert lost["a page of another entity of the space has the same sentence"] == 2
    assert {snippet.gold for snippet in dataset.snippets("top", "shadow") if snippet.mention == "Glen Park"} == set(
        PARKS
    )
    # Three snippets of the bridge and the railway in the top part, three of the shadows, and one of the tail.
    assert card["mentions"] == {
        "top": {"full title": 3, "without qualifier": 1},
        "shadow": {"full title": 3, "without qualifier": 1},
        "tail": {"full title": 1, "without qualifier": 0},
    }
