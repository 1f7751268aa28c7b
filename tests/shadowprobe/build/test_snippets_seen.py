"""Near duplicates among snippets that come in several rounds."""

from __future__ import annotations

from collections import Counter

from cutting import URL
from hypothesis import given, settings
from hypothesis import strategies as st

from shadowprobe.build import near_duplicates
from shadowprobe.build.near_duplicates import NearDuplicates
from shadowprobe.dataset.kept_pages import Cut

LONG = "Smith a b c d e f g h i j k l m n o p q r s t"


def made(text: str, entity: str = "Paul Smith") -> Cut:
    return Cut(entity, "Smith", text, 0, 5, entity, text, URL, 0)


def test_what_was_kept_in_one_round_is_remembered_in_the_next() -> None:
    seen, dropped = NearDuplicates(), Counter[str]()
    first, other = made(LONG), made("Smith was here and then there")
    assert list(seen.drop([first], dropped)) == [first]
    # A word in the middle is in 3 of 19 runs: 16 in common of 22.
    assert list(seen.drop([made(LONG.replace("j", "x"), "John Smith"), other], dropped)) == [other]
    assert list(seen.drop([first, other], dropped)) == []
    assert dropped == {near_duplicates.NEAR_DUPLICATE: 3}


def test_what_was_dropped_is_not_remembered() -> None:
    seen, dropped = NearDuplicates(), Counter[str]()
    near, far = LONG.replace("j", "x"), LONG.replace("j", "x").replace("d", "y")
    assert list(seen.drop([made(LONG), made(near)], dropped)) == [made(LONG)]
    # Nearly the same as the one that was dropped, and 13 in common of 25 with the one that was kept.
    assert list(seen.drop([made(far)], dropped)) == [made(far)]


def test_two_filters_are_independent() -> None:
    for seen in (NearDuplicates(), NearDuplicates()):
        assert list(seen.drop([made(LONG)], Counter())) == [made(LONG)]


ROUNDS = st.lists(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=12), max_size=6), max_size=4)


@settings(deadline=None)
@given(ROUNDS)
def test_rounds_keep_what_all_at_once_would_keep(rounds: list[list[list[str]]]) -> None:
    given_rounds = [[made(" ".join(["Smith", *text])) for text in texts] for texts in rounds]
    seen, apart, at_once = NearDuplicates(), Counter[str](), Counter[str]()
    kept = [cut for cuts in given_rounds for cut in seen.drop(cuts, apart)]
    assert kept == list(NearDuplicates().drop([cut for cuts in given_rounds for cut in cuts], at_once))
    assert apart == at_once
