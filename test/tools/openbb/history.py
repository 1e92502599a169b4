"""Prints, as JSON, the history that OpenBB's own executor of queries gets from the provider: SYMBOL START_DATE END_DATE"""

import asyncio
import json
import sys

from openbb_core.provider.query_executor import QueryExecutor

symbol, start, end = sys.argv[1:]
query = {"symbol": symbol, "start_date": start, "end_date": end}
rows = asyncio.run(QueryExecutor().execute("tidemark", "IndexHistorical", query))
print(json.dumps([row.model_dump(mode="json", exclude_none=True) for row in rows]))
