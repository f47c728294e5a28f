"""Benchmarks that once did not run, on little data."""

import runpy
import sys


def test_search_vectors(root, monkeypatch, capsys):
    main = runpy.run_path(str(root / "benchmarks/search_vectors.py"))["main"]
    monkeypatch.setattr(sys, "argv", ["search_vectors.py", "--texts", "20", "--format", "arrow"])
    main()
    assert "\n  the whole embedding " in capsys.readouterr().out
