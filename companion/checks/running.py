"""Run somebody else's function without harm: stopped in time, and nothing that it does gets out.

The function runs in a thread of its own. If it takes longer than `SECONDS`, an exception is
raised inside that thread, again and again until the thread ends, so that a bare ``except:`` seldom
holds out. A single call into compiled code cannot be interrupted: one that waits (such as
``time.sleep``) is left behind and reported, and one that never hands control back (such as
``10**10**10``) holds up the whole process. ``os._exit`` ends the process at once. Where threads do
not exist (Python in a web browser) the function runs without a time limit.
"""

import builtins
import contextlib
import copy
import ctypes
import io
import sys
import threading
import time
import warnings
from dataclasses import dataclass, field

import numpy as np

SECONDS = 3.0
PATIENCE = 1.0  # how long to try to stop a function that does not end


class Stopped(BaseException):
    """Raised inside a function that does not end; not an `Exception`, so that it gets through."""


@dataclass
class Outcome:
    """What one call did."""

    value: np.ndarray | None = None
    error: str | None = None
    """Class of the exception that was raised."""
    error_text: str = ""
    wrong_type: str | None = None
    """What was returned, in words, if it is not an array of real numbers."""
    changed: list[int] = field(default_factory=list)
    """Positions of the arguments that were modified."""
    printed: str = ""
    warned: str = ""
    stopped: bool = False
    """The function did not end in time."""
    left_behind: bool = False
    """Nor could it be stopped."""


class Sink(io.TextIOBase):
    """Takes the place of stdout; remembers the beginning, so that a flood does no harm."""

    def __init__(self):
        self.text = ""

    def writable(self):
        return True

    def write(self, text):
        if len(self.text) < 200:
            self.text += str(text)[:200]
        return len(text)


class Nowhere:
    """Takes the place of what shows figures and tables in a notebook."""

    is_publishing = False

    def publish(self, *args, **kwargs):
        pass

    clear_output = publish


def run(function, args, kwargs):
    """Call `function` with copies of the arguments and return the `Outcome`."""
    outcome = Outcome()
    sent = copy.deepcopy((args, kwargs))
    sink = Sink()

    def work():
        try:
            returned = function(*sent[0], **sent[1])
            outcome.value, outcome.wrong_type = as_numbers(returned)
        except Stopped:
            outcome.stopped = True
        except BaseException as error:
            outcome.error, outcome.error_text = type(error).__name__, in_words(error)

    with quarantine(sink), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        in_time(work, outcome)
    outcome.printed = sink.text
    outcome.warned = "; ".join(dict.fromkeys(str(w.message) for w in caught))[:200]
    before = [*args, *kwargs.values()]
    after = [*sent[0], *sent[1].values()]
    outcome.changed = [i for i, pair in enumerate(zip(before, after, strict=True)) if differ(*pair)]
    return outcome


def in_time(work, outcome):
    """Run `work` in a thread; stop it when the time is over."""
    thread = threading.Thread(target=work, daemon=True)
    try:
        thread.start()
    except RuntimeError:  # no threads here
        work()
        return
    try:
        thread.join(SECONDS)
    finally:  # also if the user interrupts the check
        if thread.is_alive():
            end = time.monotonic() + PATIENCE
            while thread.is_alive() and time.monotonic() < end:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(thread.ident), ctypes.py_object(Stopped)
                )
                thread.join(0.01)
            outcome.stopped = True
            outcome.left_behind = thread.is_alive()


@contextlib.contextmanager
def quarantine(sink):
    """Catch what is printed, answer no questions, and let nobody end the session."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    old = sys.stdin, builtins.input, threading.excepthook
    sys.stdin, builtins.input, threading.excepthook = io.StringIO(), no_input, ignore
    if shell is not None:
        shell.ask_exit = no_exit  # what `exit()` calls in a notebook
        publisher, shell.display_pub = shell.display_pub, Nowhere()
    try:
        with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
            yield
    finally:
        sys.stdin, builtins.input, threading.excepthook = old
        if shell is not None:
            del shell.ask_exit
            shell.display_pub = publisher


def no_input(*_):
    raise EOFError("a function that is being checked gets no input")


def no_exit(*_):
    raise SystemExit


def ignore(*_):
    """Print nothing about a thread that ended with an exception."""


def as_numbers(returned):
    """Return (array, None), or (None, what it is in words) if it is not an array of numbers."""
    if returned is None:
        return None, "None"
    if isinstance(returned, np.ma.MaskedArray) and np.ma.is_masked(returned):
        return None, "a masked array with hidden entries"
    try:
        array = np.asarray(returned)
        if array.dtype == object and not any(isinstance(v, str | bytes) for v in array.flat):
            array = array.astype(np.float64)  # fractions, decimals
    except Exception:  # rows of unequal length, entries that are no numbers
        array = None
    if array is not None and array.dtype.kind in "biuf":
        return array.copy(), None
    if isinstance(returned, tuple):
        return None, f"a tuple of {len(returned)} things"
    if isinstance(returned, np.ndarray):
        return None, f"an array of dtype {returned.dtype}"
    kind = type(returned).__name__
    return None, f"{'an' if kind[0].lower() in 'aeiou' else 'a'} {kind}"


def differ(before, after):
    """Whether an argument was modified."""
    if not isinstance(before, np.ndarray):
        return False
    try:
        return (
            before.shape != after.shape
            or before.dtype != after.dtype
            or before.tobytes() != after.tobytes()
        )
    except Exception:
        return True


def in_words(error):
    """Return the first line of an exception's text; never fails."""
    try:
        text = str(error).strip().splitlines()
    except BaseException:
        return ""
    return text[0][:150] if text else ""
