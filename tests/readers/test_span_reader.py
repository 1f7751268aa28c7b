"""The reader `span` with a real question-answering model of a few hundred weights, against a search of all spans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from genre_examples import one_thread
from tiny_dpr import SPECIAL, WORDS

from shadowprobe import Failure, LinkerError, UsageError
from shadowprobe.plugins import make_reader
from shadowprobe.retrieval import Document, ReaderQuery

pytest.importorskip("torch", reason="the extra [lm] is not installed", exc_type=ImportError)
pytest.importorskip("transformers", reason="the extra [lm] is not installed", exc_type=ImportError)

span: Any = import_module("shadowprobe.readers.span")
DOCUMENTS = (
    Document("river", "Avon", "The Avon is a river that rises at Naseby."),
    Document("ship", "Avon", "A ship built at Genoa."),
    Document("song", "Berg", "A song of Polar."),
)


def save_tiny_span_model(folder: Path, positions: int = 64) -> str:
    """Saves a BERT for question answering with random weights, far from zero."""
    import torch
    from transformers import BertConfig, BertForQuestionAnswering, BertTokenizer

    folder.mkdir(parents=True)
    (folder / "vocab.txt").write_text("\n".join([*SPECIAL, *WORDS.split()]) + "\n")
    tokenizer: Any = BertTokenizer.from_pretrained(folder)
    tokenizer.save_pretrained(folder)
    torch.manual_seed(3)
    config: Any = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=positions,
        initializer_range=1.0,
    )
    BertForQuestionAnswering(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module", autouse=True)
def quietly() -> Iterator[None]:
    with one_thread(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_tiny_span_model(tmp_path_factory.mktemp("span") / "tiny")


def ask(text: str, *documents: Document, task: str = "qa") -> ReaderQuery:
    return ReaderQuery(text, text, task=task, documents=documents)


def read(model: str, queries: Sequence[ReaderQuery], **options: str) -> list[Any]:
    reader = make_reader("span", {"model": model, **options})
    reader.setup()
    try:
        return list(reader.read(queries))
    finally:
        reader.close()


def search_all_spans(model: str, question: str, documents: Sequence[Document], longest: int) -> str:
    """The best span by looking at every one of every document."""
    import torch
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer

    load: Any = AutoTokenizer.from_pretrained
    tokenizer, network = load(model), AutoModelForQuestionAnswering.from_pretrained(model).eval()
    spans = []
    for document in documents:
        given = tokenizer(question, document.text, return_tensors="pt", return_offsets_mapping=True)
        places = given.pop("offset_mapping")[0].tolist()
        kinds = given["token_type_ids"][0].tolist()
        with torch.no_grad():
            output = network(**given)
        starts, ends = output.start_logits[0].tolist(), output.end_logits[0].tolist()
        # The last token of the second part is its end mark.
        text = [place for place, kind in enumerate(kinds[:-1]) if kind == 1]
        spans += [
            (starts[first] + ends[last], document.text[places[first][0] : places[last][1]])
            for first in text
            for last in text
            if first <= last < first + longest
        ]
    return max(spans)[1]


@pytest.mark.parametrize("longest", [1, 3, 30])
def test_the_best_span_of_all_documents_is_the_answer(tiny: str, longest: int) -> None:
    for question in ("where was the avon built ?", "who was berg ?"):
        (answer,) = read(tiny, [ask(question, *DOCUMENTS)], longest=str(longest))
        assert answer == search_all_spans(tiny, question, DOCUMENTS, longest)
        assert any(answer in document.text for document in DOCUMENTS)


def test_a_slot_is_asked_as_a_question(tiny: str) -> None:
    slot, question = ask("avon [SEP] lake", *DOCUMENTS, task="sf"), ask("What is the lake of avon?", *DOCUMENTS)
    assert len(set(read(tiny, [slot, question]))) == 1


def test_a_long_document_is_read_to_its_end(tiny: str) -> None:
    long = Document("long", "Avon", "The Avon is a river. " * 60)
    (answer,) = read(tiny, [ask("where ?", long)])
    assert answer in long.text


def test_the_first_of_equal_spans_counts_and_other_parts_do_not() -> None:
    # Question, text, text, text, end: the best pair outside of the text is not taken.
    is_text = [False, True, True, True, False]
    assert span.find_span([9, 1, 2, 0, 9], [9, 0, 1, 3, 9], is_text, 30) == (5, 2, 3)
    assert span.find_span([9, 1, 2, 0, 9], [9, 0, 1, 3, 9], is_text, 1) == (3, 2, 2)
    assert span.find_span([0, 1, 1, 0, 0], [0, 1, 1, 0, 0], is_text, 1) == (2, 1, 1)
    assert span.find_span([1.0], [1.0], [False], 30) is None


def test_a_question_that_is_too_long_fails_alone(tiny: str) -> None:
    failed, answer = read(tiny, [ask("where was the avon " * 20, *DOCUMENTS), ask("where ?", *DOCUMENTS)])
    assert isinstance(failed, Failure)
    assert failed.error.startswith("the question is too long for ")
    assert isinstance(answer, str)


def test_a_question_may_have_half_of_what_the_model_reads(tiny: str) -> None:
    # 64 positions are 62 tokens, and half of them 31: 29 words and two special tokens.
    fits, too_long = read(tiny, [ask(" ".join(["river"] * words), *DOCUMENTS) for words in (29, 30)])
    assert isinstance(fits, str)
    assert isinstance(too_long, Failure)
    assert too_long.error == f"the question is too long for `{tiny}`, which reads 62 tokens"


def test_a_model_with_many_positions_reads_384_tokens_at_a_time(tmp_path: Path) -> None:
    reader: Any = make_reader("span", {"model": save_tiny_span_model(tmp_path / "wide", positions=512)})
    reader.setup()
    assert reader.window == 384


def test_a_span_has_at_least_one_token() -> None:
    assert span.SpanReader("x", longest=1).longest == 1
    with pytest.raises(UsageError, match="longest is 0, and must be at least 1"):
        span.SpanReader("x", longest=0)


def test_a_model_that_is_not_there_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(LinkerError, match=r"`span` cannot load the model `.*nothing`; give a directory"):
        read(str(tmp_path / "nothing"), [])
