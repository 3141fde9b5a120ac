"""Run Python in a copy of the project, in a process of its own.

Where a process can be forked, all come from one that has imported what they need: hundreds of
times pytest, NumPy and Matplotlib would take most of the time.
"""

import multiprocessing
import os
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SECONDS = 300
CONTEXT = multiprocessing.get_context("forkserver" if os.name == "posix" else "spawn")
CONTEXT.set_forkserver_preload(["hypothesis", "matplotlib.pyplot", "numpy", "pytest"])


def enter(project):
    """Make this process one that was started in the copy, and knows nothing of the original."""
    log = os.open(project / "log.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for stream in (1, 2):
        os.dup2(log, stream)
    for name in [name for name in os.environ if name.startswith("PYTEST")]:
        del os.environ[name]
    os.environ["PYTHONPATH"] = str(project)  # for kernels
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    sys.dont_write_bytecode = True
    ours = [str(ROOT / folder) for folder in (".", "tests", "tools", "book/_ext")]
    sys.path[:] = [str(project), *(path for path in sys.path if path not in ours)]
    os.chdir(project)
    import companion

    if Path(companion.__file__).parent.parent.resolve() != Path.cwd().resolve():
        sys.exit(99)


def run_pytest(project, *arguments):
    enter(project)
    sys.exit(pytest.main(["-x", "-q", "-p", "no:cacheprovider", *arguments]))


def run_file(project, program, *arguments):
    enter(project)
    sys.argv[:] = [program, *arguments]
    runpy.run_path(program, run_name="__main__")


def run(function, project, *arguments):
    """Exit code of a function above, and what it said."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENBLAS_NUM_THREADS", "1")
        patch.delenv("MPLBACKEND", raising=False)
        process = CONTEXT.Process(target=function, args=(project, *arguments))
        process.start()
    process.join(SECONDS)
    process.kill()
    return process.exitcode, (project / "log.txt").read_text(encoding="utf-8", errors="replace")
