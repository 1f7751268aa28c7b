"""What the wrappers of TagMe and WAT must do beside every other with a token, since their services answer alike."""

from __future__ import annotations

from typing import Any

import pytest
from asking import error_for, marked, prediction_for
from contract import TokenContract, meant
from refusals import outcome
from service import Service
from wire import changed
from world import top

from shadowprobe import Dataset


class AnnotatorContract(TokenContract):
    """All the tests; the stand-in answers with a list of annotations, the first of them on the mention."""

    def test_where_a_token_is_to_be_had_and_where_it_goes_is_printed_for_who_has_none(
        self, world: Dataset, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv(self.variable)
        code, out, _ = outcome(capsys, "check", "--linker", self.wrapper, "--dataset", str(world.path))
        assert code == 1
        where, what = out.splitlines()[-2:]
        assert "https://sobigdata.d4science.org/web/tagme" in where
        assert what == f"export {self.variable}=TOKEN"

    @pytest.mark.parametrize("title", [{}, {"title": None}, {"title": ""}])
    def test_an_annotation_without_a_title_is_no_answer(
        self, service: Service, world: Dataset, title: dict[str, Any]
    ) -> None:
        def untitled(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [{key: value for key, value in one.items() if key != "title"} | title for one in found]

        service.behaviour = changed(self.stand_in(), "annotations", untitled)
        answer = prediction_for(self.linker(service.url), world.knowledge, marked("Why not [Avon]?"))
        assert answer.status == "skipped"

    def test_of_several_answers_on_the_mention_the_surest_one_counts(self, service: Service, world: Dataset) -> None:
        def with_less_sure(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
            lake = {**found[0], "title": "Como (lake)", "id": 9, "rho": 0.1}
            return [lake, *found, {**found[0], "rho": 0.2}]

        service.behaviour = changed(self.stand_in(), "annotations", with_less_sure)
        answer = prediction_for(self.linker(service.url), world.knowledge, marked("Why not [Como]?"))
        assert (meant(world, answer), answer.page_id, answer.score) == (top("Como"), 102, 0.73)

    def test_an_answer_without_a_rho_is_the_least_sure(self, service: Service, world: Dataset) -> None:
        def with_unsure(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
            return [{"start": found[0]["start"], "end": found[0]["end"], "title": "Como (lake)", "id": 9}, *found]

        service.behaviour = changed(self.stand_in(), "annotations", with_unsure)
        answer = prediction_for(self.linker(service.url), world.knowledge, marked("Why not [Como]?"))
        assert (meant(world, answer), answer.score) == (top("Como"), 0.73)

    @pytest.mark.parametrize("rho", [0.0, 0.01, 1])
    def test_no_answer_is_cut_off_for_its_rho(self, service: Service, world: Dataset, rho: float) -> None:
        service.behaviour = changed(
            self.stand_in(), "annotations", lambda found: [{**one, "rho": rho} for one in found]
        )
        answer = prediction_for(self.linker(service.url), world.knowledge, marked("Why not [Avon]?"))
        assert (answer.status, answer.score) == ("linked", rho)

    def test_a_mention_with_an_emoji_in_it_is_refused(self, service: Service, world: Dataset) -> None:
        asked = marked("We saw [Avon \N{WATER WAVE}] today.")
        error = error_for(self.linker(service.url), world.knowledge, asked)
        assert error.startswith("the mention 'Avon \N{WATER WAVE}' has characters beyond the BMP, and it is not known")
        assert service.requests == []
