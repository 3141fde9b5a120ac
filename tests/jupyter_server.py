"""A Jupyter server of its own for a test: any environment's, with no settings of this machine."""

import os
import secrets
import socket
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

SECONDS = 120  # to start or to end


@dataclass
class Server:
    """A running server: its address, and the token that it asks for."""

    url: str
    token: str

    @property
    def headers(self):
        return {"Authorization": f"token {self.token}"}


def environment(folder):
    """Variables with which Jupyter keeps all that it writes in `folder`."""
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    foreign = ("JUPYTER_PATH", "JUPYTER_TOKEN", "PYTHONWARNINGS", "MPLBACKEND")
    kept = {name: value for name, value in os.environ.items() if name not in foreign}
    return kept | {name: str(folder / part) for name, part in folders.items()}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_it_answers(server, process, log):
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if requests.get(f"{server.url}/api/status", headers=server.headers, timeout=5).ok:
                return
        except requests.ConnectionError:
            time.sleep(0.2)
    raise AssertionError(f"the server did not start:\n{log.read_text(encoding='utf-8')[-3000:]}")


@contextmanager
def serving(python, application, root, folder, *options):
    """`python -m application`, a JupyterLab or a Notebook, showing the files in `root`."""
    log = Path(folder, "log.txt")
    port, token = free_port(), secrets.token_hex(16)
    server = Server(f"http://127.0.0.1:{port}", token)
    with log.open("w") as stream:
        process = subprocess.Popen(
            [
                *(python, "-m", application, "--no-browser", "--allow-root", "--ip=127.0.0.1"),
                *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
                *(f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={root}", *options),
            ],
            env=environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until_it_answers(server, process, log)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
