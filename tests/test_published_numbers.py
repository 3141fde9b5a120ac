"""Every published number that the book reproduces, and the assertion that holds it.

A row says what the number is, in which file it is asserted, and the text of the assertion. The
test fails when the text is gone, or is no longer in a cell (or test function) that asserts
something with it. That the assertion is true is checked by running the file.
"""

import ast
import re
from functools import cache
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent

EMBEDDINGS = "notebooks/00_one_vector_per_word.ipynb"
DOT = "notebooks/01_dot_product.ipynb"
SOFTMAX = "notebooks/02_softmax.ipynb"
QKV = "notebooks/03_queries_keys_values.ipynb"
MASKING = "notebooks/04_masking.ipynb"
VALUES = "notebooks/05_value_updates.ipynb"
HEADS = "notebooks/06_multi_head.ipynb"
NOTATION = "book/notation.md"
MISCONCEPTIONS = "book/misconceptions.md"
TEST_VALUES = "tests/test_value_updates.py"

# (source, what, file, texts that stand together in one cell, at least one of them asserted)
NUMBERS = [
    # Alammar, The Illustrated Transformer
    ("Alammar", "q·k = 112, 96", QKV, ["np.allclose(raw[0], [112, 96])"]),
    ("Alammar", "÷ √64: 14, 12", QKV, ["np.allclose(scaled, [14, 12])"]),
    (
        "Alammar",
        "softmax 0.8807970780, 0.1192029220",
        SOFTMAX,
        ["np.allclose(divided, [0.8807970780, 0.1192029220], rtol=0, atol=5e-11)"],
    ),
    (
        "Alammar",
        "the same from 512-vectors",
        QKV,
        ["np.allclose(thinking, [0.8807970780, 0.1192029220], atol=1e-10)"],
    ),
    (
        "Alammar",
        "undivided 0.9999998875, 1.125e-7",
        SOFTMAX,
        ["np.allclose(undivided, [0.9999998875, 1.125e-7], rtol=0, atol=5e-11)"],
    ),
    ("Alammar", "d_model 512, d_k 64", QKV, ["rng.normal(size=(3, 8, 512, 64))", "(64,)"]),
    ("Alammar", "8 heads of 64 make 512", HEADS, ["8 * 64 == 512"]),
    # Vaswani et al. 2017
    ("Vaswani", "98,304 for Q, K, V of a head", HEADS, ["512 * 3 * 64 == 98_304"]),
    ("Vaswani", "W_O 262,144", HEADS, ["8 * 64 * 512 == 262_144"]),
    (
        "Vaswani",
        "4 · 512² = 1,048,576",
        HEADS,
        ["attention_parameters(512, 8, 64, 64) == 4 * 512**2 == 1_048_576"],
    ),
    (
        "Vaswani",
        "base model: 6 layers (18 attentions, 12 feed-forward layers), d_ff 2048",
        MISCONCEPTIONS,
        ["base_forward = 12 * 2 * 512 * 2048", "base_attention == 18_874_368 < base_forward"],
    ),
    ("Vaswani", "variance of q·k is d_k", QKV, ["np.isclose(S.std(), np.sqrt(d_k), rtol=0.02)"]),
    (
        "Vaswani",
        "Table 3: d_k 64 to 16 saves 7,077,888",
        HEADS,
        ["saved == 18 * 8 * 2 * 512 * 48 == 7_077_888"],
    ),
    ("Vaswani", "Table 3: 65 M to 58 M", HEADS, ["round(65 - saved / 1e6) == 58"]),
    # 3Blue1Brown, GPT-3
    (
        "3Blue1Brown",
        "12,288; 128; 96; 96",
        HEADS,
        [
            "d_model, d_k, n_heads, n_layers, n_vocabulary = 12_288, 128, 96, 96, 50_257",
            "assert count == published",
        ],
    ),
    *(
        ("3Blue1Brown", what, HEADS, [text, "assert count == published"])
        for what, text in [
            ("one W_Q", '("one W_Q", one_W_Q, 1_572_864)'),
            ("a square value map", '("square value map", square_value_map, 150_994_944)'),
            ("one head", '("one head", one_head, 6_291_456)'),
            ("one block", '("attention of one block", one_block, 603_979_776)'),
            ("all W_Q", '("all W_Q", all_W_Q, 14_495_514_624)'),
            ("all attention", '("all attention", all_attention, 57_982_058_496)'),
        ]
    ),
    (
        "3Blue1Brown",
        "MLP up = MLP down = attention",
        HEADS,
        ["mlp_up == mlp_down == all_attention == 57_982_058_496"],
    ),
    (
        "3Blue1Brown",
        "why they are equal",
        HEADS,
        ["one_block == 4 * d_model**2 == d_model * (4 * d_model)"],
    ),
    ("3Blue1Brown", "total", HEADS, ["total == 175_181_291_520"]),
    ("3Blue1Brown", "33.1 %", HEADS, ['f"{all_attention / total:.1%}" == "33.1%"']),
    ("3Blue1Brown", "27,938 matrices", HEADS, ["matrices == 27_938"]),
    # nanoGPT
    ("nanoGPT", "2,360,064 a layer", HEADS, ["sum(parameters.values()) == 2_360_064"]),
    (
        "nanoGPT",
        "QKV 1,769,472, output 589,824",
        HEADS,
        ["list(parameters.values()) == [1_769_472, 589_824, 768]"],
    ),
    (
        "nanoGPT",
        "FLOPs of QKV, scores, weighted sum, output",
        HEADS,
        ["list(flops.values()) == [3_623_878_656, 1_610_612_736, 1_610_612_736, 1_207_959_552]"],
    ),
    ("nanoGPT", "the n² part is 40 %", HEADS, ["np.isclose(quadratic, 0.4)"]),
    # Raschka
    (
        "Raschka 3.3",
        "the six inputs",
        MISCONCEPTIONS,
        [
            "np.allclose(right, published, atol=6e-5)",
            "[0.43, 0.15, 0.89], [0.55, 0.87, 0.66], [0.57, 0.85, 0.64], "
            "[0.22, 0.58, 0.33], [0.77, 0.25, 0.10], [0.05, 0.80, 0.55]",
        ],
    ),
    (
        "Raschka 3.3",
        "scores of journey",
        SOFTMAX,
        [
            '"scores": [0.9544, 1.4950, 1.4754, 0.8434, 0.7070, 1.0865]',
            'np.allclose(S6[journey], published["scores"], atol=6e-5)',
        ],
    ),
    (
        "Raschka 3.3",
        "weights of journey",
        SOFTMAX,
        [
            '"weights": [0.1385, 0.2379, 0.2333, 0.1240, 0.1082, 0.1581]',
            'np.allclose(right[journey], published["weights"], atol=6e-5)',
        ],
    ),
    (
        "Raschka 3.3",
        "context vector of journey",
        SOFTMAX,
        [
            '"mixture": [0.4419, 0.6515, 0.5683]',
            'np.allclose(right[journey] @ X6, published["mixture"], atol=6e-5)',
        ],
    ),
    (
        "Raschka 3.3",
        "symmetric, so a mixed-up axis does not show",
        SOFTMAX,
        ["np.array_equal(S6, S6.T)", "np.allclose(down, right.T)"],
    ),
    (
        "Raschka 3.5",
        "zero, then renormalise = −inf, then softmax",
        MASKING,
        ["np.allclose(one_way, other_way, rtol=1e-14)", "renormalise(softmax(S_6)"],
    ),
    # Prince
    (
        "Prince 12.1",
        "unscaled x'0",
        NOTATION,
        [
            "published = [0.94744244, -0.24348429, -0.91310441, -0.44522983]",
            "np.allclose(unscaled[:, 0], published, rtol=0, atol=5e-9)",
        ],
    ),
    (
        "Prince 12.1",
        "scaled x'0",
        NOTATION,
        [
            "by_root_4 = [0.97411966, -0.23738409, -0.72333202, -0.34413007]",
            "np.allclose(scaled[:, 0], by_root_4, rtol=0, atol=5e-9)",
        ],
    ),
    (
        "Prince 12.1",
        "the same by the companion",
        TEST_VALUES,
        [
            "published = [0.94744244, -0.24348429, -0.91310441, -0.44522983]",
            "scaled = [0.97411966, -0.23738409, -0.72333202, -0.34413007]",
            "assert_allclose(unscaled[0], published, rtol=0, atol=5e-9)",
        ],
    ),
    # overflow
    ("overflow", "710 and 89", SOFTMAX, ["limits == [710, 89, 12]"]),
    ("overflow", "nan in float64", SOFTMAX, ["plain_softmax(np.array([710.0, 0.0]))[0]"]),
    ("overflow", "nan in float32", SOFTMAX, ["plain_softmax(np.array([89, 0], dtype=np.float32))"]),
    # √d_k
    ("√d_k", "std of q·k", QKV, ["np.isclose(random_scores[d_k].std(), std, rtol=0.01)"]),
    *(
        ("√d_k", f"row {row.split(':')[0]}", QKV, [row, "columns, atol=0.002"])
        for row in [
            "1: (0.994, 0.307, 0.0981, 0.307, 0.0981)",
            "16: (3.989, 0.748, 0.0436, 0.355, 0.0963)",
            "64: (7.967, 0.873, 0.0224, 0.356, 0.0964)",
            "256: (15.902, 0.937, 0.0113, 0.356, 0.0964)",
            "1024: (31.923, 0.967, 0.0059, 0.361, 0.0960)",
        ]
    ),
    # a query that may attend to nothing
    ("nothing left", "mean of V, −1e9", MASKING, ["filled.item() == 15"]),
    (
        "nothing left",
        "mean of V, −1e6",
        MASKING,
        ["softmax(np.where(none, S_2, -1e6)).tolist() == [[0.5, 0.5]]"],
    ),
    ("nothing left", "nan", MASKING, ["np.isnan(infinite.item())"]),
    ("nothing left", "the unmasked weights", MASKING, ["np.isclose(added.item(), 17.5"]),
    ("nothing left", "an error", MASKING, ["refuse_empty_rows(none)", "assert refused"]),
    ("nothing left", "zeros", MASKING, ["ours.item() == 0"]),
    # what a boolean mask means
    (
        "mask",
        "True = may attend, True = hidden, additive",
        MASKING,
        ["np.array_equal(~hides, ours)", "np.array_equal(additive == 0, ours)"],
    ),
    (
        "mask",
        "conversions of five libraries",
        NOTATION,
        ["np.array_equal(~hidden, ours)", "np.array_equal(zeros_and_ones == 1, ours)"],
    ),
]

