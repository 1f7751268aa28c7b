"""Models of Hugging Face, and a hub that is not there; skipped where transformers is not installed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from service import Asked, Reply, Service, serving

from shadowprobe import Dataset, LinkerError
from shadowprobe.plugins import make_linker

pytest.importorskip("torch", reason="the extra [genre] is not installed", exc_type=ImportError)
pytest.importorskip("transformers", reason="the extra [genre] is not installed", exc_type=ImportError)
constants = pytest.importorskip("huggingface_hub.constants")


@pytest.fixture
def at_the_hub(monkeypatch: pytest.MonkeyPatch) -> Callable[[Service], None]:
    """Lets a service on loopback be the hub."""

    def move(service: Service) -> None:
        place = service.url.removesuffix("/api")
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
        monkeypatch.setattr(constants, "ENDPOINT", place)
        template = f"{place}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)

    return move


def breaks_off(number: int, asked: Asked) -> Reply:
    raise ConnectionResetError


def test_a_hub_that_does_not_answer_gets_one_request_and_not_one_per_file(
    world: Dataset, at_the_hub: Callable[[Service], None], caplog: pytest.LogCaptureFixture
) -> None:
    with serving(breaks_off) as hub:
        at_the_hub(hub)
        with pytest.raises(LinkerError, match=r"^`genre` cannot load the model `nobody/nothing`; give a directory"):
            make_linker("genre", {"model": "nobody/nothing"}).open(world.knowledge)
        # Without that every file would be tried for, six times each.
        about = [asked.path for asked in hub.requests if "nobody/nothing" in asked.path]
        assert about == ["/api/models/nobody/nothing"]
    assert not [record for record in caplog.records if "Retrying" in record.getMessage()]
    assert constants.HF_HUB_OFFLINE is False


def test_the_files_are_requested_from_a_hub_that_answers(world: Dataset, at_the_hub: Callable[[Service], None]) -> None:
    with serving(lambda *_: (404, {"X-Error-Code": "RepoNotFound"}, b"")) as hub:
        at_the_hub(hub)
        with pytest.raises(LinkerError, match=r"^`genre` cannot load the model `nobody/nothing`; give a directory"):
            make_linker("genre", {"model": "nobody/nothing"}).open(world.knowledge)
        assert "/nobody/nothing/resolve/main/config.json" in {asked.path for asked in hub.requests}
