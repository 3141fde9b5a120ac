"""The benchmark: its versions compute the same, and the recorded run is whole."""

import json

import numpy as np
import pytest

import bench
from companion.efficient import load_benchmark

RUNS = {run["n"]: run for run in load_benchmark()["runs"]}
VERSIONS = ["blockwise", "plain", "textbook", "textbook float64"]


@pytest.mark.parametrize("name", VERSIONS)
def test_the_versions_compute_attention(name):
    Q, K, V = (a.astype(np.float64) for a in bench.inputs(70))
    scores = np.einsum("hid,hjd->hij", Q, K) / 8
    exponentials = np.exp(scores)
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    expected = np.einsum("hij,hjd->hid", weights, V)
    result = bench.version(name)(*bench.inputs(70))
    np.testing.assert_allclose(result, expected, rtol=0, atol=1e-6)
    assert result.dtype == (np.float64 if name == "textbook float64" else np.float32)


def test_products_only_are_the_two_products():
    Q, K, V = bench.inputs(70)
    result = bench.products_only(Q, K, V, rows=35, keys=14)
    np.testing.assert_allclose(result, Q @ K.mT @ V, rtol=0, atol=1e-2)


def test_every_version_is_timed_against_the_blockwise_one(monkeypatch):
    monkeypatch.setitem(bench.TURNS, 64, 3)
    times = bench.time_all(VERSIONS, 64)
    assert list(times) == VERSIONS
    assert times["blockwise"]["ratio"] == 1
    assert all(0 < t["seconds"] < 10 and t["ratio"] > 0 for t in times.values())


def test_the_table_of_scores_shows_in_the_memory():
    grew = bench.ask("growth", "textbook", 1024)
    assert grew is None or grew > 8 * 1024**2 * 4  # 8 heads


def test_the_recorded_run_is_whole():
    assert list(RUNS) == [*bench.TIMED, bench.LONGEST]
    for n, run in RUNS.items():
        possible = {v for v in bench.NUMPY + bench.TORCH if n <= bench.UP_TO.get(v, bench.LONGEST)}
        assert set(run["bytes"]) == possible
        assert set(run["times"]) == (possible if n < bench.LONGEST else set())


def test_the_recorded_run_names_a_machine_and_no_more():
    record = load_benchmark()
    assert set(record["machine"]) == {"processor", "system", "python", "numpy", "torch"}
    assert "/" not in json.dumps(record)  # no path