# The popular claims, each tested on data or by a counterexample
CLAIMS = [
    (1, "attends most to itself", VALUES, ["np.allclose(overall, [2.2, 72.2, 25.6], atol=0.05)"]),
    (1, "attends most to itself", MISCONCEPTIONS, ["np.isclose(wrong, 0.022, atol=5e-4)"]),
    (
        2,
        "(cats − cat)·number rises",
        DOT,
        [
            "to_five = [-2.400, 0.791, 1.268, 1.492, 1.752]",
            "to_ten = [1.737, 2.343, 2.120, 2.622, 2.266]",
            "np.allclose(answers[:10], to_five + to_ten, atol=6e-4)",
        ],
    ),
    (2, "it stops at six", DOT, ["assert answers[5] < answers[4]"]),
    (2, "rises with the number", MISCONCEPTIONS, ['np.isclose(answers["six"], 1.737, atol=6e-4)']),
    (3, "plural: foot, feet", DOT, ['("foot", -2.768), ("feet", -2.187)', "answer, atol=6e-4"]),
    (3, "plural: octopodes", DOT, ['assert "octopodes" not in wv']),
    (3, "plural", MISCONCEPTIONS, ["np.allclose(right, [0.581, -0.137], atol=6e-4)"]),
    (4, "keys and values", QKV, ['"keys with values"', 'assert agrees == (name == "right")']),
    (4, "keys and values", MISCONCEPTIONS, ["np.isclose(wrong, 0.057, atol=6e-4)"]),
    (5, "the sum by the sum", SOFTMAX, ["np.exp(scores).sum() / np.exp(scores).sum() == 1"]),
    (5, "the sum by the sum", MISCONCEPTIONS, ["terms.sum() / terms.sum()", "assert wrong == 1"]),
    (6, "the lower half", MASKING, ["np.allclose(by_columns, by_rows.T)"]),
    (6, "the lower half", NOTATION, ["np.array_equal(upper, causal_mask(n_keys).T)"]),
    (6, "the lower half", MISCONCEPTIONS, ["lower_half_masked", "np.allclose(wrong, [1 / 3"]),
    (
        7,
        "unchanged by more heads",
        HEADS,
        ["distances == {1: 0.91, 2: 0.87, 4: 0.73, 6: 0.55, 12: 0.0}", "products == 36_793_344"],
    ),
    (7, "unchanged by more heads", MISCONCEPTIONS, ["np.abs(wrong - right).max() > 0.1"]),
    (8, "scaling: the slope", QKV, ["np.isclose(slope(undivided)[0], 1.1e-7, rtol=0.05)"]),
    (8, "scaling: no overflow", QKV, ["np.abs(S).max() < 710"]),
    (8, "scaling", MISCONCEPTIONS, ["np.isfinite(undivided).all()", "np.isclose(right, 0.105"]),
    (
        9,
        "the map explains: tired",
        HEADS,
        ["tired.head_weights(5, 11)[it, animal] - 0.673) < 5e-4"],
    ),
    (
        9,
        "the map explains: wide",
        HEADS,
        [
            "wide.head_weights(5, 11)[it, animal] - 0.558) < 5e-4",
            "wide.head_weights(5, 11)[it, street] - 0.035) < 5e-4",
        ],
    ),
    (9, "the map explains", MISCONCEPTIONS, ["np.allclose(right, [0.558, 0.035], atol=6e-4)"]),
    (
        10,
        "mole is the animal",
        EMBEDDINGS,
        ['near[:3] == ["squid", "snake", "rat"]', "not (chemistry | skin) & set(near)"],
    ),
    (10, "mole", MISCONCEPTIONS, ['near == ["squid", "snake", "rat"]']),
]

