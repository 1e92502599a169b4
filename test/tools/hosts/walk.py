"""Reads all of a service by the client for Python, and prints what walk.ts prints. `python walk.py URL`"""

import json
import sys

from tidemark_client import Client, TidemarkError


def code_of(slug):
    try:
        return client.market(slug)
    except TidemarkError as error:
        return error.code


with Client(sys.argv[1], patience=0) as client:
    read = {
        "slugs": [market["slug"] for market in client.markets()],
        "amounts": [str(row["decimal"]) for row in client.history("markets")],
        "latest": len(client.latest()),
        "areChangesAll": len(list(client.changes())) == client.log_size(),
        "missing": code_of("none"),
        "removed": code_of("m-050"),
    }
print(json.dumps(read))
