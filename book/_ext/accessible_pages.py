"""Markup that screen readers understand, where Sphinx writes another."""

MARKUP = {
    # docutils gives the items of its list of citations a role that a list may not hold
    'role="doc-biblioentry"': 'role="listitem"',
    # the empty corner of a table heads no column
    '<th class="head"><p></p></th>': '<td class="head"></td>',
}


def correct(body):
    """The page with other markup.

    >>> correct('<div class="citation" role="doc-biblioentry">')
    '<div class="citation" role="listitem">'
    """
    for wrong, right in MARKUP.items():
        body = body.replace(wrong, right)
    return body


def correct_page(app, pagename, templatename, context, doctree):
    if "body" in context:
        context["body"] = correct(context["body"])


def setup(app):
    app.connect("html-page-context", correct_page)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
