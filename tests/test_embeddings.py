"""Word vectors and recorded sentences: how they load, and what the chapters say about them."""

import statistics
import time

import numpy as np
import pytest

from companion import cosine_similarity, dot, embeddings
from companion.embeddings import (
    load_head,
    load_layer,
    load_probes,
    load_sentence,
    load_word_vectors,
    recorded_heads,
    sentence_names,
)

PAIRS = """cat/cats dog/dogs bird/birds horse/horses cow/cows pig/pigs rabbit/rabbits lion/lions
tiger/tigers elephant/elephants bee/bees flower/flowers tree/trees apple/apples car/cars book/books
house/houses street/streets tower/towers animal/animals creature/creatures mole/moles river/rivers
city/cities country/countries baby/babies berry/berries king/kings queen/queens student/students
forest/forests foot/feet tooth/teeth goose/geese mouse/mice child/children man/men woman/women
person/people leaf/leaves knife/knives wolf/wolves ox/oxen octopus/octopuses octopus/octopi
cactus/cacti""".split()


def test_the_table_maps_each_word_to_its_row():
    wv = load_word_vectors()
    assert len(wv) == len(wv.words) == len(set(wv.words)) == 604
    assert wv.vectors.shape == (604, 50)
    assert wv.vectors.dtype == np.float32
    for row, word in enumerate(wv.words):
        assert word in wv
        np.testing.assert_array_equal(wv[word], wv.vectors[row])


def test_words_are_in_the_order_of_their_frequency():
    words = load_word_vectors().words
    assert words[:3] == ("the", "of", "to")
    in_order = ("it", "animal", "mole", "octopus", "octopuses", "octopi")
    assert sorted(in_order, key=words.index) == list(in_order)


def test_an_unknown_word_is_told_close_spellings():
    wv = load_word_vectors()
    assert "octopodes" not in wv
    with pytest.raises(KeyError, match=r"one of the 604 words kept; got 'octopodes'.*octopuses"):
        wv["octopodes"]
    with pytest.raises(KeyError, match=r"got 'Mole' \(close spellings: mole"):
        wv["Mole"]
    with pytest.raises(KeyError, match=r"got 'zzzz' \(no close spelling\)"):
        wv["zzzz"]


def test_nearest_lists_the_largest_cosines_and_leaves_the_word_itself_out():
    wv = load_word_vectors()
    found = wv.nearest("mole", 3)
    assert [word for word, _ in found] == ["squid", "snake", "rat"]
    for word, cosine in found:
        assert cosine == pytest.approx(float(cosine_similarity(wv["mole"], wv[word])), abs=1e-6)
    others = [w for w in wv.words if w not in {"mole", "squid", "snake", "rat"}]
    assert max(float(cosine_similarity(wv["mole"], wv[w])) for w in others) < found[-1][1]
    assert wv.nearest(wv["mole"], 1)[0] == ("mole", pytest.approx(1, abs=1e-6))
    assert wv.nearest(wv["king"] - wv["man"] + wv["woman"], 2)[1][0] == "queen"


@pytest.mark.parametrize(
    ("word", "k", "error", "message"),
    [
        (np.ones((1, 50)), 3, ValueError, r"word must have shape \(d,\) = \(50,\); got shape"),
        (np.ones(49), 3, ValueError, r"word must have shape \(d,\) = \(50,\); got shape \(49,\)"),
        (["cat"] * 50, 3, TypeError, "word must hold real numbers"),
        ("cat", -1, ValueError, "k must be at least 0; got -1"),
        ("cat", 2.5, TypeError, "k must be an integer; got 2.5"),
        ("octopodes", 3, KeyError, "word must be one of the 604 words kept; got 'octopodes'"),
    ],
)
def test_nearest_refuses_what_it_cannot_compare(word, k, error, message):
    with pytest.raises(error, match=message):
        load_word_vectors().nearest(word, k)


def test_the_plural_direction_over_the_numbers():
    wv = load_word_vectors()
    plural = wv["cats"] - wv["cat"]
    numbers = "one two three four five six seven eight nine ten eleven twelve".split()
    found = [float(dot(plural, wv[number])) for number in numbers]
    expected = [-2.4, 0.791, 1.268, 1.492, 1.752, 1.737, 2.343, 2.12, 2.622, 2.266, 3.524, 3.123]
    np.testing.assert_allclose(found, expected, atol=6e-4)


