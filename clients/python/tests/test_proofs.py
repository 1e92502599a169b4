"""Proofs and receipts against a running service with the sample: what is right, and what is not."""

import json
import os
import re
from datetime import UTC, datetime
from decimal import Decimal

import httpx
import pytest

from tidemark_client import Client, LogVerificationError, TidemarkError, open_receipt
from tidemark_client.signed_log import is_included, leaf_hash, node_hash

URL = os.environ["TIDEMARK_URL"]
VKEYS = httpx.get(f"{URL}/api/v1/log/vkey").text.split()


@pytest.fixture(scope="module")
def rows():
    with Client(URL) as tidemark:
        return list(tidemark.history("gold-usd"))


@pytest.fixture(scope="module")
def receipt(rows):
    with Client(URL, vkeys=VKEYS) as tidemark:
        return tidemark.receipt("gold-usd", rows[0])


@pytest.mark.parametrize("which", [0, 7, -1])
def test_a_row_is_proven_wherever_it_stands_in_the_log(rows, which):
    with Client(URL, vkeys=VKEYS) as tidemark:
        assert tidemark.log_keys() == VKEYS
        proven = tidemark.prove("gold-usd", rows[which])
        assert proven.entry["id"] == rows[which]["id"]
        assert json.loads(proven.text) == proven.entry
        opened = open_receipt(tidemark.receipt("gold-usd", rows[which]), VKEYS)
        assert (opened.index, opened.text) == (proven.index, proven.text)


@pytest.mark.parametrize(
    "change",
    [
        {"decimal": Decimal("7")},
        {"decimal": Decimal("4129.1")},
        {"decimal": None},
        {"amountMinor": 1},
        {"amountMinor": 412910.0},
        {"currency": "EUR"},
        {"sourceLabel": "another"},
        {"confidence": "low"},
        {"rounded": 1},
        {"publicReason": "Nobody signed this."},
    ],
)
def test_a_row_that_says_something_else_is_refused(rows, change):
    with Client(URL, vkeys=VKEYS) as tidemark, pytest.raises(LogVerificationError):
        tidemark.prove("gold-usd", {**rows[0], **change})


def test_a_row_of_another_market_and_an_unknown_row_are_refused(rows):
    unknown = {**rows[0], "id": "obs_000000000000000000000000", "recordedAt": datetime.now(UTC)}
    with Client(URL, vkeys=VKEYS) as tidemark:
        with pytest.raises(LogVerificationError):
            tidemark.prove("silver-usd", rows[0])
        with pytest.raises(TidemarkError) as caught:
            tidemark.prove("gold-usd", unknown)
        assert caught.value.code == "not-in-log-yet"
        with pytest.raises(LogVerificationError):
            tidemark.prove("gold-usd", {**unknown, "recordedAt": rows[0]["observedAt"]})
    with Client(URL) as tidemark, pytest.raises(ValueError):
        tidemark.prove("gold-usd", rows[0])


@pytest.fixture(scope="module")
def network():
    with httpx.Client() as real:
        yield real


def served(network, change):
    """The service, with its answers below the log changed."""

    def handler(request):
        answer = network.get(str(request.url))
        path = request.url.path.removeprefix("/api/v1/log/")
        return httpx.Response(answer.status_code, content=change(path, answer.content))

    return Client(URL, vkeys=VKEYS, transport=httpx.MockTransport(handler))


def flipped(content):
    return content[:40] + bytes([content[40] ^ 1]) + content[41:]


@pytest.mark.parametrize("where", ["checkpoint", r"tile/0/\d+\.p/.*", r"tile/1/.*", r"ndjson/.*", r"tile/0/\d{3}"])
@pytest.mark.parametrize("how", [flipped, lambda content: b"", lambda content: content[:-5], lambda content: b"{}\n" * 3])
def test_files_that_are_not_the_signed_ones_prove_nothing(rows, network, where, how):
    touched = []

    def change(path, content):
        if not re.fullmatch(where, path):
            return content
        touched.append(path)
        return how(content) if len(content) > 40 else b""

    with served(network, change) as tidemark, pytest.raises(LogVerificationError):
        tidemark.prove("gold-usd", rows[-1])
    assert touched


@pytest.mark.parametrize(
    ("pattern", "replacement"),
    [
        (r"^[\s\S]*$", ""),
        (r"@v1", "@v2"),
        (r"extra \S+", "extra e30="),
        (r"extra \S+\n", ""),
        (r"index (\d+)", lambda found: f"index {int(found[1]) ^ 1}"),
        (r"index \d+", "index 999999"),
        (r"\n[A-Za-z0-9+/]{43}=\n\n", "\n\n"),
        (r"\n[A-Za-z0-9+/]{43}=\n", "\nAAAA\n"),
        (r"\n— .*", "\n"),
        (r"\n\n", "\n"),
    ],
)
def test_a_receipt_that_was_changed_proves_nothing(receipt, pattern, replacement):
    changed = re.sub(pattern, replacement, receipt, count=1)
    assert changed != receipt
    with pytest.raises(LogVerificationError):
        open_receipt(changed, VKEYS)


@pytest.mark.parametrize(
    "vkeys", [[], ["x"], ["a+00000000+AAAA"], ["data.example/log+48c32782+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs"]]
)
def test_another_key_proves_nothing(receipt, vkeys):
    with pytest.raises(LogVerificationError):
        open_receipt(receipt, vkeys)


def test_paths_to_the_root_by_the_definition_of_the_tree():
    def root(leaves):
        if len(leaves) == 1:
            return leaves[0]
        left = 1 << (len(leaves) - 1).bit_length() - 1
        return node_hash(root(leaves[:left]), root(leaves[left:]))

    def path(index, leaves):
        if len(leaves) == 1:
            return []
        left = 1 << (len(leaves) - 1).bit_length() - 1
        if index < left:
            return [*path(index, leaves[:left]), root(leaves[left:])]
        return [*path(index - left, leaves[left:]), root(leaves[:left])]

    for size in (1, 2, 3, 5, 8, 13):
        leaves = [leaf_hash(str(i).encode()) for i in range(size)]
        for index in range(size):
            right = path(index, leaves)
            assert is_included(size, root(leaves), index, leaves[index], right)
            assert not is_included(size, root(leaves), index, leaf_hash(b"x"), right)
            assert not is_included(size, root(leaves), index, leaves[index], [*right, leaves[0]])
            assert not is_included(size, root(leaves), size, leaves[index], right)