# What each chapter must contain
CONTENTS = [
    (0, "one static vector for mole in three phrases", EMBEDDINGS, ['looked_up["chemistry"])']),
    (0, "three towers, the same row", EMBEDDINGS, ['np.array_equal(tower, wv["tower"])']),
    (0, "different vectors after a trained model", EMBEDDINGS, ["[0.658, 0.884, 0.705]"]),
    (1, "sign and angle", DOT, ["products.tolist() == [8, 0, -5, -10, 1]"]),
    (1, "cosine against length", DOT, ['larger == ["dog"]']),
    (1, "plural over many pairs", DOT, ["in_order.sum() == 60", "right_signs.sum() == 50"]),
    (1, "one … twelve", DOT, ['answers.argmax() == numbers.index("eleven")']),
    (1, "a question asked of a vector", DOT, ["(fitting[:, 0] < 0).all()"]),
    (2, "exponent, sum, divide", SOFTMAX, ["np.allclose(weights, softmax(scores))"]),
    (2, "why soft", SOFTMAX, ["np.allclose(cold, hard_maximum(row), atol=1e-6)"]),
    (2, "shift invariance", SOFTMAX, ["np.allclose(softmax(scores + 100), weights)"]),
    (2, "the stable form", SOFTMAX, ["stable_softmax(np.array([1000.0, 1000.0])), [0.5, 0.5]"]),
    (2, "temperature", SOFTMAX, ["softmax(scores, temperature=2), softmax(scores / 2)"]),
    (2, "which axis", SOFTMAX, ["np.allclose(by_column, [[0.5, 0.75], [0.5, 0.25]])"]),
    (2, "integers", SOFTMAX, ["np.allclose(stable_softmax(wide), softmax([0, 1]), atol=1e-3)"]),
    (2, "float16", SOFTMAX, ["softmax(many).dtype == np.float16"]),
    (3, "the creature's question", QKV, ["kind_only[3].tolist() == [0, 8, 8, 0, 0, 0, 8, 0]"]),
    (3, "8×8 score table", QKV, ["np.allclose(found[0], [6.85, 6.85, 2.99], atol=0.01)"]),
    (3, "what W_Q = W_K does", QKV, ["np.allclose(same, same.T)"]),
    (3, "rank of W_Q W_Kᵀ", QKV, ["rank == 32"]),
    (3, "a trained head recomputed", QKV, ["difference < 1e-5", "sentence.head_weights(3, 1)"]),
    (4, "−inf before, zero after", MASKING, ["results['-inf before'], right"]),
    (4, "both triangles", MASKING, ["np.array_equal(upper, causal_mask(4).T)"]),
    (4, "padding", MASKING, ["np.allclose(on_keys.ravel(), [1.5, 1.5, 1.5])"]),
    (4, "both masks", MASKING, ["np.allclose(received.ravel(), [1, 1.5, 2, 2, 2])"]),
    (4, "the leak test", MASKING, ["not leaks(with_mask(causal_mask(6)))"]),
    (5, "weighted sum", VALUES, ["np.array_equal(A @ V, [[17.5], [15]])"]),
    (5, "E′ = E + ΔE", VALUES, ["np.array_equal(residual_update(E, delta_E), [[11, 22]])"]),
    (5, "matrices for all tokens", VALUES, ["np.allclose(mix(A, V), mix_by_loops(A, V))"]),
    (5, "low-rank value map", VALUES, ["np.linalg.matrix_rank(value_map) == 3"]),
    (5, "a fluffy blue creature", VALUES, ["[0.49, 0.49, 0.01, 1, 0, 0], atol=0.006"]),
    (5, "mole in the model", VALUES, ["mole_cosines[:, 6], [0.658, 0.884, 0.705], atol=6e-4"]),
    (5, "tower in the model", VALUES, ["paris[0], [0.147, 0.215, 0.115, 0.161], atol=6e-4"]),
    (5, "tower, layer by layer", VALUES, ["nearer[:, :6].max() < 0.03"]),
    (6, "8 heads, loop and sum", HEADS, ["np.allclose(by_sum, by_loop, rtol=0, atol=1e-12)"]),
    (6, "split-reshape", HEADS, ["np.allclose(at_once, by_loop, rtol=0, atol=1e-12)"]),
    (6, "the reshape that scrambles", HEADS, ["wrong[0].tolist() == [[0, 1], [2, 3], [4, 5]]"]),
    (6, "it in several trained heads", HEADS, ["over_half == [(3, 1), (5, 11)]"]),
    (6, "a trained layer recomputed", HEADS, ["steps.output, tired.delta_E(5), rtol=0, atol=1e-5"]),
    (6, "a table of 72 heads", HEADS, ['counts == {"F": 59, "B": 8, "P": 2, "N": 1']),
]

