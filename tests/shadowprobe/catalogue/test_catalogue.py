"""Datasets by name or directory, and where the downloaded ones are kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from shadowprobe.base.model import Entity, EntitySpace, Snippet
from shadowprobe.catalogue import datasets as catalogue
from shadowprobe.catalogue import download
from shadowprobe.dataset.dataset import Card, write_dataset
from shadowprobe.errors import InputError, UsageError


def write(path: Path) -> None:
    """A dataset of one space and two snippets."""
    write_dataset(
        path,
        Card("small"),
        [Entity("Lough Ree", 1), Entity("Ree (film)", 2)],
        [EntitySpace("Ree", ("Lough Ree", "Ree (film)"))],
        {
            "top": [Snippet("t", "top", "On Ree.", 3, 6, space="Ree", gold="Lough Ree")],
            "shadow": [Snippet("s", "shadow", "See Ree.", 4, 7, space="Ree", gold="Ree (film)")],
        },
    )


def test_a_directory_is_opened_by_its_path(tmp_path: Path) -> None:
    write(tmp_path / "small")
    assert catalogue.open_dataset(str(tmp_path / "small")).name == "small"


@pytest.mark.parametrize("name", ["mini", "mini-train", "places"])
def test_what_ships_with_the_package_is_opened_by_its_name_wherever_one_is(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert catalogue.open_dataset(name).name == name


def test_an_unknown_name_gets_a_hint_and_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"unknown dataset `shadowlik` \(did you mean `shadowlink`\?\): .*mini, "):
        catalogue.open_dataset("shadowlik")


def test_a_path_that_does_not_exist_is_not_taken_for_a_name(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such dataset directory"):
        catalogue.open_dataset(str(tmp_path / "mini"))


def test_a_list_has_counts_only_of_what_is_on_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHADOWPROBE_CACHE", str(tmp_path))

    def listed() -> tuple[int | None, int | None]:
        (found,) = [item for item in catalogue.listing() if item.name == "shadowlink"]
        return found.spaces, found.snippets

    assert listed() == (None, None)
    assert list(tmp_path.iterdir()) == []
    write(download.dataset_directory(tmp_path))
    assert listed() == (1, 2)


def test_every_known_dataset_is_listed_and_says_what_it_needs() -> None:
    assert [item.name for item in catalogue.listing()] == ["mini", "mini-train", "places", "shadowlink"]
    assert {item.name for item in catalogue.listing() if item.needs != "nothing"} == {"shadowlink"}


@pytest.mark.parametrize(
    ("platform", "variables", "place"),
    [
        ("linux", {"SHADOWPROBE_CACHE": "/own"}, "/own"),
        ("linux", {"XDG_CACHE_HOME": "/xdg"}, "/xdg/shadowprobe"),
        ("linux", {"XDG_CACHE_HOME": ""}, "/home/u/.cache/shadowprobe"),
        ("linux", {"SHADOWPROBE_CACHE": ""}, "/home/u/.cache/shadowprobe"),
        ("darwin", {"XDG_CACHE_HOME": "/xdg"}, "/home/u/Library/Caches/shadowprobe"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/shadowprobe"),
    ],
)
def test_the_cache_is_where_the_user_or_the_platform_has_it(
    monkeypatch: pytest.MonkeyPatch, platform: str, variables: dict[str, str], place: str
) -> None:
    for variable in ("SHADOWPROBE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in ({"HOME": "/home/u"} | variables).items():
        monkeypatch.setenv(variable, value)
    monkeypatch.setattr("sys.platform", platform)
    assert catalogue.cache_directory() == Path(place)


def test_the_release_comes_from_its_repository_at_one_commit_or_else_from_its_second_home(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SHADOWPROBE_SHADOWLINK_URL", raising=False)
    first, second = download.sources()
    # A commit and not a branch: what is measured must not change under the user.
    assert first.startswith("https://raw.githubusercontent.com/vera-pro/ICE_experiments/e26f857")
    assert second.startswith("https://huggingface.co/datasets/vera-pro/ShadowLink/")
    monkeypatch.setenv("SHADOWPROBE_SHADOWLINK_URL", "http://mirror.example/files/")
    assert download.sources() == ("http://mirror.example/files",)
