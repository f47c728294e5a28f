"""`facetflow explore`: pages of this machine that show what the commands tell, served to one browser.

    guard       who is let in
    server      the addresses, also by OpenAPI, and a server at 127.0.0.1
    views       what a view is: a form with an address, and its answer as a page or as JSON
    session     what views share: project, what was asked before, and a thread that loads models and computes
    pair        two sentences
    searching   texts, by facets
    map         texts in two dimensions
    data        tables of a release, and how two releases differ
    sentence    one sentence: its graph, its tree, its roles
    runs        trainings: their course, their scores, two of them side by side

Every view is a form by GET: its address can be kept as a bookmark, and gives JSON with `format=json`.
"""
