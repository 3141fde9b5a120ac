"""What a check gives back: plain text, the same in a terminal and in a notebook."""

import textwrap
from dataclasses import dataclass, field
from typing import NamedTuple


class Failure(NamedTuple):
    """One finding: a short `code` for programs and a `message` for people."""

    code: str
    message: str


@dataclass(repr=False)
class Report:
    """The result of a check.

    Attributes
    ----------
    name : str
        The exercise that was checked.
    failures : list of Failure
        What is wrong. Empty if the check passed.
    hints : list of Failure
        What is worth knowing and costs nothing: printing and warnings.
    passed : bool
        True if there are no failures.
    """

    name: str
    failures: list[Failure] = field(default_factory=list)
    hints: list[Failure] = field(default_factory=list)

    @property
    def passed(self):
        return not self.failures

    def __repr__(self):
        if self.failures and self.failures[0].code == "not-done":
            return f"{self.name}: not done yet"
        lines = [f"{self.name}: " + ("passed" if self.passed else "not right yet")]
        for failure in self.failures:
            lines += ["", f"✗ {failure.code}", textwrap.indent(failure.message, "  ")]
        for hint in self.hints:
            lines += ["", f"hint: {hint.code}", textwrap.indent(hint.message, "  ")]
        return "\n".join(lines)
