"""When a text holds an answer, by AmbER's rule and by DPR's."""

from __future__ import annotations

import sys
import unicodedata
from random import Random

import pytest

from shadowprobe.measure.answer_matching import (
    beginning,
    dpr_words,
    holds_any,
    normalise_answer,
    score_exactly,
    score_words,
    squad_words,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Civil War", ["civil", "war"]),
        ("A man, an ox; THE end.", ["man", "ox", "end"]),
        # A hyphen parts words, any other mark is dropped and joins what it stood between.
        ("Stratford-upon-Avon", ["stratford", "upon", "avon"]),
        ("U.S. Navy", ["us", "navy"]),
        ("Schindler's List", ["schindlers", "list"]),
        ("rock'n'roll / jazz", ["rocknroll", "jazz"]),
        # An article is one as a word alone, and where the marks around it have gone.
        ("Theatre an-Na'im (the)", ["theatre", "naim"]),
        # Accents stay, and so do dashes and quotes that are no ASCII.
        ("Édith Piaf", ["édith", "piaf"]),
        ("1914–1918", ["1914–1918"]),
        ("  many \t\n spaces ", ["many", "spaces"]),
        ("The", []),
        ("", []),
    ],
)
def test_ambers_words_are_small_without_punctuation_and_articles(text: str, words: list[str]) -> None:
    assert squad_words(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Civil War", ["the", "civil", "war"]),
        # Every mark is a token of its own, the underscore too.
        ("Stratford-upon-Avon", ["stratford", "-", "upon", "-", "avon"]),
        ("U.S. Navy", ["u", ".", "s", ".", "navy"]),
        ("snake_case", ["snake", "_", "case"]),
        # Letters and digits are not parted, and a mark that combines belongs to its letter.
        ("B2B 3½", ["b2b", "3½"]),
        ("Évora", ["e\u0301vora"]),
        ("E\u0301vora", ["e\u0301vora"]),
        # What cannot be seen is no token, and parts words.
        ("zero\u200bwidth soft\u00adhyphen\u00a0\u2028", ["zero", "width", "soft", "hyphen"]),
        ("日本語", ["日本語"]),
        ("", []),
    ],
)
def test_dprs_words_are_runs_of_letters_digits_and_marks_or_single_signs(text: str, words: list[str]) -> None:
    assert dpr_words(text) == words


def test_dprs_words_are_those_of_its_own_tokenizer_for_every_character() -> None:
    regex = pytest.importorskip("regex", reason="the package regex, which knows Unicode's categories, is not installed")
    theirs = regex.compile(r"[\p{L}\p{N}\p{M}]+|[^\p{Z}\p{C}]")
    # Characters that this Python does not know yet may have become something since.
    known = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) != "Cn"]
    assert len(known) > 100_000
    for character in known:
        text = f"a{character}b {character}"
        expected = [token.lower() for token in theirs.findall(unicodedata.normalize("NFD", text))]
        assert dpr_words(text) == expected, hex(ord(character))


@pytest.mark.parametrize(
    ("text", "answer", "held"),
    [
        ("born in New York City", "New York", True),
        ("born in New York City", "york CITY", True),
        ("born in York, New", "New York", False),
        ("the Yorkshire moors", "York", False),
        ("York", "York", True),
        ("York", "New York", False),
        ("anything", "", False),
        ("", "anything", False),
    ],
)
def test_an_answer_stands_side_by_side_in_a_text(text: str, answer: str, held: bool) -> None:
    assert holds_any(dpr_words(text), [dpr_words(answer)]) == held
    assert holds_any(squad_words(text), [squad_words(answer)]) == held


def test_accents_tell_answers_apart() -> None:
    assert not holds_any(dpr_words("born in Evora"), [dpr_words("Évora")])
    # However the letter is put together.
    assert holds_any(dpr_words("born in E\u0301vora"), [dpr_words("Évora")])


def test_the_two_rules_differ_on_punctuation_and_articles() -> None:
    text, answer = "He served in the U.S. Navy.", "US Navy"
    assert holds_any(squad_words(text), [squad_words(answer)])
    assert not holds_any(dpr_words(text), [dpr_words(answer)])
    assert holds_any(squad_words("War of 1812"), [squad_words("The War of 1812")])
    assert not holds_any(dpr_words("War of 1812"), [dpr_words("The War of 1812")])


def test_an_answer_of_articles_and_punctuation_alone_is_in_no_text() -> None:
    assert not holds_any(squad_words("The The"), [squad_words("The The")])


def test_one_of_several_answers_is_enough() -> None:
    words = dpr_words("the Mersey")
    assert holds_any(words, [dpr_words("Thames"), dpr_words("Mersey")])
    assert not holds_any(words, [dpr_words("Thames"), []])
    assert not holds_any(words, [])


@pytest.mark.parametrize(
    ("text", "count", "first"),
    [("one  two\nthree", 2, "one two"), ("one two", 2, "one two"), ("one", 5, "one"), ("", 5, "")],
)
def test_the_beginning_is_so_many_words(text: str, count: int, first: str) -> None:
    assert beginning(text, count) == first


def second_normalise(text: str) -> str:
    """SQuAD's rule a second time, character by character."""
    kept = "".join(one for one in text.lower() if one not in "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
    words, word = [], ""
    for one in f"{kept} ":
        if one.isalnum() or one == "_":
            word += one
            continue
        words += [" " if word in {"a", "an", "the"} else word, one]
        word = ""
    return " ".join("".join(words).split())


def second_f1(answer: str, right: str) -> float:
    """F1 as precision and recall, counted with lists."""
    given, wanted = second_normalise(answer).split(), second_normalise(right).split()
    if not given or not wanted:
        return 1.0 if given == wanted else 0.0
    left, shared = list(wanted), 0
    for word in given:
        if word in left:
            left.remove(word)
            shared += 1
    if not shared:
        return 0.0
    precision, recall = shared / len(given), shared / len(wanted)
    return 2 * precision * recall / (precision + recall)


def test_f1_and_exact_match_agree_with_a_second_implementation_on_1000_random_pairs() -> None:
    random = Random(7)
    words = ["The", "a", "an", "river", "Avon", "avon", "St.", "Hundred", "Years'", "War", "jazz-rock", "jazz", "rock"]
    words += ["1.5", "É", "die–the", "the–end", "--", "a.", "...", "\u00a0the", "naïve", "an\t", "U.S.", "(the)"]
    matches = partial = 0
    for _ in range(1000):
        answer, right = (" ".join(random.choices(words, k=random.randrange(5))) for _ in range(2))
        if random.random() < 0.6:
            right = f"The {answer.upper()}!" if random.random() < 0.5 else f"{answer} {random.choice(words)}"
        exact, f1 = score_exactly(answer, [right]), score_words(answer, [right])
        assert exact == (second_normalise(answer) == second_normalise(right)), (answer, right)
        assert f1 == pytest.approx(second_f1(answer, right)), (answer, right)
        matches += exact
        partial += 0 < f1 < 1
    # Both kinds were there.
    assert matches > 150
    assert partial > 150


def test_the_best_of_several_right_answers_counts() -> None:
    assert score_words("Anna Lindgren", ["Lindgren", "Anna"]) == pytest.approx(2 / 3)
    assert score_exactly("an Anna", ["Lindgren", "Anna"])
    assert score_words("Anna", []) == 0
    # Unlike in `squad_words`, a hyphen leaves no space.
    assert normalise_answer("jazz-rock") == ["jazzrock"]
