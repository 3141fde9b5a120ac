"""Chapters, figures and exercises are counted from chapter 0; Sphinx can only start at 1."""

from docutils import nodes


def one_less(number):
    """The same section number, one chapter earlier.

    >>> one_less((1, 2)), one_less(None)
    ((0, 2), None)
    """
    return number and (number[0] - 1, *number[1:])


def count_from_zero(app, env):
    """After Sphinx has numbered everything: sections, titles, links in menus, figures."""
    for anchors in env.toc_secnumbers.values():
        anchors.update({anchor: one_less(number) for anchor, number in anchors.items()})
    for page, kinds in env.toc_fignumbers.items():
        if not env.toc_secnumbers.get(page):
            continue  # not a chapter: figures there have a number of their own alone
        for figures in kinds.values():
            figures.update({name: one_less(number) for name, number in figures.items()})
    links = (link for toc in env.tocs.values() for link in toc.findall(nodes.reference))
    for node in (*env.titles.values(), *links):
        if node.get("secnumber"):
            node["secnumber"] = one_less(node["secnumber"])
    return []


def setup(app):
    app.connect("env-get-updated", count_from_zero, priority=999)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