ROWS = NUMBERS + CLAIMS + CONTENTS


def words(text):
    """Text without differences that a formatter makes: white space, quotes, trailing commas."""
    text = re.sub(r"\s+", "", text.replace("'", '"'))
    return re.sub(r",([)\]}])", r"\1", text)


@cache
def pieces(name):
    """The code of a file in pieces that belong together: cells, or the functions of a test."""
    text = (ROOT / name).read_text(encoding="utf-8")
    if name.endswith(".ipynb"):
        cells = nbformat.reads(text, as_version=4).cells
        return [cell.source for cell in cells if cell.cell_type == "code"]
    if name.endswith(".md"):
        return re.findall(r"^```\{code-cell\}.*?\n(?:---\n.*?^---\n)?(.*?)^```$", text, re.M | re.S)
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return [ast.get_source_segment(text, node) for node in functions]


def asserted(code):
    """The assertions in a piece of code, as text."""
    for node in ast.walk(ast.parse(code)):
        is_call = isinstance(node, ast.Call) and ast.unparse(node.func).startswith("assert_")
        if isinstance(node, ast.Assert) or is_call:
            yield ast.get_source_segment(code, node)


def is_asserted(texts, code):
    """Whether all texts stand in the code, and at least one of them in an assertion."""
    texts = [words(text) for text in texts]
    if not all(text in words(code) for text in texts):
        return False
    return any(text in words(found) for text in texts for found in asserted(code))