def test_the_plural_direction_over_pairs_of_nouns():
    wv = load_word_vectors()
    plural = wv["cats"] - wv["cat"]
    pairs = [pair.split("/") for pair in PAIRS]
    backwards = [one for one, many in pairs if dot(plural, wv[many] - wv[one]) < 0]
    assert backwards == ["leaf"]
    not_by_sign = [
        one for one, many in pairs if not dot(plural, wv[one]) < 0 < dot(plural, wv[many])
    ]
    assert not_by_sign == ["flower", "tower", "animal", "city", "forest", "foot", "tooth", "leaf"]


def test_every_sentence_has_its_shapes_and_types():
    assert len(sentence_names()) == 18
    for name in sentence_names():
        s = load_sentence(name)
        n = len(s.tokens)
        assert s.name == name
        assert s.tokens[0] == "[CLS]" and s.tokens[-1] == "[SEP]"
        joined = "".join(s.tokens[1:-1]).replace("##", "")
        assert joined == s.text.lower().replace(" ", "")
        assert s.states.shape == (7, n, 384) and s.states.dtype == np.float32
        assert s.weights.shape == (6, 12, n, n) and s.weights.dtype == np.float16
        assert s.delta_E(5).shape == (n, 384) and s.delta_E(5).dtype == np.float32
    assert 50 <= len(load_sentence("bees").tokens) <= 70


def test_position_finds_each_occurrence():
    s = load_sentence("dog_cat")
    assert (s.position("dog"), s.position("dog", 1)) == (2, 14)
    with pytest.raises(ValueError, match=r"more than 2 times in 'dog_cat'; got 'dog'.*2 times"):
        s.position("dog", 2)
    with pytest.raises(ValueError, match="got 'cow', which occurs 0 times"):
        s.position("cow")
    with pytest.raises(ValueError, match="more than -1 times"):
        s.position("dog", -1)


def test_unknown_names_are_told_the_known_ones():
    with pytest.raises(ValueError, match=r"name must be one of animal_tired, .*; got 'tired'"):
        load_sentence("tired")
    with pytest.raises(ValueError, match=r"\(layer, head\) must be one of .*3, 1.*got \(1, 1\)"):
        load_head(1, 1)
    with pytest.raises(ValueError, match=r"layer must be 5, .*; got 4"):
        load_layer(4)
    s = load_sentence("tower")
    with pytest.raises(ValueError, match=r"must be one of .*\(3, 1\).*; got \(1, 1\)"):
        s.head_weights(1, 1)
    with pytest.raises(ValueError, match="layer must be one of 5; got 4"):
        s.delta_E(4)


def arrays_handed_out():
    wv, s, probes = load_word_vectors(), load_sentence("tower"), load_probes()
    yield from (wv.vectors, wv["cat"], s.states, s.weights, s.head_weights(3, 1), s.delta_E(5))
    yield probes.states
    for trained in (load_head(3, 1), load_layer(5)):
        yield from vars(trained).values()


def test_nobody_can_change_what_others_load():
    arrays = list(arrays_handed_out())
    assert len(arrays) == 7 + 2 * 10
    for array in arrays:
        with pytest.raises(ValueError, match="read-only"):
            array += 1
    with pytest.raises(AttributeError):
        load_sentence("tower").states = None


def test_loading_takes_under_a_tenth_of_a_second():
    def fresh(load, *arguments):
        for function in vars(embeddings).values():
            if hasattr(function, "cache_clear"):
                function.cache_clear()
        start = time.perf_counter()
        load(*arguments)
        return time.perf_counter() - start

    assert statistics.median(fresh(load_word_vectors) for _ in range(5)) < 0.1
    assert statistics.median(fresh(load_sentence, "bees") for _ in range(5)) < 0.1


def weight(name, layer, head, query, key):
    s = load_sentence(name)
    return float(s.head_weights(layer, head)[s.position(query), s.position(key)])


