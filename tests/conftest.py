"""Settings for all tests: property tests draw the same examples on every machine.

Numbers that tests record as properties named "count: …" are added up and printed at the end.
"""

from collections import Counter

from browser import browser, program  # noqa: F401 (fixtures for every file)
from hypothesis import HealthCheck, settings

settings.register_profile(
    "repeatable",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


def pytest_terminal_summary(terminalreporter):
    counts = Counter()
    stats = terminalreporter.stats
    for report in stats.get("passed", []) + stats.get("failed", []):
        for name, value in report.user_properties:
            if name.startswith("count: "):
                counts[name.removeprefix("count: ")] += value
    for name, value in counts.items():
        terminalreporter.write_line(f"{name}: {value}")
