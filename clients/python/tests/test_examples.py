"""The examples of the README and of docs/clients.md, against a running service with the sample."""

import os
import re
from pathlib import Path

import httpx
import pytest

HERE = Path(__file__).parent
PAGES = [HERE.parent / "README.md", HERE.parents[2] / "docs/clients.md"]
EXAMPLES = [text for page in PAGES for text in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)]
EXPECTED = [
    r"(?m)^gold-usd 4129\.10 USD 2026-09-29T00:00:00Z$",
    r"^2026-09-29 00:00:00\+00:00 4129\.10\n",
    r"^\d+\.\d\d \d+\n$",
    r"^2026-09-29 00:00:00\+00:00 3634\.55 0\.8802274508 currency-api daily release currency-api daily release\n",
    r"(?m)^go on with \d{4,}$",
    r"^gold-usd 2026-09-29T00:00:00Z is entry \d+ of \S+\n$",
    r'^applied 2 \[\]\nBreakfast ".+"\n$',
    r"^2026-09-29 00:00:00\+00:00 price\n",
]


@pytest.mark.parametrize(("example", "expected"), list(zip(EXAMPLES, EXPECTED, strict=True)))
def test_example(example, expected, capsys):
    text = example.replace("https://data.example", os.environ["TIDEMARK_URL"]).replace("tdm_…", os.environ["TIDEMARK_KEY"])
    vkey = httpx.get(os.environ["TIDEMARK_URL"] + "/api/v1/log/vkey").text.strip()
    text = re.sub(r'"[^"]*/log\+[^"]*"', lambda _: repr(vkey), text)
    exec(compile(text, "README.md", "exec"), {})
    assert re.search(expected, capsys.readouterr().out)
