"""The reference pages keep what they promise: every term, every claim with both results.

Building the book runs the pages' code and fails if an assertion does.
"""

import ast
import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
CELL = re.compile(r"^```\{code-cell\}.*?\n(?:---\n.*?^---\n)?(.*?)^```$", re.M | re.S)

# What bold text in a chapter calls a term that the glossary has in another form
FORMS = {
    "attends to": "attend to",
    "biases": "bias",
    "concatenating": "concatenation",
    "layers": "layer",
    "probes": "probe",
    "singular values": "singular value",
    "tokens": "token",
}
NOT_TERMS = {"every word gets the same share"}  # bold for stress


def page(name):
    return (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")


def prose(path):
    cells = nbformat.read(path, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def labels(path):
    return set(re.findall(r"^\(([a-z-]+)\)=$", prose(path), re.M))


def bold_terms(text):
    """Bold words inside a line. A line that begins with bold is a step or a case, no definition."""
    inside = re.sub(r"^\s*(?:- )?\*\*.+?\*\*", "", text, flags=re.M)
    terms = re.findall(r"\*\*(\w[^*]+)\*\*", inside)  # a single letter is a sign in a figure
    return [FORMS.get(term, term) for term in terms if term not in NOT_TERMS]


def glossary():
    """Entries of the glossary: a tuple of terms, and the text under them."""
    body = re.search(r"```\{glossary\}\n(.*?)```", page("glossary"), re.S)[1]
    for entry in re.finditer(r"^((?:\S.*\n)+)((?:  .*\n|\n)+)", body, re.M):
        yield tuple(entry[1].splitlines()), entry[2]


GLOSSARY = dict(glossary())
TERMS = {term: text for terms, text in GLOSSARY.items() for term in terms}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_term_that_a_chapter_defines_is_in_the_glossary(path):
    missing = [term for term in bold_terms(prose(path)) if term not in TERMS]
    assert missing == []


def test_a_glossary_entry_leads_to_a_chapter_that_defines_the_term():
    places = {}
    for path in NOTEBOOKS:
        for term in bold_terms(prose(path)):
            places.setdefault(term, set()).update(labels(path))
    for term, found in places.items():
        assert linked(TERMS[term]) in found, term
    assert len(places) > 50


def linked(text):
    """The label that a glossary entry leads to."""
    [(_, label)] = re.findall(r"\{ref\}`(Chapter \d) <([a-z-]+)>`", text)
    return label


def test_every_glossary_entry_has_a_chinese_term_and_one_chapter():
    known = {}
    for path in NOTEBOOKS:
        known |= dict.fromkeys(labels(path), int(path.stem[:2]))
    for terms, text in GLOSSARY.items():
        first, rest = text.strip().split("\n\n")
        assert re.search("[\u4e00-\u9fff]", first), terms
        assert not re.search("[\u4e00-\u9fff]", rest), terms
        [number] = re.findall(r"\{ref\}`Chapter (\d) <", rest)
        assert known[linked(rest)] == int(number), terms


def test_every_glossary_term_is_there_once_and_in_order():
    terms = [term for terms in GLOSSARY for term in terms]
    assert len(terms) == len(set(terms))
    first = [terms[0].lower() for terms in GLOSSARY]
    assert first == sorted(first)
    for needed in ("score", "weight", "attend to", "head", "context vector", "residual connection"):
        assert needed in terms


def claims():
    """The misconceptions: heading, and all that stands under it."""
    for part in re.split(r"^### ", page("misconceptions"), flags=re.M)[1:]:
        heading, text = part.split("\n", 1)
        yield heading, re.split(r"^## ", text, flags=re.M)[0]


CLAIMS = dict(claims())


def test_there_are_enough_misconceptions_and_all_differ():
    assert len(CLAIMS) >= 25
    assert len(list(claims())) == len(CLAIMS)


@pytest.mark.parametrize("heading", CLAIMS)
def test_a_misconception_computes_and_asserts_the_wrong_and_the_right_result(heading):
    text = CLAIMS[heading]
    [code] = CELL.findall(text)
    tree = ast.parse(code)
    assigned = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    asserted = [
        {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert)
    ]
    for result in ("wrong", "right"):
        assert result in assigned
        assert any(result in names for names in asserted)
    assert "compare(" in code or "print(" in code
    assert len(code.splitlines()) <= 18, "keep it short"
    assert 1 <= len(text.split("```")[0].strip().splitlines()) <= 4


def test_every_misconception_leads_to_a_chapter():
    groups = re.split(r"^## ", page("misconceptions"), flags=re.M)[1:]
    numbers = [int(re.search(r"From \{ref\}`chapter (\d) <", group)[1]) for group in groups]
    assert numbers == list(range(10)), "each chapter has some"


def test_the_notation_has_symbols_of_every_chapter():
    symbols = re.search(r"^## Symbols$(.*?)^## ", page("notation"), re.M | re.S)[1]
    numbers = [int(number) for number in re.findall(r"^\|.*\{ref\}`(\d) <", symbols, re.M)]
    assert set(numbers) == set(range(10))


def test_every_source_is_cited_where_it_is_used():
    texts = [prose(path) for path in NOTEBOOKS]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / "book").glob("*.md")]
    cited = {
        key.strip()
        for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", "\n".join(texts))
        for key in keys.split(",")
    }
    bibliography = (ROOT / "book" / "references.bib").read_text(encoding="utf-8")
    assert set(re.findall(r"^@\w+\{([^,]+),", bibliography, re.M)) == cited


def test_every_translation_on_the_notation_page_is_asserted():
    sections = re.split(r"^#+ ", page("notation"), flags=re.M)[1:]
    with_code = {s.split("\n")[0]: CELL.findall(s) for s in sections[1:] if CELL.findall(s)}
    for heading, cells in with_code.items():
        assert any(re.search(r"^assert ", code, re.M) for code in cells), heading
    assert len(with_code) >= 7
