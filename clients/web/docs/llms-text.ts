/** `/llms.txt`: the facts that a language model needs to use the service correctly (https://llmstxt.org). Pure. */
import { LATEST_PART_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { LATEST_CSV_URL, LATEST_URL, MARKETS_URL, OPENAPI_URL, SNAPSHOT_URL } from '../../../contract/files/routes.ts';
import { linkList } from './docs-page.ts';
import { GUIDES } from './guide-pages.ts';
import { PROBLEMS_PAGE } from './problem-pages.ts';
import { REFERENCE_PAGES } from './reference-pages.ts';

export function llmsText(): string {
  return `# Tidemark

> Market data in static files. Every number has its source, its times, its digits and its place in one signed log. Reading needs no key, from any origin.

Rules that are easily got wrong:

- \`decimal\` is the exact price as a text, in major units, for \`unit.quantity\` of the market. \`decimalPerUnit\` is for one. Use a decimal type, not a float. \`amountMinor\` is the same as an integer of minor units: divide by 10 to the power of \`minorDigits\`, not always by 100.
- null is unknown, never zero. \`unknownReason\` says why. Answer "unknown" with that reason; do not use the last known value in its place without saying so.
- Name the source (\`sourceLabel\`, \`sourceUrl\`) and \`observedAt\` with every number. \`observedAt\` is the moment that the value is about, not the moment of your request.
- As of a moment T, use only rows with \`recordedAt\` <= T and \`supersededAt\` null or > T, and leave out rows whose \`retraction\` is \`mistake\`, and rows with \`announced\`. For a back-test take \`releasedAt\` in the place of \`recordedAt\` where it is not null. Filtering by \`observedAt\` alone is look-ahead. Files such as history.csv have standing rows only: for the past read the pages of the history.
- Values of several sources are in \`bySource\`. They are never blended: do not average them.
- Walk lists by \`page.next\`, a link relative to the file of the page, until it is null. There are no page numbers. A page that answers 404 has expired: start again from the first one. A host with a router also takes \`page.nextCursor\` as \`?cursor=\`, and paths without \`.json\`.
- Poll with \`If-None-Match\` and the ETag of your copy; 304 means unchanged. Caches keep files for 15 seconds. Other query parameters are refused with 400, not ignored.
- Times are RFC 3339 in UTC. A year or a day is one in UTC.
- A market that answers 410 was removed: \`replacedBy\` names another one, or is null.
- Errors are \`application/problem+json\`: decide by \`code\`. \`type\` is the address of its page.
- Writes go to the host of writers with \`Authorization: Bearer\` and an \`Idempotency-Key\`, which stays the same when a request is sent again.

## Data

- [All markets, by pages](${MARKETS_URL}.json): 100 a page, ordered by slug
- One market: \`${MARKETS_URL}/{slug}.json\`
- Its history: \`${MARKETS_URL}/{slug}/history.json\`, newest first, 64 rows a page, with superseded rows
- Its history as a file: \`history.csv\`, \`history.ndjson\`, \`history/{year}.csv\`, oldest first, standing rows
- [The newest price of every market](${LATEST_URL}.json): the index of its files; of up to ${LATEST_PART_MARKETS_MAX.toLocaleString('en')} markets, [one CSV](${LATEST_CSV_URL})
- [The published state](${SNAPSHOT_URL}.json): its number, its time, counts

## Guides

${linkList(GUIDES)}

## Reference

- [OpenAPI 3.1 document](${OPENAPI_URL}): every operation with schemas and examples
- [Problems](${PROBLEMS_PAGE}): every error code with its remedy

## Clients

No registry has these packages yet: build them in a clone of Tidemark, and never fetch them by their names.

- TypeScript: \`npm run build:client && npm pack ./clients/typescript/dist\`, \`import { Tidemark } from 'tidemark-client'\`
- Python: \`pip install ./clients/python\`, \`from tidemark_client import Client\`
- Model Context Protocol: \`npm run build:mcp && npm pack ./clients/mcp/dist\`, then \`npx -y --package=./tidemark-mcp-0.1.0.tgz tidemark-mcp --url <address of the service>\`

## Optional

${linkList(REFERENCE_PAGES)}
`;
}
