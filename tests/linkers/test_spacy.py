"""The wrapper of spaCy pipelines, with the real spaCy."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import spacy
from asking import answers_of, marked, prediction_for
from spacy.tokens import Doc, Span
from spacy_pipelines import pipeline_with_linker, saved

from shadowprobe import Candidate, Dataset, Failure, Linker, LinkerError, Prediction, Snippet
from shadowprobe.plugins import make_linker
from shadowprobe.running.api import make_linking_job
from shadowprobe.running.check import check


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("trained")
    pipeline_with_linker().to_disk(path)
    return str(path)


@pytest.fixture
def extensions() -> Iterator[None]:
    for name in ("fished_qid", "fished_score"):
        Span.set_extension(name, default=None)
    yield
    for name in ("fished_qid", "fished_score"):
        Span.remove_extension(name)


def wrapper(model: str, **options: str) -> Linker:
    return make_linker("shadowprobe.linkers.spacy:SpacyLinker", {"model": model, **options})


def ask(world: Dataset, model: str, *snippets: Snippet, **options: str) -> list[Prediction | Failure]:
    return answers_of(wrapper(model, **options), world.knowledge, *snippets)


def given(world: Dataset, model: str, text: str, **options: str) -> str | None:
    """The answer to one marked text."""
    return prediction_for(wrapper(model, **options), world.knowledge, marked(text)).answer


def refusal(world: Dataset, model: str, **options: str) -> str:
    """The one line with which the linker does not start."""
    with pytest.raises(LinkerError) as caught:
        wrapper(model, **options).open(world.knowledge)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_spacys_own_linker_answers_by_context_and_shows_its_candidates(trained: str, world: Dataset) -> None:
    river, ship = Candidate("Avon (river)"), Candidate("Avon (ship)")
    assert ask(
        world,
        trained,
        marked("Anglers say that [Avon] runs clear above the mill.", "r"),
        marked("The crew of [Avon] cut down both masts in the gale.", "s"),
    ) == [
        Prediction("r", answer="Avon (river)", candidates=(river, ship)),
        Prediction("s", answer="Avon (ship)", candidates=(ship, river)),
    ]


def test_a_whole_run(trained: str, world: Dataset, tmp_path: Path) -> None:
    session = make_linking_job(wrapper(trained), world, out=tmp_path / "run").run()
    assert session.outcome is not None
    assert (session.outcome.answered, session.outcome.failed) == (world.count(), 0)
    # It was trained on the very texts of Top and Shadow, and the tail entity is the only candidate of its name.
    assert [session.results["subsets"][subset]["correct"] for subset in ("top", "shadow", "tail")] == [4, 4, 1]
    assert session.results["probes"]["candidates"]["shadow"]["recall"] == 1.0
    assert session.results["notes"] == [
        f"spaCy {version('spacy')}, pipeline en_pipeline 0.0.0, linked by its component `entity_linker`"
    ]


def test_the_battery_finds_nothing_broken(trained: str, world: Dataset) -> None:
    assert [finding for finding in check(wrapper(trained), world) if not finding.holds] == []


def test_a_name_without_candidates_is_an_explicit_nil(trained: str, world: Dataset) -> None:
    assert ask(world, trained, marked("Nobody knows [Zorn].")) == [Prediction("marked", status="nil")]


def test_an_entity_without_an_id_is_skipped(world: Dataset, tmp_path: Path) -> None:
    model = saved(tmp_path, "ship_after_crew")
    found = ask(world, model, marked("Nobody knows [Zorn]."), component="ship_after_crew")
    assert found == [Prediction("marked", status="skipped")]


def test_equal_scores_are_tossed_for_each_text_alone(world: Dataset, tmp_path: Path) -> None:
    # Neither prior nor context: all that is left is the shuffle of the candidates.
    pipeline_with_linker(incl_context=False).to_disk(tmp_path / "toss")
    snippets = [marked(f"{'So ' * number}[Avon].", str(number)) for number in range(20)]
    forward = ask(world, str(tmp_path / "toss"), *snippets)
    random.seed(7)
    before = random.getstate()
    assert ask(world, str(tmp_path / "toss"), *snippets[::-1]) == forward[::-1]
    assert random.getstate() == before
    titles = {answer.answer for answer in forward if isinstance(answer, Prediction)}
    assert titles == {"Avon (river)", "Avon (ship)"}


def test_each_of_two_mentions_with_the_same_name_can_be_linked(world: Dataset, tmp_path: Path) -> None:
    model = saved(tmp_path, "ship_after_crew")
    text = "The crew of {}Avon{} left. Nobody has seen {}Avon{}."
    assert given(world, model, text.format("[", "]", "", ""), component="ship_after_crew") == "Avon (ship)"
    assert given(world, model, text.format("", "", "[", "]"), component="ship_after_crew") == "Avon (river)"


@pytest.mark.parametrize("before", ["Über Zürich: the crew of ", "🎬𝐀 👩‍👩‍👧 crew of ", "Die Mu\u0308he: crew of "])
def test_offsets_are_code_points(world: Dataset, tmp_path: Path, before: str) -> None:
    model = saved(tmp_path, "ship_after_crew")
    assert given(world, model, f"{before}[Avon] left.", component="ship_after_crew") == "Avon (ship)"


@pytest.mark.parametrize(
    ("text", "mention"),
    [
        pytest.param("the pre[Avon] days", "Avon", id="begins inside a token"),
        pytest.param("the [Avon]ish days", "Avon", id="ends inside a token"),
        pytest.param("the pre[Avon]ish days", "Avon", id="both in one token"),
        pytest.param("pre[Avon and Ber]gen", "Avon and Ber", id="in two tokens"),
        pytest.param("the 🎬[Avon]ö days", "Avon", id="beside characters beyond the BMP"),
        pytest.param("of[ Avon] then", " Avon", id="begins with a space"),
        pytest.param("of [Avon ]then", "Avon ", id="ends with a space"),
        pytest.param("of [Avon  ]then", "Avon  ", id="ends with two spaces"),
        pytest.param("of[ Avon ]then", " Avon ", id="spaces on both sides"),
        pytest.param("of[ ]Avon", " ", id="is a space"),
        pytest.param("It's [Avon]'s", "Avon", id="no token is cut"),
    ],
)
def test_the_linker_sees_the_mention_as_it_is_given_and_nothing_else(
    world: Dataset, tmp_path: Path, text: str, mention: str
) -> None:
    model = saved(tmp_path, "says_what_it_sees")
    assert given(world, model, text, component="says_what_it_sees") == f"{mention}/ENTITY"


def test_other_entities_of_the_pipeline_are_not_shown_to_the_linker(world: Dataset, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    for factory, config in (("entity_ruler", {}), ("span_ruler", {"annotate_ents": True})):
        ruler: Any = nlp.add_pipe(factory, config=config)
        ruler.add_patterns([{"label": "WHO", "pattern": "Anglers"}, {"label": "WHERE", "pattern": "Avon"}])
    nlp.add_pipe("says_what_it_sees")
    late: Any = nlp.add_pipe("entity_ruler", name="late", config={"overwrite_ents": True})
    late.add_patterns([{"label": "LATE", "pattern": "Avon runs"}])
    nlp.to_disk(tmp_path / "pipeline")
    assert [entity.label_ for entity in nlp("Anglers say that Avon runs.").ents] == ["WHO", "LATE"]
    model, text = str(tmp_path / "pipeline"), "Anglers say that [Avon] runs."
    assert given(world, model, text, component="says_what_it_sees") == "Avon/ENTITY"
    assert given(world, model, text, component="says_what_it_sees", label="GPE") == "Avon/GPE"


def test_a_label_that_the_linker_discards_is_refused(world: Dataset, tmp_path: Path) -> None:
    pipeline_with_linker(labels_discard=["ENTITY"]).to_disk(tmp_path / "pipeline")
    model = str(tmp_path / "pipeline")
    assert refusal(world, model) == (
        "`entity_linker` answers NIL to all entities labelled `ENTITY` (labels_discard):"
        " choose another label with -o label=NAME"
    )
    assert given(world, model, "The crew of [Avon] cut down both masts in the gale.", label="X") == "Avon (ship)"


def test_a_component_that_declares_what_it_sets_is_found(world: Dataset, tmp_path: Path) -> None:
    assert given(world, saved(tmp_path, "sentencizer", "declares"), "The crew of [Avon] left.") == "Avon (ship)"


def test_a_pipeline_without_a_linker_is_refused(world: Dataset, tmp_path: Path) -> None:
    model = saved(tmp_path, "sentencizer", "ship_after_crew")
    assert refusal(world, model) == (
        f"the pipeline `{model}` has no component that declares itself a linker:"
        " name the one that links with -o component=NAME; it has sentencizer, ship_after_crew"
    )
    assert f"`{model}` has no component `nel`: name" in refusal(world, model, component="nel")


def test_an_empty_pipeline_is_refused(world: Dataset, tmp_path: Path) -> None:
    assert refusal(world, saved(tmp_path)).endswith("it has no component at all")


def test_of_two_linkers_one_must_be_chosen(world: Dataset, tmp_path: Path) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("declares", name="one")
    nlp.add_pipe("declares", name="two")
    nlp.to_disk(tmp_path / "pipeline")
    model = str(tmp_path / "pipeline")
    assert "has more than one linker: name the one that links" in refusal(world, model)
    assert given(world, model, "The crew of [Avon] left.", component="two") == "Avon (ship)"


def test_a_linker_that_needs_sentences_is_refused_where_nothing_finds_them(world: Dataset, tmp_path: Path) -> None:
    nlp = pipeline_with_linker()
    nlp.remove_pipe("sentencizer")
    nlp.to_disk(tmp_path / "pipeline")
    assert refusal(world, str(tmp_path / "pipeline")).startswith(
        f"`entity_linker` needs sentences, and no component before it in `{tmp_path / 'pipeline'}` finds any:"
    )


def test_what_comes_after_the_linker_has_its_say(world: Dataset, tmp_path: Path) -> None:
    nlp = pipeline_with_linker()
    nlp.add_pipe("to_qids")
    nlp.to_disk(tmp_path / "pipeline")
    found = ask(world, str(tmp_path / "pipeline"), marked("The crew of [Avon] cut down both masts in the gale."))
    # The candidates bear ids of the first knowledge base, and would not contain the answer.
    assert found == [Prediction("marked", answer="Q8")]


@pytest.mark.usefixtures("extensions")
def test_an_answer_beside_the_entity_is_read_with_its_score(world: Dataset, tmp_path: Path) -> None:
    snippets = [marked("Why not [Avon]?", "a"), marked("Why not [Zorn]?", "z"), marked("Why not [Berg]?", "b")]
    options = {"component": "fishes", "id_attribute": "fished_qid", "score_attribute": "fished_score"}
    assert ask(world, saved(tmp_path, "fishes"), *snippets, **options) == [
        Prediction("a", answer="Q7", score=0.75),
        Prediction("z", status="nil", score=0.75),
        Prediction("b", status="skipped"),
    ]


def test_an_attribute_that_no_component_sets_is_refused(world: Dataset, tmp_path: Path) -> None:
    model = saved(tmp_path, "fishes")
    line = refusal(world, model, component="fishes", id_attribute="kb_qid")
    assert line == f"no component of `{model}` sets `span._.kb_qid`"


def test_a_component_in_a_file_of_ones_own_is_loaded_from_it(world: Dataset, tmp_path: Path) -> None:
    code = tmp_path / "mine.py"
    code.write_text(
        "from spacy.language import Language\n"
        "@Language.component('in_a_file', assigns=['token.ent_kb_id'])\n"
        "def in_a_file(doc):\n"
        "    for token in doc.ents[0]:\n"
        "        token.ent_kb_id_ = 'Avon_(river)'\n"
        "    return doc\n"
    )
    # Saved under the name of a component that is there, since one of that name is not before the file is loaded.
    model = saved(tmp_path, "fishes")
    config = tmp_path / "pipeline" / "config.cfg"
    config.write_text(config.read_text().replace('factory = "fishes"', 'factory = "in_a_file"'))
    assert "Can't find factory for 'in_a_file'" in refusal(world, model)
    assert given(world, model, "Why not [Avon]?", code=str(code)) == "Avon_(river)"


def test_a_component_that_breaks_on_one_text_fails_on_that_alone(world: Dataset, tmp_path: Path) -> None:
    model = saved(tmp_path, "breaks_on_rain")
    snippets = [marked("The crew of [Avon] left.", "dry"), marked("The crew of [Avon] saw rain.", "wet")]
    assert ask(world, model, *snippets, component="breaks_on_rain") == [
        Prediction("dry", answer="Avon (ship)"),
        Failure("wet", f"`{model}` failed on this text (RuntimeError: out of memory)"),
    ]


def test_an_answer_on_other_borders_is_not_the_mentions(world: Dataset, tmp_path: Path) -> None:
    found = ask(world, saved(tmp_path, "finds_its_own"), marked("Why not [Avon] Rubber?"), component="finds_its_own")
    assert found == [Prediction("marked", status="skipped")]


def test_a_mention_merged_into_another_token_is_a_failure(world: Dataset, tmp_path: Path) -> None:
    model = saved(tmp_path, "merges_first_two", "ship_after_crew")
    (found,) = ask(world, model, marked("Old [Avon] rose."), component="ship_after_crew")
    assert isinstance(found, Failure)
    assert "a component merges the mention with its neighbours into one token" in found.error
    assert given(world, model, "But old [Avon] rose.", component="ship_after_crew") == "Avon (river)"


def test_a_tokenizer_that_changes_the_text_is_a_failure(world: Dataset, tmp_path: Path) -> None:
    linker: Any = wrapper(saved(tmp_path, "declares"))
    linker.open(world.knowledge)
    linker.nlp.tokenizer = lambda text: Doc(linker.nlp.vocab, words=text.split())
    good, bad = linker.link([marked("Why not [Avon] ", "good"), marked("Why  not [Avon] ", "bad")])
    assert good == Prediction("good", answer="Avon (river)")
    assert "its tokenizer changes the text" in bad.error


def test_a_pipeline_that_is_not_there_is_refused_in_one_line(world: Dataset, tmp_path: Path) -> None:
    assert refusal(world, "xx_no_such_pipeline").startswith(
        "`spacy` cannot load the pipeline `xx_no_such_pipeline`: -o model=NAME_OR_DIR names an installed one or a"
        " directory, -o code=FILE.py the file that defines its components (OSError: [E050] Can't find model"
    )
    assert "Could not read meta.json" in refusal(world, str(tmp_path))


def test_without_a_pipeline_the_error_names_the_option(world: Dataset) -> None:
    assert refusal(world, "") == "`spacy` needs a pipeline: add -o model=NAME_OR_DIR"


def test_without_spacy_the_extra_is_named(world: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    monkeypatch.delitem(sys.modules, "spacy.tokens")
    assert refusal(world, "en") == "`spacy` needs its extra: pip install 'shadowprobe[spacy]'"
    # Said first: whoever has no spaCy has no pipeline either.
    with pytest.raises(LinkerError, match="`spacy` needs its extra"):
        make_linker("shadowprobe.linkers.spacy:SpacyLinker").open(world.knowledge)
