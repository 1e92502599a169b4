"""The cost of a million tokens in and out, by genai-prices, on each of some days: JSON on one line."""

import json
import sys
from datetime import datetime, timezone

from genai_prices import UpdatePrices, Usage, calc_price

url, provider, model, *days = sys.argv[1:]
costs = {}
with UpdatePrices(url=url) as update:
    if not update.wait(60):
        raise SystemExit("the prices were not updated")
    for day in days:
        moment = datetime.fromisoformat(day).replace(tzinfo=timezone.utc)
        usage = Usage(input_tokens=1_000_000, output_tokens=1_000_000)
        found = calc_price(usage, model_ref=model, provider_id=provider, genai_request_timestamp=moment)
        costs[day] = [str(found.input_price), str(found.output_price)]
print(json.dumps(costs))
