"""The reader `lm` with a real Llama of a few thousand weights, a real tokenizer and the real scoring."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from genre_examples import one_thread
from tiny_llama import save_tiny_llama

from shadowprobe import Failure, LinkerError
from shadowprobe.plugins import make_reader
from shadowprobe.retrieval import Document, Query, ReaderQuery
from shadowprobe.systems.prompt_documents import number_documents

pytest.importorskip("torch", reason="the extra [lm] is not installed", exc_type=ImportError)
pytest.importorskip("transformers", reason="the extra [lm] is not installed", exc_type=ImportError)

# By its name, since type checkers do not see where the folder is installed.
lm: Any = import_module("shadowprobe.readers.lm")
SENTENCE: str = import_module("shadowprobe.systems.causal_model").SENTENCE
LABELS = ("SUPPORTS", "REFUTES")
RIVER = Document("river", "Avon", "The Avon is a river that rises near Naseby.")
SHIP = Document("ship", "Avon", "A packet ship built at Millwall.")


def ask(text: str, *documents: Document, task: str = "qa") -> ReaderQuery:
    labels = LABELS if task == "fc" else ()
    return ReaderQuery(text, text, task=task, labels=labels, documents=documents)


CLAIMS = {
    ask("Avon rises near Naseby.", RIVER, task="fc"): "SUPPORTS",
    ask("Avon rises near Genoa.", RIVER, task="fc"): "REFUTES",
}
QUESTIONS = {
    ask("Where does Avon rise?", RIVER): "near Naseby",
    ask("Where was Avon built?", SHIP): "Millwall",
    ask("Avon [SEP] place of building", SHIP, task="sf"): "at Millwall",
}


def lessons() -> list[str]:
    """What the tiny model has read: the prompts of the reader with their answers."""
    texts = [SENTENCE, SENTENCE.lower()]
    for query, label in CLAIMS.items():
        prompt = lm.CLAIM.format(documents=number_documents(query.documents), text=query.text)
        texts.append(f"{prompt}{lm.WORDS[label]}.")
    for query, answer in QUESTIONS.items():
        text = query.text if query.task == "qa" else "What is the place of building of Avon?"
        texts.append(
            lm.QUESTION.format(documents=number_documents(query.documents), text=text) + f" {answer}\nQuestion:"
        )
    return texts


@pytest.fixture(scope="module", autouse=True)
def quietly() -> Iterator[None]:
    with one_thread(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    with one_thread():
        return str(save_tiny_llama(tmp_path_factory.mktemp("lm") / "tiny", lessons(), steps=150))


def read(model: str, queries: Sequence[ReaderQuery], **options: str) -> list[Any]:
    reader = make_reader("lm", {"model": model, **options})
    reader.setup()
    try:
        return list(reader.read(queries))
    finally:
        reader.close()


def test_claims_get_the_likelier_label_and_questions_an_answer_up_to_the_line_break(tiny: str) -> None:
    expected = {**CLAIMS, **QUESTIONS}
    assert read(tiny, list(expected)) == list(expected.values())


def test_a_prompt_is_continued_up_to_the_line_break_and_one_that_is_too_long_fails_alone(tiny: str) -> None:
    prompt = lm.QUESTION.format(documents=number_documents([RIVER]), text="Where does Avon rise?")
    reader = make_reader("lm", {"model": tiny})
    reader.setup()
    try:
        written, failed = reader.write([Query("a", prompt), Query("b", "Where? " * 300)])
    finally:
        reader.close()
    assert written == "near Naseby"
    assert isinstance(failed, Failure)
    # The model has 256 places, of which an answer may take 24.
    assert failed.error.endswith("tokens, and the model reads 232")


def test_a_prompt_and_its_answer_may_fill_the_model(tiny: str) -> None:
    query, prompt = ask("Where? " * 40), Query("p", "Where? " * 40)
    for is_prompt, text in ((True, prompt.text), (False, lm.QUESTION.format(documents="", text=query.text))):
        reader: Any = make_reader("lm", {"model": tiny})
        reader.setup()
        size = len(reader.loaded.start) + len(reader.loaded.tokenize([text])[0])
        results = []
        # The model has 256 places.
        for reader.max_tokens in (256 - size, 256 - size + 1):
            results += reader.write([prompt]) if is_prompt else reader.read([query])
        reader.close()
        fits, failed = results
        assert isinstance(fits, str)
        assert isinstance(failed, Failure)
        what = "prompt" if is_prompt else "query alone"
        assert failed.error == f"the {what} has {size} tokens, and the model reads {size - 1}"


def test_an_answer_ends_with_max_tokens(tiny: str) -> None:
    (whole,) = read(tiny, [ask("Where does Avon rise?", RIVER)])
    (cut,) = read(tiny, [ask("Where does Avon rise?", RIVER)], max_tokens="1")
    assert len(cut) < len(whole)
    assert whole.startswith(cut)


def test_long_documents_are_cut_until_the_model_can_read_the_prompt(tiny: str) -> None:
    long = Document("long", "Avon", "The Avon is a river. " * 400)
    (answer,) = read(tiny, [ask("Where does Avon rise?", long)], context="9000")
    assert isinstance(answer, str)


def test_a_query_that_is_too_long_fails_alone(tiny: str) -> None:
    failed, answer = read(tiny, [ask("Where? " * 300, RIVER), ask("Where does Avon rise?", RIVER)])
    assert isinstance(failed, Failure)
    assert failed.error.startswith("the query alone has ")
    assert answer == "near Naseby"


def test_a_tie_of_labels_is_drawn_by_the_claim_and_no_label_is_always_first() -> None:
    drawn = [lm.choose_label(ask(f"Claim {number}.", task="fc"), (-1.5, -1.5)) for number in range(60)]
    assert {"SUPPORTS", "REFUTES"} == set(drawn)
    assert 15 < drawn.count("SUPPORTS") < 45
    assert drawn == [lm.choose_label(ask(f"Claim {number}.", task="fc"), (-1.5, -1.5)) for number in range(60)]
    assert lm.choose_label(ask("x", task="fc"), (-2.0, -1.0)) == "REFUTES"


def test_a_model_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(LinkerError, match=r"`lm` cannot load the model `.*nothing`; give a directory"):
        read(str(tmp_path / "nothing"), [])
