"""Settings for all tests: property tests draw the same examples on every machine."""

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
