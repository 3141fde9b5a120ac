"""The checks bite: each way of getting attention wrong turns unit tests and a notebook red.

Every test copies the package, breaks one line of the copy on purpose, and requires the module's
unit tests and the chapter's notebook to fail on it. A copy without a breakage must pass.
"""

import ast
import functools
import shutil
from pathlib import Path
from typing import NamedTuple

import nbformat
import pytest
from in_a_copy import run, run_file, run_pytest

ROOT = Path(__file__).parent.parent
CHAPTERS = {
    "embeddings": "00_one_vector_per_word",
    "dot_product": "01_dot_product",
    "distributions": "02_softmax",
    "queries_keys_values": "03_queries_keys_values",
    "masking": "04_masking",
    "value_updates": "05_value_updates",
    "multi_head": "06_multi_head",
    "gradients": "08_learning",
    "encoder": "07_real_transformer",
    "efficient": "09_cost",
}
# one example that fails is enough: fewer are tried, and none is made smaller
FAST_PROPERTIES = """
from hypothesis import Phase
settings.register_profile(
    "fast", settings.get_profile("repeatable"), max_examples=10, phases=[Phase.generate]
)
settings.load_profile("fast")
"""


class Breakage(NamedTuple):
    """One deliberate mistake: `old`, which the module holds exactly once, becomes `new`."""

    function: str
    """The public function that it spoils."""
    what: str
    old: str
    new: str
    module: str
    chapter: str | None = ""
    """Whose notebook must go red; the module's own if not given, none if no chapter shows it."""
    tests: str = ""
    """Whose unit tests must go red; the module's own if not given."""

    @property
    def notebook(self):
        return self.chapter and CHAPTERS[self.chapter]


def table(module, *rows):
    """Breakages of one module; a row is function, what, old, new and changes of the defaults."""
    for function, what, old, new, *others in rows:
        changes = {"chapter": module, "tests": module, **dict(others)}
        yield Breakage(function, what, old, new, module, **changes)


NO_CHAPTER = ("chapter", None)  # something that no notebook has a reason to show

