"""Where a name stands in a text: spans made right, names found, templates learned."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shadowprobe.base.spans import (
    CheckedSpan,
    Span,
    Template,
    check_span,
    find_name,
    infer_template,
    is_inside_word,
    repair_span,
    trim,
)


@pytest.mark.parametrize(
    ("text", "name", "places"),
    [
        ("Ree met three Rees at Ree.", "Ree", [(0, 3), (22, 25)]),
        ("no such name", "Ree", []),
        ("C++ or C, not C++11; C++.", "C++", [(0, 3), (21, 24)]),
        ("A.C. and ABCD and xA.C.", "A.C.", [(0, 4)]),
        ("(Ree) [Ree] Ree's", "Ree", [(1, 4), (7, 10), (12, 15)]),
        ("the book _Ree_ by X", "Ree", [(10, 13)]),
        ("Reeß Ree2 ÉRee", "Ree", []),
        ("Duran Duran Duran", "Duran Duran", [(0, 11), (6, 17)]),
        ("\U0001f600 Ree", "Ree", [(2, 5)]),
        ("anything", "", []),
    ],
)
def test_a_name_is_found_wherever_no_letter_or_digit_touches_it(
    text: str, name: str, places: list[tuple[int, int]]
) -> None:
    assert find_name(text, name) == places


def test_the_case_of_a_name_matters_by_default() -> None:
    assert find_name("REE and Ree and ree", "Ree") == [(8, 11)]
    assert find_name("REE and Ree and ree", "Ree", any_case=True) == [(0, 3), (8, 11), (16, 19)]


@given(st.text("aA1_ .+", max_size=14), st.text("aA1_ .+", min_size=1, max_size=3))
@example("a+a+a", "a+a")
@settings(deadline=None)
def test_a_search_for_whole_words_finds_just_what_looking_at_every_place_finds(text: str, name: str) -> None:
    places = [Span(start, start + len(name)) for start in range(len(text)) if text.startswith(name, start)]
    assert find_name(text, name) == [place for place in places if not is_inside_word(text, place)]


@pytest.mark.parametrize(
    ("text", "span", "inside"),
    [
        ("Ree", Span(0, 3), False),
        ("three", Span(2, 5), True),
        ("Rees", Span(0, 3), True),
        ("9Ree", Span(1, 4), True),
        ("'Ree-", Span(1, 4), False),
        ("_Ree_", Span(1, 4), False),
    ],
)
def test_a_span_is_inside_a_word_where_a_letter_or_digit_touches_it(text: str, span: Span, inside: bool) -> None:
    assert is_inside_word(text, span) is inside


def test_a_span_is_trimmed_of_the_white_space_at_its_ends() -> None:
    assert trim("at \t Ree Tor\u00a0.", Span(2, 13)) == Span(5, 12)
    assert trim("at Ree", Span(3, 6)) == Span(3, 6)
    assert trim("at   Ree", Span(2, 5)) == Span(5, 5)


@pytest.mark.parametrize(
    ("text", "name", "span"),
    [
        ("She met Ree.", "Ree", Span(8, 11)),
        ("She met REE.", "Ree", Span(8, 11)),
        ("Ree met Ree.", "Ree", Span(8, 11)),
        ("\U0001f600 and Ree", "Ree", Span(6, 9)),
        ("written in C++.", "C++", Span(11, 14)),
    ],
    ids=["plain", "other case", "second of two", "beyond the BMP", "regex characters"],
)
def test_a_span_with_its_name_is_kept_without_a_problem(text: str, name: str, span: Span) -> None:
    assert repair_span(text, name, span) == CheckedSpan(span, "", moved=False)


@pytest.mark.parametrize("start", [-1, -4, 5, 9, 400], ids=str)
def test_a_wrong_span_goes_where_the_name_stands_if_that_is_one_place(start: int) -> None:
    checked = repair_span("She met Ree at three.", "Ree", Span(start, start + 3))
    assert (checked.span, checked.moved) == (Span(8, 11), True)


@pytest.mark.parametrize(
    ("span", "problem"),
    [
        (Span(-1, 2), "negative offset"),
        (Span(0, 3), "span on other words"),
        (Span(9, 200), "offset outside the text"),
        (Span(5, 5), "offset outside the text"),
        (Span(8, 5), "offset outside the text"),
    ],
)
def test_the_problem_of_a_span_is_reported(span: Span, problem: str) -> None:
    assert repair_span("She met Ree at three.", "Ree", span) == CheckedSpan(Span(8, 11), problem, moved=True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Ree and Ree.", "negative offset, and the name stands in 2 places"),
        ("three trees", "negative offset, and the name is not in the text"),
        ("REE, ree, rEE", "negative offset, and the name stands in 3 places"),
    ],
)
def test_a_wrong_span_is_given_up_where_the_name_stands_in_no_place_or_in_several(text: str, why: str) -> None:
    assert repair_span(text, "Ree", Span(-1, 2)) == CheckedSpan(None, why, moved=False)


def test_a_place_in_the_same_case_is_preferred_to_one_in_another() -> None:
    assert repair_span("In northern In, in contrast", "In", Span(-1, 1)).span is None
    assert repair_span("in northern In, in contrast", "In", Span(-1, 1)).span == Span(12, 14)
    assert repair_span("the matroid polytope of", "Matroid polytope", Span(-1, 15)).span == Span(4, 20)


@pytest.mark.parametrize("span", [Span(3, 7), Span(4, 8), Span(3, 8)])
def test_white_space_at_the_ends_of_a_span_is_trimmed(span: Span) -> None:
    # The name stands twice: trimming looks at the span, it does not search.
    assert repair_span("at\n Ree and Ree", "Ree", span) == CheckedSpan(
        Span(4, 7), "white space in the span", moved=True
    )


def test_a_span_whose_name_differs_only_in_inner_white_space_is_kept_and_listed() -> None:
    assert repair_span("in New\u00a0 York.", "New York", Span(3, 12)) == CheckedSpan(
        Span(3, 12), "white space in the span", moved=False
    )


def test_a_span_inside_a_longer_word_moves_to_the_only_whole_word() -> None:
    checked = repair_span("In three weeks at Ree.", "Ree", Span(5, 8))
    assert checked == CheckedSpan(Span(18, 21), "span inside a longer word", moved=True)


@pytest.mark.parametrize("text", ["In three weeks.", "In three weeks Ree met Ree."])
def test_a_span_inside_a_longer_word_stays_where_no_single_whole_word_is_to_be_had(text: str) -> None:
    assert repair_span(text, "ree", Span(5, 8)) == CheckedSpan(Span(5, 8), "span inside a longer word", moved=False)


def test_a_trimmed_span_inside_a_longer_word_moves_to_the_only_whole_word_too() -> None:
    assert repair_span("at Rees, at Ree", "Ree", Span(2, 6)) == CheckedSpan(
        Span(12, 15), "white space in the span", moved=True
    )
    assert repair_span("at Rees", "Ree", Span(2, 6)) == CheckedSpan(Span(3, 6), "white space in the span", moved=True)


@given(
    st.text("abA .", max_size=12),
    st.text("abA .", min_size=1, max_size=3).filter(str.strip),
    st.integers(-3, 14),
    st.integers(-2, 5),
)
@settings(deadline=None)
def test_a_mended_span_always_holds_its_name(text: str, name: str, start: int, length: int) -> None:
    checked = repair_span(text, name, Span(start, start + length))
    if checked.span is None:
        assert checked.problem
        assert not checked.moved
        return
    held = text[checked.span.start : checked.span.end]
    assert 0 <= checked.span.start < checked.span.end <= len(text)
    assert held.split() != []
    assert " ".join(held.casefold().split()) == " ".join(name.casefold().split())
    assert checked.moved is (checked.span != Span(start, start + length))


def test_a_template_is_what_stands_around_the_names() -> None:
    texts = ["I see Fiorina today.", "I see C++ today.", "I see A.C. today."]
    template = infer_template(texts, ["Fiorina", "C++", "A.C."])
    assert template == Template("I see ", " today.")


def test_a_template_finds_a_name_that_stands_in_its_own_words_too() -> None:
    texts = ["There is Ree. In the end.", "There is Goo. In the end.", "There is In. In the end."]
    template = infer_template(texts, ["Ree", "Goo", "In"])
    assert template is not None
    assert template.locate(texts[2], "In") == Span(9, 11)


def test_the_template_of_most_texts_wins_and_does_not_fit_the_others() -> None:
    texts = ["We saw Ree.", "I see Goo.", "I see Exley."]
    template = infer_template(texts, ["Ree", "Goo", "Exley"])
    assert template == Template("I see ", ".")
    assert template.locate("We saw Ree.", "Ree") is None
    assert template.locate("I see Ree!", "Ree") is None


def test_no_template_is_learned_where_every_name_stands_more_than_once_or_not_at_all() -> None:
    assert infer_template([], []) is None
    assert infer_template(["In there, In.", "nothing here", "empty"], ["In", "Ree", ""]) is None


@pytest.mark.parametrize(
    ("span", "checked", "action"),
    [
        (Span(0, 4), CheckedSpan(Span(0, 4)), "kept"),
        (Span(4, 9), CheckedSpan(Span(5, 9), "white space in the span", moved=True), "repaired"),
        (Span(9, 10), CheckedSpan(Span(9, 10)), "kept"),
        (Span(4, 5), CheckedSpan(None, "span of nothing but white space"), "dropped"),
        (Span(-1, 4), CheckedSpan(None, "offset outside the text"), "dropped"),
        (Span(4, 4), CheckedSpan(None, "offset outside the text"), "dropped"),
        (Span(5, 11), CheckedSpan(None, "offset outside the text"), "dropped"),
    ],
)
def test_a_span_without_a_name_is_kept_trimmed_or_dropped(span: Span, checked: CheckedSpan, action: str) -> None:
    found = check_span("Avon Berg!", span)
    assert found == checked
    assert found.action == action
