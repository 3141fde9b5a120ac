"""What Binder does, without Binder: its image, its server, and every notebook run through it.

The first test asks repo2docker, which builds Binder's images, what it would do; it needs no Docker
for that. The others do the same in an environment of their own: Jupyter as in Binder's image, then
what `binder/requirements.txt` names, on a copy of the project.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
import uuid
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import nbformat
import pytest
import requests
import websocket
from jupyter_server import serving

ROOT = Path(__file__).parent.parent
PATHS = sorted((ROOT / "notebooks").glob("*.ipynb"))
BASE = Path(__file__).with_name("binder_base.txt")
REPO2DOCKER = "jupyter-repo2docker==2026.4.0"
SECONDS = 120  # for one cell


def run(*command, **options):
    return subprocess.run(
        [str(part) for part in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        **options,
    )


def install(python, *arguments, cwd):
    """Let pip install something; without a network the test is skipped, but not in CI."""
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    # most files are never imported: Python compiles the others when they are
    done = run(*pip, "--no-compile", *arguments, cwd=cwd)
    if done.returncode:
        offline = re.search(r"NewConnectionError|ConnectTimeout|name resolution", done.stdout)
        if offline and os.environ.get("CI") != "true":
            pytest.skip("needs a network: pip reached no package index")
        pytest.fail("\n".join(t for t in done.stdout.splitlines() if not t.startswith("WARNING")))


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the project, so that nothing is installed or written in the real one."""
    root = tmp_path_factory.mktemp("binder") / "attention"
    shutil.copytree(ROOT, root, ignore=shutil.ignore_patterns("_build", ".*", "*.egg-info"))
    return root


def binders_python():
    """The Python that binder/runtime.txt names where it is installed, else this one."""
    named = (ROOT / "binder" / "runtime.txt").read_text().strip().replace("-", "")
    for python in filter(None, (shutil.which(named), sys.executable)):
        if run(python, "-c", "import ensurepip, venv").returncode == 0:
            return python
    raise AssertionError("no Python here can create environments")


@pytest.fixture(scope="module")
def binder(project):
    """Python of an environment that was set up as Binder does it."""
    folder = project.parent / "environment"
    done = run(binders_python(), "-m", "venv", folder)
    assert done.returncode == 0, done.stdout
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    install(python, "-r", BASE, cwd=project)
    install(python, "-r", "binder/requirements.txt", cwd=project)
    return python


def test_repo2docker_reads_what_it_should(project, tmp_path):
    install(sys.executable, "--target", tmp_path, REPO2DOCKER, cwd=project)
    command = (sys.executable, "-m", "repo2docker", "--no-build", "--debug", ".")
    done = run(*command, cwd=project, env=os.environ | {"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 0, done.stdout[-3000:]
    lines = done.stdout.splitlines()
    version = (ROOT / "binder" / "runtime.txt").read_text().strip().removeprefix("python-")
    assert f"Building conda environment for python={version}" in lines
    installs = [line for line in lines if re.search(r"\bpip install\b.*( -r |\.$)", line)]
    assert len(installs) == 1 and '-r "binder/requirements.txt"' in installs[0], installs


def test_binders_environment_fits_together(binder, project):
    done = run(binder, "-m", "pip", "check", cwd=project)
    assert done.returncode == 0, done.stdout
    where = run(
        binder, "-I", "-c", "import companion; print(companion.__file__)", cwd=project.parent
    )
    assert where.stdout.strip() == str(project / "companion" / "__init__.py")


@pytest.fixture(scope="module")
def server(binder, project):
    """The server that Binder starts, in the folder that it starts it in."""
    folder = project.parent / "jupyter"
    folder.mkdir()
    with serving(binder, "notebook", project, folder) as server:
        yield server


def receive(socket, end):
    """The next message. Pings come in between, so the socket's own time limit is no limit here."""
    while (left := end - time.monotonic()) > 0:
        socket.settimeout(left)
        code, frame = socket.recv_data_frame(control_frame=True)
        if code == websocket.ABNF.OPCODE_TEXT:
            return json.loads(frame.data)
    raise websocket.WebSocketTimeoutException("no answer in time")


def ask(socket, kind, content, seconds):
    """Send a request to the kernel; returns the messages that it brings."""
    header = {"msg_id": uuid.uuid4().hex, "msg_type": f"{kind}_request", "version": "5.3"}
    header |= {"username": "test", "session": header["msg_id"], "date": ""}
    message = {"header": header, "parent_header": {}, "metadata": {}, "content": content}
    socket.send(json.dumps(message | {"channel": "shell", "buffers": []}))
    end = time.monotonic() + seconds
    messages, waits_for = [], {f"{kind}_reply", "idle"}
    while waits_for:
        answer = receive(socket, end)
        if answer["parent_header"].get("msg_id") == header["msg_id"]:
            messages.append(answer)
            waits_for -= {answer["msg_type"], answer["content"].get("execution_state")}
    return messages


def wait_until_ready(socket):
    """Ask until it answers, as Jupyter's clients do: a starting kernel may lose a request."""
    for seconds in (1, 2, 4, 8, 16, 32, 64):
        with suppress(websocket.WebSocketTimeoutException):
            return ask(socket, "kernel_info", {}, seconds)
    raise AssertionError("the kernel did not start")


def execute(socket, code):
    """Run one cell; returns the messages that it brings."""
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}}
    return ask(socket, "execute", content | {"allow_stdin": False, "stop_on_error": False}, SECONDS)


@contextmanager
def kernel_for(server, name, kernel):
    """Socket to a new kernel for a notebook."""
    options = {"headers": server.headers, "timeout": SECONDS}
    about = {"path": name, "name": name, "type": "notebook", "kernel": {"name": kernel}}
    session = requests.post(f"{server.url}/api/sessions", json=about, **options).json()
    address = f"{server.url}/api/kernels/{session['kernel']['id']}/channels"
    header = [f"{key}: {value}" for key, value in server.headers.items()]
    with closing(
        websocket.create_connection(
            address.replace("http", "ws", 1), timeout=SECONDS, header=header
        )
    ) as socket:
        wait_until_ready(socket)
        yield socket
    requests.delete(f"{server.url}/api/sessions/{session['id']}", **options).raise_for_status()


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_every_notebook_runs_on_binders_server(server, path, record_property):
    def get(address):
        answer = requests.get(f"{server.url}/{address}", headers=server.headers, timeout=SECONDS)
        answer.raise_for_status()
        return answer

    name = f"notebooks/{path.name}"
    for application in ("lab/tree", "notebooks"):
        assert "jupyter-config-data" in get(f"{application}/{name}").text
    notebook = nbformat.from_dict(get(f"api/contents/{name}").json()["content"])
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    with kernel_for(server, name, notebook.metadata.kernelspec.name) as socket:
        for cell in cells:
            messages = execute(socket, cell.source)
            expected = "raises-exception" in cell.metadata.get("tags", [])
            assert any(m["msg_type"] == "error" for m in messages) == expected, messages
            assert not any(m["content"].get("name") == "stderr" for m in messages), messages
    record_property("count: Binder: notebooks", 1)
    record_property("count: Binder: cells", len(cells))
