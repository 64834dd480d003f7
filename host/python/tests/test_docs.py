"""Every block of Python in host/docs/python.md runs as written."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs" / "python.md"
BLOCKS = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.S)
#: What the last line of each prints.
PRINTED = ["{'mux': 'c', 'wait_states': 0, 'picofarad': 47} 0.0\n", "{'gain': 21, 'mode': 'fast'}\n"]


@pytest.mark.parametrize("block, printed", zip(BLOCKS, PRINTED, strict=True))
def test_the_documentation_runs(block, printed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, str(DOCS), "exec"), {})
    assert capsys.readouterr().out == printed
