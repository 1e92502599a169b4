"""The cost of a million tokens in and out of each model, by litellm, and where its prices come from: JSON on one line."""

import json
import sys

import litellm
from litellm.litellm_core_utils.get_model_cost_map import get_model_cost_map_source_info

costs = {}
for model in sys.argv[1:]:
    try:
        costs[model] = litellm.cost_per_token(model=model, prompt_tokens=1_000_000, completion_tokens=1_000_000)
    except Exception:
        costs[model] = None
info = get_model_cost_map_source_info()
print(json.dumps({"source": info["source"], "models": len(litellm.model_cost), "costs": costs}))
