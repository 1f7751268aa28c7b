"""The options of a system in the card of a run."""

from shadowprobe.systems.options import mask_options


def test_options_are_written_down_without_secrets() -> None:
    given = {
        "url": "http://h/?k=v",
        "apikey": "A",
        "api_key": "B",
        "my_token": "C",
        "keyword": "D",
        "n": 3,
        "none": None,
        "max_tokens": 512,
    }
    assert mask_options(given) == {
        "url": "http://h/?k=***",
        "apikey": "***",
        "api_key": "***",
        "my_token": "***",
        "keyword": "D",
        "n": 3,
        "none": None,
        "max_tokens": 512,
    }
