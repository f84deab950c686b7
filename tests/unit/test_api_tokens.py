"""API tokens: which strings of code and prose they are, and where they stand."""

from __future__ import annotations

import time

import pytest

from hybridrank.text.api_tokens import api_token_set, api_tokens, word_set, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Calls, dotted names, constants and literals, each language in its way.
        ('if Input.is_action_pressed("move_left"):', "Input.is_action_pressed is_action_pressed move_left"),
        ("position = position.clamp(Vector2.ZERO, size)", "position.clamp clamp Vector2.ZERO Vector2 ZERO"),
        ("$AnimatedSprite2D.play()", "AnimatedSprite2D.play AnimatedSprite2D play"),
        ("@export var speed = 4", "@export"),
        ("self.client.send(data)", "client.send send"),
        ("this.size", ""),
        ("velocity.x += Vector2.X", "Vector2"),
        ("std::vector<int> v; p->next = nullptr;", "std::vector p->next"),
        ("user?.name", "user?.name"),
        ("println!(x)", "println"),
        ("MAX_SIZE = getUserName(utf8)", "MAX_SIZE getUserName utf8"),
        ("@app.route('/users')", "@app.route app.route route /users"),
        ("a.b_c.d.e()", "a.b_c.d.e b_c.d.e d.e b_c e"),
        ("_process and __init__", "_process __init__"),
        # What calls nothing, and what any prose has.
        ("if (x) while(y) for(z) return(1)", ""),
        ("The player moves; it is fast. Then it stops.", ""),
        ("e.g. this, i.e. that, 3D and 3.14 of x2", ""),
        ("x._ and _", ""),
        # Prose about code.
        ("call `clamp`, then play() and move_left", "clamp play move_left"),
        ("使用position.clamp限制，再用play()。", "position.clamp play"),
        ("the player's speed isn't high", ""),
        ('f("a", "walk", "in the air")', "f|walk|in the air"),
        ("say(\"off\") or say('on top')", "say|off|on top"),
        ('"not closed', ""),
        ('x = "" + ""', ""),
        ("``code``", "code"),
        (r'a \"quoted\" word, "a \" b" ', r"a \" b|"),
        ("'don't' and 'do'", "do"),
        (f'"{"x" * 101}" "on"', "on"),
        ("", ""),
    ],
)
def test_what_is_a_token(text: str, expected: str) -> None:
    wanted = set(filter(None, expected.split("|"))) if "|" in expected else set(expected.split())
    assert set(api_tokens(text)) == wanted


def test_each_token_has_the_first_place_where_it_stands() -> None:
    text = "x = screen_size\ny = screen_size\nz = 'walk'"
    assert dict(api_tokens(text)) == {"screen_size": (4, 15), "walk": (37, 41)}
    assert text[37:41] == "walk"


def test_tokens_cannot_be_changed() -> None:
    with pytest.raises(TypeError):
        api_tokens("a_b")["c"] = (0, 1)  # type: ignore[index]


def test_words_of_prose() -> None:
    assert dict(words("The Player, a screen_size 血糖计 x")) == {
        "the": (0, 3),
        "player": (4, 10),
        "screen": (14, 20),
        "size": (21, 25),
        "血糖": (26, 28),
        "糖计": (27, 29),
    }
    assert dict(words("光")) == {"光": (0, 1)}


@pytest.mark.parametrize("text", ["a.b_c() 'x y' 3Dx", "血糖 screen_size éa", "", '"' * 9, "@a.bC `d` I'm"])
def test_sets_are_the_tokens_without_places(text: str) -> None:
    assert api_token_set(text) == set(api_tokens(text))
    assert word_set(text) == set(words(text))


@pytest.mark.parametrize(
    "unit",
    [
        '"',
        "'",
        "`",
        '\\"',
        "'\"`",
        "a.",
        "a_",
        "aA",
        "self.",
        "@",
        "a::b->",
        "(",
        "a(",
        '"a',
        "\u4f7f",
        "x ' ",
    ],
)
def test_time_is_linear(unit: str) -> None:
    def seconds(size: int) -> float:
        text = unit * (size // len(unit))
        started = time.process_time()
        api_tokens(text)
        words(text)
        return time.process_time() - started

    # A quadratic one takes minutes for this; the bound is wide, since machines differ.
    assert seconds(30_000) < 5
