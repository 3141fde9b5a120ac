"""How an interactive figure gets into a page of the book: used by Sphinx, through pyproject.toml.

A page holds the figure's still picture and, as text, the figure itself. The script
``book/_ext/interactive_figures/figures.js`` makes it live when the reader comes near.
"""

import html
import json

from docutils import nodes

from companion.interactive._figure import MIME_TYPE, InteractiveFigure


class MimeRenderer:
    """Writes the outputs of `InteractiveFigure` into HTML pages; a plugin of MyST-NB."""

    mime_priority_overrides = (("html", MIME_TYPE, 1), ("singlehtml", MIME_TYPE, 1))

    @staticmethod
    def handle_mime(renderer, data, inline):
        if data.mime_type != MIME_TYPE or inline:
            return None
        spec = data.content
        controls = sum("bind" in parameter for parameter in spec["params"])
        label = f'aria-label="{html.escape(spec["description"])}"'
        # "</" would end the script element
        content = json.dumps(spec, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
        markup = (
            f'<div class="interactive" role="group" {label}>'
            f'<div class="controls" style="--controls: {controls}"></div>'
            f'<div class="still" role="img" {label}>{InteractiveFigure(spec).svg()}</div>'
            '<p class="says" aria-live="polite"></p>'
            f'<script type="application/json">{content}</script></div>'
        )
        # the attribute tells book/_ext/interactive_figures which pages have one
        return [nodes.raw("", markup, format="html", interactive=True)]
