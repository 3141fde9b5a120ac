"""How long attention takes and how much memory it needs, in several versions: `make bench`.

Everything runs on one thread, in float32, with 8 heads of width 64. The versions take turns, and
a ratio is the median over the turns, so that a busy machine disturbs all of them alike. Time is
processor time. Memory is how far the process grows beyond its inputs, each in a process of its
own. `--record` stores the result where chapter 9 reads it.
"""

import argparse
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RECORD = ROOT / "companion" / "data" / "benchmark.json"
N_HEADS, WIDTH = 8, 64
TIMED = [128, 256, 512, 1024, 2048, 4096, 8192]
LONGEST = 16384
# the others would take too much memory: at most 9 GB are used
UP_TO = {"plain": 8192, "textbook": 8192, "torch unfused": 8192, "textbook float64": 4096}
TURNS = {128: 15, 256: 15, 512: 15, 1024: 11, 2048: 9, 4096: 5, 8192: 3}

ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)
FORCED_KERNEL = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # would slow NumPy down
ENVIRONMENT = {k: v for k, v in os.environ.items() if k not in FORCED_KERNEL}
ENVIRONMENT |= dict.fromkeys(ONE_THREAD, "1") | {"PYTHONPATH": str(ROOT)}


# --- in the measuring processes -------------------------------------------------------------


def textbook(Q, K, V, root=math.sqrt):
    import numpy as np

    scores = Q @ K.swapaxes(-1, -2) / root(Q.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True) @ V


def textbook_float64(Q, K, V):
    """The same with `np.sqrt`, whose float64 result makes NumPy 2 go on in float64."""
    import numpy as np

    return textbook(Q, K, V, np.sqrt)


def products_only(Q, K, V, rows=1024, keys=256):
    """The two matrix products of the blockwise version and nothing else: what NumPy can't beat."""
    import numpy as np

    n_heads, n, _ = Q.shape
    scores = np.empty((min(rows, n), min(keys, n)), Q.dtype)
    output = np.zeros_like(V)
    for h in range(n_heads):
        for i in range(0, n, rows):
            for j in range(0, n, keys):
                np.matmul(Q[h, i : i + rows], K[h, j : j + keys].T, out=scores)
                output[h, i : i + rows] += scores @ V[h, j : j + keys]
    return output


def torch_version(backend):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.functional import scaled_dot_product_attention

    torch.set_num_threads(1)

    def run(Q, K, V):
        with torch.no_grad(), sdpa_kernel(getattr(SDPBackend, backend)):
            inputs = (torch.from_numpy(a)[None] for a in (Q, K, V))
            return scaled_dot_product_attention(*inputs)[0].numpy()

    return run


def version(name):
    """One of the versions, as a function of Q, K and V."""
    import companion

    return {
        "blockwise": lambda: companion.blockwise_attention,
        "plain": lambda: companion.attention,
        "textbook": lambda: textbook,
        "textbook float64": lambda: textbook_float64,
        "products only": lambda: products_only,
        "torch fused": lambda: torch_version("FLASH_ATTENTION"),
        "torch unfused": lambda: torch_version("MATH"),
    }[name]()


NUMPY = ["blockwise", "products only", "plain", "textbook", "textbook float64"]
TORCH = ["torch fused", "torch unfused"]


def inputs(n):
    import numpy as np

    rng = np.random.default_rng(0)
    return [rng.standard_normal((N_HEADS, n, WIDTH), dtype=np.float32) for _ in range(3)]


def seconds(function, arrays, repeats):
    start = time.process_time()
    for _ in range(repeats):
        function(*arrays)
    return (time.process_time() - start) / repeats


def time_all(names, n):
    """Median seconds of each version, and the median of its ratio to the blockwise one."""
    import numpy as np

    functions, arrays = {name: version(name) for name in names}, inputs(n)
    expected = functions["blockwise"](*arrays)
    repeats = {}
    for name, function in functions.items():
        start = time.process_time()
        result = function(*arrays)  # a first call, which is slower
        took = max(time.process_time() - start, 1e-6)
        repeats[name] = math.ceil(0.05 / took)  # a turn takes a twentieth of a second or more
        assert name == "products only" or np.abs(result - expected).max() < 5e-6
    turns = [
        {name: seconds(function, arrays, repeats[name]) for name, function in functions.items()}
        for _ in range(TURNS[n])
    ]
    return {
        name: {
            "seconds": statistics.median(turn[name] for turn in turns),
            "ratio": statistics.median(turn[name] / turn["blockwise"] for turn in turns),
        }
        for name in names
    }


def growth(name, n):
    """By how many bytes the process grows beyond its inputs; None where that can't be read."""
    function = version(name)
    function(*inputs(64))  # loads what is loaded late
    arrays = inputs(n)
    before = peak()
    function(*arrays)
    return before and peak() - before


def peak():
    """Most bytes of memory that this process has held so far."""
    status = Path("/proc/self/status")
    if status.exists():  # on Linux ru_maxrss starts from that of the parent process
        line = next(t for t in status.read_text().splitlines() if t.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return None


def machine(names):
    import numpy as np

    cpu = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu = next((line.split(": ")[1] for line in lines if line.startswith("model name")), cpu)
    versions = {"python": platform.python_version(), "numpy": np.__version__}
    if TORCH[0] in names:
        import torch

        versions["torch"] = torch.__version__.split("+")[0]
    return {"processor": cpu, "system": platform.system(), **versions}


# --- in the process that starts them ------------------------------------------------------------


def ask(*question):
    """What one of the functions above returns, in a process of its own."""
    command = [sys.executable, __file__, "--ask", json.dumps(question)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{question} failed with {done.returncode}:\n{done.stderr}")
    return json.loads(done.stdout)


def has_torch():
    import importlib.util

    return importlib.util.find_spec("torch") is not None


def report(names, n, times, memory):
    def cell(name):
        if name not in times and memory.get(name) is None:
            return f"{'':>18}"
        took = f"{times[name]['ratio']:6.2f}×" if name in times else ""
        grew = f"{memory[name] / 2**20:,.0f} MiB" if memory.get(name) is not None else ""
        return f"{took:>8}{grew:>10}"

    print(f"{n:>6}" + "".join(cell(name) for name in names), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", action="store_true", help="store the result for chapter 9")
    parser.add_argument("--up-to", type=int, default=8192, help="longest n for all (8192: 9 GB)")
    parser.add_argument("--ask", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.ask:
        function, *arguments = json.loads(options.ask)
        print(json.dumps(globals()[function](*arguments)))
        return

    names = NUMPY + (TORCH if has_torch() else [])
    if not has_torch():
        print("PyTorch is not installed here and is left out; pip install torch adds it.")
    result = {"machine": ask("machine", names), "n_heads": N_HEADS, "width": WIDTH, "runs": []}
    print(", ".join(result["machine"].values()) + "; one thread, float32, 8 heads of 64")
    print("time as a multiple of the blockwise version, and memory beyond the inputs")
    print(f"{'n':>6}" + "".join(f"{name:>18}" for name in names))
    for n in [*(n for n in TIMED if n <= options.up_to), LONGEST]:
        possible = [name for name in names if n <= UP_TO.get(name, LONGEST)]
        memory = {name: ask("growth", name, n) for name in possible}
        times = ask("time_all", possible, n) if n < LONGEST else {}
        report(names, n, times, memory)
        result["runs"].append({"n": n, "times": times, "bytes": memory})
    if options.record:
        RECORD.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
        print(f"Stored in {RECORD.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
