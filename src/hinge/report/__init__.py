"""One self-contained page on a learner and its stream: no script, nothing from the network, light and dark."""

from .page import About, page, tables_page

__all__ = ["About", "page", "tables_page"]