BREAKAGES = [
    *table(
        "embeddings",
        ("nearest", "smallest first", "np.argsort(-cosines)", "np.argsort(cosines)"),
        (
            "nearest",
            "dot product for cosine",
            "cosine_similarity(self.vectors, self[word] if is_word else word)",
            "self.vectors @ (self[word] if is_word else word)",
        ),
        (
            "nearest",
            "the word itself left in",
            " if not (is_word and self.words[row] == word)",
            "",
        ),
        (
            "head_weights",
            "transposed",
            'self._head_weights, (layer, head), "(layer, head)")',
            'self._head_weights, (layer, head), "(layer, head)").T',
        ),
    ),
    *table(
        "dot_product",
        ("dot", "sum over the first axis", "(a * b).sum(axis=-1)", "(a * b).sum(axis=0)"),
        ("dot", "entries added", "(a * b).sum(axis=-1)", "(a + b).sum(axis=-1)"),
        ("dot", "mean for sum", "(a * b).sum(axis=-1)", "(a * b).mean(axis=-1)"),
        (
            "cosine_similarity",
            "lengths left in",
            " / (np.sqrt(dot(a, a)) * np.sqrt(dot(b, b)))",
            "",
        ),
        ("cosine_similarity", "one length left in", " * np.sqrt(dot(b, b)))", ")"),
        ("cosine_similarity", "divided by squares", "np.sqrt(dot(a, a))", "dot(a, a)"),
        ("alignment_matrix", "transposed", "(A @ B.mT)", "(B @ A.mT)"),
    ),
    *table(
        "distributions",
        ("softmax", "no maximum subtracted", "return x - x.max(", "return x - 0 * x.max("),
        (
            "softmax",
            "one maximum for all rows",
            "x.max(axis=axis, keepdims=True, initial=-np.inf)",
            "x.max(initial=-np.inf)",
        ),
        (
            "softmax",
            "in place",
            "return x - x.max(axis=axis, keepdims=True, initial=-np.inf)",
            "x -= x.max(axis=axis, keepdims=True, initial=-np.inf)\n    return x",
            NO_CHAPTER,
        ),
        ("softmax", "temperature multiplied", ") / temperature)", ") * temperature)"),
        ("softmax", "temperature ignored", ") / temperature)", "))"),
        (
            "softmax",
            "not divided by the sum",
            "p = exponentials / exponentials",
            "p = exponentials  # ",
        ),
        (
            "softmax",
            "always the first axis",
            "exponentials / exponentials.sum(axis=axis",
            "exponentials / exponentials.sum(axis=0",
        ),
        (
            "softmax",
            "one sum for all rows",
            "exponentials / exponentials.sum(axis=axis, keepdims=True)",
            "exponentials / exponentials.sum()",
        ),
        ("softmax", "powers of two", "exponentials = np.exp(", "exponentials = np.exp2("),
        (
            "log_softmax",
            "no logarithm",
            "np.log(np.exp(shifted).sum(axis=axis, keepdims=True))",
            "np.exp(shifted).sum(axis=axis, keepdims=True)",
        ),
        (
            "log_softmax",
            "logarithm of a rounded softmax",
            "shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True))",
            "np.log(np.exp(shifted) / np.exp(shifted).sum(axis=axis, keepdims=True))",
        ),
        ("softmax_jacobian", "plus for minus", "on_diagonal - p[", "on_diagonal + p["),
        ("softmax_jacobian", "no diagonal", "jacobian = on_diagonal - p[", "jacobian = -p["),
    ),
    *table(
        "_validation",
        (
            "softmax",
            "integers stay integers",
            "return array.astype(np.float64)",
            "return array",
            ("tests", "distributions"),
            ("chapter", "distributions"),
        ),
        (
            "softmax",
            "float16 computed in float16",
            "compute = np.result_type(result, np.float32)",
            "compute = result",
            ("tests", "distributions"),
            ("chapter", "distributions"),
        ),
        (
            "masked_softmax",
            "mask inverted",
            "return np.broadcast_to(mask, shape)",
            "return ~np.broadcast_to(mask, shape)",
            ("tests", "masking"),
            ("chapter", "masking"),
        ),
        (
            "masked_softmax",
            "any mask cast to boolean",
            "if mask.dtype != bool:",
            "if mask.dtype != bool and not (mask := mask.astype(bool)).size:",
            ("tests", "masking"),
            ("chapter", "masking"),
        ),
        (
            "masked_softmax",
            "mask may enlarge the scores",
            "np.broadcast_shapes(mask.shape, shape) == shape",
            "np.broadcast_shapes(mask.shape, shape) != ()",
            ("tests", "masking"),
            NO_CHAPTER,
        ),
    ),
    *table(
        "queries_keys_values",
        ("project", "matrix transposed", "projected = X @ W ", "projected = X @ W.T "),
        ("project", "bias left out", "projected + b[0]", "projected"),
        ("attention_scores", "no scale", "scale = 1 / math.sqrt(d_k)", "scale = 1.0"),
        ("attention_scores", "divided by d_k", "1 / math.sqrt(d_k)", "1 / d_k"),
        ("attention_scores", "multiplied by the root", "1 / math.sqrt(d_k)", "math.sqrt(d_k)"),
        ("attention_scores", "root of n_queries", "d_k = Q.shape[-1]", "d_k = Q.shape[-2]"),
        (
            "attention_scores",
            "scale given ignored",
            "if scale is None:",
            "if scale is not False:",
            NO_CHAPTER,
        ),
        ("attention_scores", "Q and K exchanged", "Q @ K.mT * scale", "K @ Q.mT * scale"),
        ("attention_scores", "K with itself", "Q @ K.mT * scale", "K @ K.mT * scale"),
    ),
    *table(
        "masking",
        ("causal_mask", "upper triangle", "dtype=bool)  #", "dtype=bool)[::-1, ::-1]  #"),
        ("causal_mask", "without the diagonal", "k=n_keys - n_queries", "k=n_keys - n_queries - 1"),
        ("causal_mask", "next token visible", "k=n_keys - n_queries", "k=n_keys - n_queries + 1"),
        ("causal_mask", "top-left alignment", "k=n_keys - n_queries", "k=0"),
        (
            "padding_mask",
            "one too many",
            "np.arange(n_keys) < lengths",
            "np.arange(n_keys) <= lengths",
        ),
        ("padding_mask", "inverted", "np.arange(n_keys) < lengths", "np.arange(n_keys) >= lengths"),
        (
            "padding_mask",
            "on the query axis",
            "np.arange(n_keys) < lengths[..., None, None]",
            "(np.arange(n_keys) < lengths[..., None, None]).mT",
        ),
        ("masked_softmax", "scores times mask", "(mask, scores, -np.inf)", "(mask, scores, 0)"),
        (
            "masked_softmax",
            "after the softmax, not renormalised",
            "softmax(np.where(mask, scores, -np.inf))",
            "softmax(scores)",
        ),
        ("masked_softmax", "filled with -10", "(mask, scores, -np.inf)", "(mask, scores, -10)"),
        (
            "masked_softmax",
            "filled with -1e9",
            "(mask, scores, -np.inf)",
            "(mask, scores, -1e9)",
            NO_CHAPTER,
        ),
        ("masked_softmax", "filled with +inf", "(mask, scores, -np.inf)", "(mask, scores, np.inf)"),
        (
            "masked_softmax",
            "nothing to attend to is nan",
            "weights = np.where(mask, weights, 0)",
            "weights = weights",
        ),
        (
            "masked_softmax",
            "every nan becomes zero",
            "weights = np.where(mask, weights, 0)",
            "weights = np.nan_to_num(weights)",
            NO_CHAPTER,
        ),
    ),
    *table(
        "value_updates",
        ("weighted_values", "weights transposed", "(weights @ V)", "(weights.mT @ V)"),
        (
            "attention",
            "K for V",
            "output = weighted_values(weights, V)  #",
            "output = weighted_values(weights, K)  #",
        ),
        ("attention", "mask ignored", "masked_softmax(scores, mask)", "masked_softmax(scores)"),
        (
            "attention",
            "scale ignored",
            "attention_scores(Q, K, scale)",
            "attention_scores(Q, K)",
            NO_CHAPTER,
        ),
        (
            "attention_steps",
            "scores and weights exchanged",
            "(scores, weights, output))",
            "(weights, scores, output))",
        ),
        (
            "attention_steps",
            "scores after the mask",
            "for a in (scores, weights, output))",
            "for a in (np.log(weights), weights, output))",
        ),
        (
            "attention",
            "masked values that are nan matter",
            "if mask is not None and not np.isfinite(V).all():",
            "if False:",
            NO_CHAPTER,
        ),
        ("residual_update", "embedding dropped", "(E + delta_E)", "(0 * E + delta_E)"),
        ("residual_update", "subtracted", "(E + delta_E)", "(E - delta_E)"),
        (
            "residual_update",
            "in place",
            "return (E + delta_E)",
            "E += delta_E\n    return E",
        ),
    ),
    *table(
        "multi_head",
        (
            "split_heads",
            "bare reshape",
            "return rows_of_heads.swapaxes(-3, -2).copy()",
            "return X.reshape(*leading, n_heads, n, width // n_heads).copy()",
        ),
        (
            "concat_heads",
            "bare reshape",
            "rows_of_heads = heads.swapaxes(-3, -2)",
            "rows_of_heads = heads",
        ),
        (
            "MultiHeadAttention",
            "W_O left out",
            "output = project(concat, self.W_O, self.b_O)",
            "output = concat",
        ),
        (
            "MultiHeadAttention",
            "mean over heads",
            "concat = concat_heads(heads)",
            "concat = np.tile(heads.mean(axis=-3), self.n_heads)",
        ),
        (
            "MultiHeadAttention",
            "heads in the wrong order",
            "concat = concat_heads(heads)",
            "concat = concat_heads(heads[..., ::-1, :, :])",
        ),
        (
            "MultiHeadAttention",
            "scaled by d_model",
            "attention_steps(Q, K, V, mask)",
            "attention_steps(Q, K, V, mask, self.d_model**-0.5)",
        ),
        (
            "MultiHeadAttention",
            "W_Q for W_K",
            "_joined(self.W_K, self.b_K)",
            "_joined(self.W_Q, self.b_K)",
        ),
        (
            "MultiHeadAttention",
            "b_K for b_Q",
            "_joined(self.W_Q, self.b_Q)",
            "_joined(self.W_Q, self.b_K)",
        ),
        (
            "MultiHeadAttention",
            "values not projected by W_V",
            "V = split_heads(project(C, *_joined(self.W_V, self.b_V)), self.n_heads)",
            "V = np.resize(C, (*C.shape[:-2], self.n_heads, C.shape[-2], self.d_v))",
        ),
        (
            "MultiHeadAttention",
            "context ignored",
            "K = split_heads(project(C,",
            "K = split_heads(project(X,",
            NO_CHAPTER,
        ),
        (
            "MultiHeadAttention",
            "b_O left out",
            "project(concat, self.W_O, self.b_O)",
            "project(concat, self.W_O)",
            NO_CHAPTER,
        ),
        (
            "MultiHeadAttention",
            "a sequence's mask meets a head",
            "return check.need_mask(mask, shape)[..., None, :, :]",
            "return check.need_mask(mask, shape)",
            NO_CHAPTER,
        ),
        (
            "MultiHeadAttention",
            "mask ignored",
            "if mask is None:\n            return None",
            "if True:\n            return None",
            NO_CHAPTER,
        ),
    ),
    *table(
        "encoder",
        ("layer_norm", "no eps", "np.sqrt(variance + eps)", "np.sqrt(variance)"),
        ("layer_norm", "over the tokens", "X - X.mean(axis=-1, keep", "X - X.mean(axis=0, keep"),
        ("layer_norm", "mean left in", "centred = X - X.mean(", "centred = X - 0 * X.mean("),
        ("layer_norm", "shift left out", "(gamma * normed + beta)", "(gamma * normed)"),
        (
            "gelu",
            "ReLU in its place",
            "(x / 2 * (1 + erf(x / math.sqrt(2))))",
            "np.maximum(x, 0)",
        ),
        ("gelu", "no root", "erf(x / math.sqrt(2))", "erf(x / 2)"),
        (
            "feed_forward",
            "nothing held back",
            "hidden = gelu(project(X, W_1, b_1))",
            "hidden = project(X, W_1, b_1)",
        ),
        ("mean_pooling", "the first token", "mean = X.mean(axis=-2)", "mean = X[..., 0, :]"),
        (
            "mean_pooling",
            "length left as it is",
            "(mean / np.linalg.norm(mean, axis=-1, keepdims=True))",
            "(mean)",
        ),
        ("sinusoidal_positions", "only sines", "np.cos(angles)", "np.sin(angles)"),
        (
            "Encoder",
            "positions forgotten",
            "layer_norm(E + self.positions[:n], self",
            "layer_norm(E, self",
        ),
        (
            "Encoder",
            "attention not added to its input",
            "summed = residual_update(X, attention.output)",
            "summed = attention.output",
        ),
        (
            "Encoder",
            "feed-forward not added to its input",
            "summed = residual_update(middle, added)",
            "summed = added",
        ),
        (
            "without_head",
            "the wrong rows",
            "head * old.d_v : (head + 1) * old.d_v",
            "head : head + old.d_v",
        ),
    ),
    *table(
        "efficient",
        (
            "attention_parameters",
            "keys for every head of queries",
            '"W_K": d_model * n_kv_heads * d_k',
            '"W_K": d_model * n_heads * d_k',
        ),
        (
            "attention_flops",
            "an addition costs nothing",
            '"scores": 2 * n * n_keys',
            '"scores": n * n_keys',
        ),
        (
            "attention_bytes",
            "scores of one head",
            'n_heads * n * n,\n        "w',
            'n * n,\n        "w',
        ),
        (
            "blockwise_attention",
            "the running sum not rescaled",
            "    total *= rescale  # earlier blocks\n",
            "",
        ),
        ("blockwise_attention", "the values not rescaled", "    mixed *= rescale\n", ""),
        (
            "blockwise_attention",
            "the largest score forgotten",
            "    queries[:, -1:] -= rise  # later blocks\n",
            "",
        ),
        (
            "blockwise_attention",
            "the next token visible",
            "(j <= i[:, None] + offset)",
            "(j <= i[:, None] + offset + 1)",
        ),
        (
            "blockwise_attention",
            "a causal block left out",
            "past = min(rows.stop + offset, n_keys)",
            "past = min(rows.start + offset, n_keys)",
        ),
        ("blockwise_attention", "not scaled", " * Q.dtype.type(scale), 0)", ", 0)"),
        (
            "blockwise_attention",
            "mask ignored",
            "np.copyto(scores, -np.inf, where=~allowed)",
            "pass",
        ),
        (
            "blockwise_attention",
            "not divided by the sum",
            "np.where(any_key, mixed / total, 0)",
            "np.where(any_key, mixed, 0)",
        ),
        (
            "grouped_query_attention",
            "groups in the wrong order",
            "V = K[..., None, :, :], V[..., None, :, :]",
            "V = K[..., ::-1, None, :, :], V[..., ::-1, None, :, :]",
        ),
        (
            "KeyValueCache",
            "new keys over the first ones",
            "self._K[..., start:stop, :] = K",
            "self._K[..., : stop - start, :] = K",
        ),
        ("KeyValueCache", "values not stored", "        self._V[..., start:stop, :] = V\n", ""),
        (
            "KeyValueCache",
            "new tokens see each other's future",
            "mask = causal_mask(Q.shape[-2], len(self))",
            "mask = None",
        ),
    ),
    *table(
        "gradients",
        (
            "softmax_backward",
            "elementwise slopes",
            "p * (grad_p - mean)",
            "p * (1 - p) * grad_p",
        ),
        (
            "softmax_backward",
            "plain mean of the slopes",
            "(p * grad_p).sum(axis=-1, keepdims=True)",
            "grad_p.mean(axis=-1, keepdims=True)",
        ),
        ("scores_backward", "no scale for K", "grad_scores.mT @ Q * scale", "grad_scores.mT @ Q"),
        (
            "weighted_values_backward",
            "softmax twice",
            "grad_weights = grad_output @ V.mT",
            "grad_weights = softmax_backward(weights, grad_output @ V.mT)",
        ),
        ("project_backward", "mean over rows", "all_grad.sum(axis=0)", "all_grad.mean(axis=0)"),
        ("project_backward", "input reversed", "all_X.T @ all_grad", "all_X[::-1].T @ all_grad"),
        (
            "attention_backward",
            "not back through the softmax",
            "grad_scores = softmax_backward(weights, grad_weights)",
            "grad_scores = grad_weights",
        ),
        (
            "multi_head_backward",
            "only the keys' way to X",
            "grad_C = grad_C_K + grad_C_V",
            "grad_C = grad_C_K",
        ),
        (
            "multi_head_backward",
            "heads cut by a bare reshape",
            "grad_heads = split_heads(grad_concat, mha.n_heads)",
            "grad_heads = grad_concat.reshape(steps.heads.shape)",
        ),
        ("finite_differences", "divided by one step", "/ (2 * step)", "/ step"),
    ),
]


