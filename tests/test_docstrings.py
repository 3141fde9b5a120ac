"""Every public function explains itself in numpydoc form: the API page is made of that."""

import inspect
import sys

import pytest
from numpydoc.validate import validate

import companion
from companion import encoder, examples, gradients, interactive, minilm, plotting

NAMES = [
    f"{module.__name__}.{name}"
    for module in (companion, encoder, examples, gradients, minilm, plotting, interactive)
    for name in module.__all__
    if callable(getattr(module, name))
]
NEEDS_THE_MODEL = {"companion.minilm"}  # an example would need 90 MB that few have installed
# Not asked for: an extended summary, a "See also", and a text where name and shape say it all.
NOT_ASKED = {"ES01", "SA01", "PR07", "RT03"}


def findings(name):
    return {code: text for code, text in validate(name)["errors"] if code not in NOT_ASKED}


@pytest.mark.parametrize("name", NAMES)
def test_docstring_has_all_parts_in_order(name):
    found = findings(name)
    module, _, attribute = name.rpartition(".")
    public = getattr(sys.modules[module], attribute)
    if inspect.isclass(public):  # records: their fields are documented one by one
        found.pop("PR01", None)
    if inspect.isclass(public) or public.__module__ in NEEDS_THE_MODEL:
        found.pop("EX01", None)
    assert found == {}


@pytest.mark.parametrize(
    "module",
    [
        companion.dot_product,
        companion.efficient,
        companion.distributions,
        companion.embeddings,
        encoder,
        examples,
        gradients,
        minilm,
        companion.masking,
        companion.multi_head,
        companion.queries_keys_values,
        companion.value_updates,
    ],
    ids=lambda module: module.__name__,
)
def test_a_module_names_the_chapter_that_teaches_it(module):
    assert "chapter" in module.__doc__.lower()


def test_a_parameter_without_its_description_is_found(monkeypatch):
    def dot(a, b):
        """Multiply and sum.

        Parameters
        ----------
        a : array_like
            One.
        """

    monkeypatch.setattr(companion, "dot", dot)
    assert "PR01" in findings("companion.dot")
