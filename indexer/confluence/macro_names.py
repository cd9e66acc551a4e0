"""Names of macros that need no function of their own."""

from __future__ import annotations

PLANTUML = ("plantuml", "plantumlrender", "plantuml-render", "plantumlcloud", "uml", "puml")
FORMULAS = (
    "eazy-math-inline", "eazy-math-block", "easy-math-block", "easy-math-inline", "mathblock", "mathinline", "latex",
    "latex-formatting", "mathblock-ref", "mathjax-inline-macro", "mathjax-block-macro", "unit",
)  # fmt: skip
BUTTONS = ("ui-button", "auibutton", "aui-button", "button-hyperlink", "link-button", "auihyperlink")
# Several views in one place: the label of each is all that the reader sees of the closed ones.
TABS = ("ui-tab", "tab", "tab-pane", "card", "localtab", "ui-step", "section-tab", "slide", "accordion-item")
# Their body is the content of the page; what they do to it (filter, colour, place, hide) is not.
CONTAINERS = (
    "details", "excerpt", "section", "column", "table-filter", "pivot-table", "table-joiner", "table-excerpt",
    "table-transformer", "multiexcerpt", "multiexcerpt-macro", "toc-zone", "ui-tabs", "tabs",
    "tabs-group", "tab-group", "deck", "localtabgroup", "div", "span", "center", "align", "quote", "cloak", "show-if",
    "hide-if", "bgcolor", "color", "highlight", "sortable", "float", "ui-text-box",
    "aura-panel", "lead-paragraph", "accordion",
)  # fmt: skip
# Computed by the wiki from other pages, or marks without content: nothing of the page itself.
LISTINGS = (
    "anchor", "toc", "children", "pagetree", "pagetreesearch", "contentbylabel", "recently-updated", "livesearch",
    "gallery", "attachments", "blog-posts", "popular-labels", "labels-list", "listlabels", "navmap", "related-labels",
    "recently-updated-dashboard", "tasks-report-macro", "spaces-list", "contributors", "contributors-summary",
    "change-history", "favpages", "search", "create-from-template", "create-space-button", "index",
    "space-attachments", "recently-used-labels", "global-reports", "userlister", "network", "space-details",
    "content-report-table", "content-by-user", "page-index", "pageindex", "hide-comments", "style", "css-stylesheet",
    "display-footnotes", "pagebreak", "page-break", "easy-heading", "easy-heading-free",
)  # fmt: skip
# Classes of rendered HTML: listings, icons, controls and anchors of the wiki's own surface.
DROPPED_CLASSES = (
    "toc-macro", "childpages-macro", "plugin_pagetree", "pagetree-macro", "recently-updated", "contentbylabel",
    "confluence-anchor-link", "aui-icon", "hidden", "expand-icon", "search-macro", "refresh-issues-bottom",
    "refresh-action-group", "total-issues-count", "blog-posts-macro", "content-by-label", "blog-post-listing",
    "plugin_attachments_container", "plugin-contributors", "tasks-report", "userLogo",
)  # fmt: skip