@pytest.mark.parametrize(
    ("source", "what", "name", "texts"), ROWS, ids=[f"{row[0]}: {row[1]}: {row[2]}" for row in ROWS]
)
def test_the_number_is_asserted(source, what, name, texts):
    assert any(is_asserted(texts, code) for code in pieces(name)), (
        f"{source}, {what}: no cell of {name} asserts {texts}"
    )


def test_the_table_finds_what_is_missing():
    code = "x = [1, 2]\nassert np.allclose(\n    x, [1, 2], atol=0.1\n)\nprint(3)"
    assert is_asserted(["np.allclose(x, [1, 2], atol=0.1)"], code)
    assert is_asserted(["x = [1, 2]", "[1, 2], atol=0.1"], code)
    assert not is_asserted(["np.allclose(x, [1, 3], atol=0.1)"], code)
    assert not is_asserted(["print(3)"], code), "there, but not asserted"
    assert not is_asserted(["x = [1, 2]", "[9, 9]"], code), "only one of two"


def test_every_popular_claim_is_there_in_a_chapter_and_among_the_misconceptions():
    for number in range(1, 11):
        names = {row[2] for row in CLAIMS if row[0] == number}
        assert MISCONCEPTIONS in names, number
        assert any(name.startswith("notebooks/") for name in names), number
