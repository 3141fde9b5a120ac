"""A book that asks no other host for anything, and no file that a page doesn't use.

Jupyter Book's live code (Thebe) would fetch its parts from elsewhere; the book doesn't offer it,
so its files go.
"""


def mentions(file, names):
    """Whether a script or style sheet, given by its address or its text, is one of `names`."""
    text = f"{getattr(file, 'filename', file)} {getattr(file, 'attributes', {}).get('body')}"
    return any(name in text.lower() for name in names)


def drop_unused(app, pagename, templatename, context, doctree):
    for kind in ("script_files", "css_files"):
        context[kind][:] = [file for file in context[kind] if not mentions(file, ["thebe"])]


def setup(app):
    app.connect("html-page-context", drop_unused, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
