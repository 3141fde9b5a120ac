"""What README.md and CONTRIBUTING.md say is so."""

import re
from pathlib import Path

import pytest

import make
import readme_picture
from companion import load_sentence

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

both = pytest.mark.parametrize("text", [README, CONTRIBUTING], ids=["README", "CONTRIBUTING"])


@both
def test_links_lead_to_files(text):
    links = re.findall(r"\]\(([^)\s]+)\)", text)
    local = [link for link in links if "://" not in link]
    assert links
    for link in local:
        assert (ROOT / link).exists(), link


@both
def test_commands_exist(text):
    commands = re.findall(r"`make (\w+)`", text) + re.findall(r"make\.py (\w+)", text)
    assert commands
    assert set(commands) <= {"help", *make.COMMANDS}


@pytest.mark.parametrize(("name", "percent"), [("animal_tired", "67 %"), ("animal_wide", "56 %")])
def test_the_numbers_in_the_readme_are_the_recorded_ones(name, percent):
    sentence = load_sentence(name)
    weights = sentence.head_weights(readme_picture.LAYER, readme_picture.HEAD)
    weight = weights[sentence.position("it"), sentence.position("animal")]
    assert f"{weight:.0%}".replace("%", " %") == percent
    assert README.count(percent) == 2  # in the text, and in the picture's alt text


def test_the_picture_can_be_drawn_again(tmp_path, monkeypatch):
    monkeypatch.setattr(readme_picture, "TARGET", tmp_path / "picture.png")
    readme_picture.main()
    assert readme_picture.TARGET.read_bytes().startswith(b"\x89PNG")
    committed = ROOT / "book" / "_static" / "readme.png"
    assert committed.stat().st_size < 150_000
