#!/bin/sh
# A price file for your ledger: downloads the prices of all markets, and values a journal with hledger.
# usage: ledger-prices.sh my.journal USD
set -eu
url=${TIDEMARK_URL:-http://127.0.0.1:8787}/api/v1/compat/hledger
journal=$1
currency=$2
folder=${PRICES:-prices-of-tidemark}
mkdir -p "$folder" && cd "$folder"
curl -sSf -o prices.journal "$url/prices.journal"
# All parts over one connection.
sed -n 's/^include //p' prices.journal | sed "s#.*#url = $url/&\noutput = &#" |
  curl -sSf -K -
cd - >/dev/null
# The ledger's own names of commodities are those of the price file: EUR, GOLD-USD.
hledger -f "$journal" -f "$folder/prices.journal" balance --value="end,$currency"