@pytest.mark.parametrize(
    ("name", "layer", "head", "query", "key", "expected"),
    [
        ("animal_tired", 3, 1, "it", "animal", 0.677),
        ("animal_tired", 5, 11, "it", "animal", 0.673),
        ("animal_tired", 2, 1, "it", "tired", 0.715),
        ("animal_wide", 2, 1, "it", "wide", 0.872),
        # the heads that seem to resolve "it" do not follow the sense to the street
        ("animal_wide", 5, 11, "it", "animal", 0.558),
        ("animal_wide", 5, 11, "it", "street", 0.035),
        ("animal_wide", 3, 1, "it", "animal", 0.281),
        ("animal_wide", 3, 1, "it", "street", 0.121),
        ("bees", 3, 1, "she", "bee", 0.495),
        ("bees", 3, 1, "her", "bee", 0.516),
        ("creature", 0, 2, "creature", "blue", 0.9995),
    ],
)
def test_what_single_heads_do(name, layer, head, query, key, expected):
    assert weight(name, layer, head, query, key) == pytest.approx(expected, abs=6e-4)


def test_no_head_moves_it_to_the_street():
    wide = load_sentence("animal_wide")
    row, column = wide.position("it"), wide.position("street")
    assert float(wide.weights[:, :, row, column].max()) == pytest.approx(0.239, abs=6e-4)


def test_one_head_attends_to_the_previous_token():
    for name in sentence_names():
        s = load_sentence(name)
        previous = np.diagonal(s.head_weights(0, 2), offset=-1)[1:]  # not from the first word
        assert (previous > 0.98).all()


def test_a_word_seldom_attends_most_to_itself():
    itself = first = total = 0
    for name in sentence_names():
        s = load_sentence(name)
        largest = s.weights[:, :, 1:].argmax(axis=-1)  # all queries but [CLS]
        itself += (largest == np.arange(1, len(s.tokens))).sum()
        first += (largest == 0).sum()
        total += largest.size
    assert total == 15_696
    assert itself / total == pytest.approx(0.0216, abs=1e-3)
    assert first / total == pytest.approx(0.722, abs=1e-3)


def test_mole_enters_nearly_the_same_and_leaves_apart():
    recorded = [load_sentence(f"mole_{sense}") for sense in ("animal", "chemistry", "skin")]
    animal, chemistry, skin = (s.states[:, s.position("mole")] for s in recorded)
    pairs = ((animal, chemistry), (animal, skin), (chemistry, skin))
    for state, expected in ((0, [0.965, 0.953, 0.969]), (6, [0.658, 0.884, 0.705])):
        found = [float(cosine_similarity(a[state], b[state])) for a, b in pairs]
        np.testing.assert_allclose(found, expected, atol=6e-4)


def test_mole_moves_towards_carbon_only_in_chemistry():
    probes = load_probes()
    carbon = probes.states[:, probes.words.index("carbon")]
    found = {}
    for sense in ("animal", "chemistry", "skin"):
        s = load_sentence(f"mole_{sense}")
        states = s.states[:, s.position("mole")]
        found[sense] = [float(cosine_similarity(states[i], carbon[i])) for i in (0, 6)]
    np.testing.assert_allclose(found["animal"], [0.094, 0.058], atol=6e-4)
    np.testing.assert_allclose(found["chemistry"], [0.119, 0.260], atol=6e-4)
    np.testing.assert_allclose(found["skin"], [0.096, 0.013], atol=6e-4)


def test_probes_are_forty_words():
    probes = load_probes()
    assert len(probes.words) == len(set(probes.words)) == 40
    assert probes.states.shape == (7, 40, 384) and probes.states.dtype == np.float32


def test_tower_alone_leaves_the_model_nearest_to_building():
    s, probes = load_sentence("tower"), load_probes()
    cosines = cosine_similarity(probes.states[6], s.states[6, s.position("tower")])
    assert probes.words[int(cosines.argmax())] == "building"
    assert float(cosines.max()) == pytest.approx(0.465, abs=6e-4)


def test_a_head_is_its_part_of_the_layer():
    layer = load_layer(5)
    assert layer.W_Q.shape == layer.W_K.shape == layer.W_V.shape == (12, 384, 32)
    assert layer.W_O.shape == (384, 384)
    heads = [head for number, head in recorded_heads() if number == 5]
    assert heads == list(range(12))
    for head in heads:
        own = load_head(5, head)
        for name in ("W_Q", "W_K", "W_V", "b_Q", "b_K", "b_V"):
            np.testing.assert_array_equal(getattr(layer, name)[head], getattr(own, name))
        np.testing.assert_array_equal(layer.W_O[head * 32 : (head + 1) * 32], own.W_O)
        for name in ("b_O", "gamma", "beta"):
            np.testing.assert_array_equal(getattr(layer, name), getattr(own, name))