def name(breakage):
    return f"{breakage.function}: {breakage.what}"


@functools.cache
def names_used(notebook):
    """Every name in the code of a notebook; none while the notebook does not exist."""
    path = ROOT / "notebooks" / f"{notebook}.ipynb"
    if not path.exists():
        return frozenset()
    cells = nbformat.read(path, as_version=4).cells
    trees = [ast.parse(cell.source) for cell in cells if cell.cell_type == "code"]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return frozenset(
        [node.id for node in nodes if isinstance(node, ast.Name)]
        + [node.attr for node in nodes if isinstance(node, ast.Attribute)]
    )


SHOWN = [b for b in BREAKAGES if b.notebook and b.function in names_used(b.notebook)]
NOTEBOOKS = sorted({b.notebook for b in SHOWN})


@pytest.fixture
def project(tmp_path):
    """A copy of the package, the helpers of its tests and the settings of pytest."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "companion", tmp_path / "companion", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for directory in ("tests", "notebooks", "tools"):
        (tmp_path / directory).mkdir()
    for helper in ("browser.py", "conftest.py", "oracle.py", "strategies.py", "run_cells.py"):
        shutil.copy(ROOT / "tests" / helper, tmp_path / "tests")
    shutil.copy(ROOT / "tools" / "take_away.py", tmp_path / "tools")
    with (tmp_path / "tests" / "conftest.py").open("a", encoding="utf-8") as conftest:
        conftest.write(FAST_PROPERTIES)
    return tmp_path


def break_it(project, breakage):
    path = project / "companion" / f"{breakage.module}.py"
    source = path.read_text(encoding="utf-8")
    assert source.count(breakage.old) == 1, f"{path.name} must hold once: {breakage.old}"
    path.write_text(source.replace(breakage.old, breakage.new), encoding="utf-8")


def copy(project, file):
    shutil.copy(ROOT / file, project / file)
    return file


def run_unit_tests(project, file):
    return run(run_pytest, project, file)


def run_cells(project, file):
    return run(run_file, project, "tests/run_cells.py", file)


def run_nbval(project, file):
    return run(run_pytest, project, "-p", "nbval.plugin", "--nbval", "--nbval-current-env", file)


def assert_green(code, said):
    assert code == 0, said


def assert_red(code, said, file):
    """A test failed; nothing else went wrong."""
    assert code == 1 and f"FAILED {file}" in said, said


@pytest.mark.parametrize("module", sorted({b.tests for b in BREAKAGES}))
def test_unit_tests_pass_on_an_unbroken_copy(project, module):
    assert_green(*run_unit_tests(project, copy(project, f"tests/test_{module}.py")))


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_notebooks_pass_on_an_unbroken_copy(project, notebook):
    assert_green(*run_cells(project, copy(project, f"notebooks/{notebook}.ipynb")))


@pytest.mark.parametrize("breakage", BREAKAGES, ids=name)
def test_unit_tests_go_red(project, breakage):
    break_it(project, breakage)
    file = copy(project, f"tests/test_{breakage.tests}.py")
    assert_red(*run_unit_tests(project, file), file)


@pytest.mark.parametrize("breakage", SHOWN, ids=name)
def test_the_chapters_notebook_goes_red(project, breakage):
    break_it(project, breakage)
    file = copy(project, f"notebooks/{breakage.notebook}.ipynb")
    assert_red(*run_cells(project, file), file)


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_nbval_goes_red_as_well(project, notebook):
    break_it(project, next(b for b in SHOWN if b.notebook == notebook))
    file = copy(project, f"notebooks/{notebook}.ipynb")
    assert_red(*run_nbval(project, file), file)


def test_nbval_runs_with_the_copy_and_not_with_an_installed_package(project):
    (project / "companion" / "__init__.py").write_text("marker = 'the copy'\n")
    cell = nbformat.v4.new_code_cell("import companion\nprint(companion.marker)")
    cell.outputs = [nbformat.v4.new_output("stream", text="the copy\n")]
    cell.execution_count = 1
    file = "notebooks/one.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=[cell]), project / file)
    assert_green(*run_nbval(project, file))


def test_every_function_of_a_chapter_can_be_broken():
    import companion

    modules = {m for m in CHAPTERS if m != "embeddings"}
    public = {
        n for n in companion.__all__ if getattr(companion, n).__module__.split(".")[-1] in modules
    }
    results = {"AttentionSteps", "MultiHeadSteps"}  # named tuples: nothing to compute
    assert {b.function for b in BREAKAGES} >= public - results
