"""What GENRE's model reads, and the titles that it may write."""

from __future__ import annotations

from pathlib import Path

import genre_examples
import pytest
from asking import marked
from genre_examples import ask, titles

from shadowprobe import Dataset, Entity, Failure, InputError, Knowledge, Snippet
from shadowprobe.plugins import make_linker

pytest.importorskip("torch", reason="the extra [genre] is not installed", exc_type=ImportError)
pytest.importorskip("transformers", reason="the extra [genre] is not installed", exc_type=ImportError)

quietly = genre_examples.quietly
trained = genre_examples.trained
listed = genre_examples.listed


def outgoing(text: str, **options: int) -> str:
    return make_linker("genre", {key: str(value) for key, value in options.items()}).outgoing(marked(text))


def test_markers_stand_around_the_mention_with_a_space_on_either_side() -> None:
    assert outgoing("The crew of [Avon] sails.") == "The crew of [START_ENT] Avon [END_ENT] sails."
    assert outgoing("Is it [Avon]'s mill?") == "Is it [START_ENT] Avon [END_ENT] 's mill?"
    assert outgoing("([Avon])") == "( [START_ENT] Avon [END_ENT] )"
    # GENRE was trained with these spaces even where nothing stands before or after.
    assert outgoing("[Avon]") == " [START_ENT] Avon [END_ENT] "


def test_html_entities_are_undone() -> None:
    assert outgoing("Tom &amp; [AT&amp;T] &lt;3") == "Tom & [START_ENT] AT&T [END_ENT] <3"


@pytest.mark.parametrize(
    ("left", "right", "first", "last"),
    [
        pytest.param(300, 300, "a109", "b192", id="half on either side"),
        pytest.param(100, 300, "a1", "b284", id="what the left side leaves is the right one's"),
        pytest.param(300, 100, "a17", "b100", id="what the right side leaves is the left one's"),
        pytest.param(192, 192, "a1", "b192", id="all"),
    ],
)
def test_at_most_384_words_stand_around_the_mention(left: int, right: int, first: str, last: str) -> None:
    before, after = (" ".join(f"{side}{n}" for n in range(1, count + 1)) for side, count in (("a", left), ("b", right)))
    words = outgoing(f"{before} [Avon] {after}").split(" ")
    assert (words[0], words[-1], len(words)) == (first, last, min(384, left + right) + 3)


def test_without_words_around_it_the_mention_stands_alone() -> None:
    assert outgoing("The crew of [Avon] sails.", max_words=0) == " [START_ENT] Avon [END_ENT] "
    assert outgoing("The crew of [Avon] sails.", max_words=1) == " [START_ENT] Avon [END_ENT] sails."


def test_a_text_that_is_too_long_for_the_model_is_read_as_far_as_it_goes(trained: Path, world: Dataset) -> None:
    # Words of many tokens each: 384 of them would be far more than the 128 that this model reads.
    words = " ".join(f"zqx{n}zqx" for n in range(300))
    (found,) = ask(trained, world.knowledge, marked(f"{words} [Avon] {words}"))
    assert set(titles(found)) == {"Avon (river)", "Avon (ship)"}


def test_a_mention_that_is_too_long_for_the_model_fails_alone(trained: Path, world: Dataset, listed: Path) -> None:
    good = marked("Anglers say that [Avon] runs clear above the mill.", "good")
    found = ask(trained, world.knowledge, marked(f"[{'9' * 200}]"), good, titles=listed)
    assert isinstance(found[0], Failure)
    assert found[0].error.startswith("the mention alone has ")
    assert found[0].error.endswith(" tokens, and the model reads 128")
    assert titles(found[1])[0] == "Avon (river)"


@pytest.mark.parametrize("text", ["[Avon] and [END_ENT]", "A &#91;START_ENT] and Avon"])
def test_a_text_that_holds_a_marker_fails_alone(trained: Path, world: Dataset, text: str) -> None:
    start = text.index("Avon")
    bad = Snippet("bad", "all", text, start, start + 4)
    good = marked("Anglers say that [Avon] runs clear above the mill.", "good")
    failed, answered = ask(trained, world.knowledge, bad, good)
    assert failed == Failure(
        "bad", "the text contains [START_ENT] or [END_ENT], which the model would read as marks of the mention"
    )
    assert titles(answered)[0] == "Avon (river)"


def test_titles_are_taken_from_the_file_as_they_stand(trained: Path, world: Dataset, tmp_path: Path) -> None:
    path = tmp_path / "titles.txt"
    path.write_bytes("\ufeffAvon (ship)\r\n\r\n  \nAvon (river)\nAvon (ship)\nÄvon_(🎬)".encode())
    (found,) = ask(trained, world.knowledge, marked("Anglers say that [Avon] runs clear above the mill."), titles=path)
    assert titles(found)[0] == "Avon (river)"
    assert set(titles(found)) == {"Avon (river)", "Avon (ship)", "Ävon_(🎬)"}


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        pytest.param(None, ": no such file", id="missing"),
        pytest.param(b"\n \n", ": holds no title that is short enough", id="empty"),
        pytest.param(b"Avon\nZ\xfcrich\n", ":2: is not UTF-8 (byte 1: invalid start byte)", id="Latin-1"),
        pytest.param(b"Avon\n\nA </s> b", ":3: the title holds </s>, with which the model ends every title", id="end"),
        pytest.param(b"9" * 200, ": holds no title that is short enough", id="too long"),
    ],
)
def test_a_bad_list_of_titles_is_named(
    trained: Path, world: Dataset, tmp_path: Path, content: bytes | None, complaint: str
) -> None:
    path = tmp_path / "titles.txt"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as error:
        ask(trained, world.knowledge, titles=path)
    assert str(error.value) == f"{path}{complaint}"


def test_a_candidate_that_cannot_be_written_fails_its_snippet(trained: Path) -> None:
    (found,) = ask(trained, Knowledge({"A </s>": Entity("A </s>")}), marked("See [A </s>]."))
    assert found == Failure("marked", "the candidate 'A </s>' holds </s>, with which the model ends every title")
