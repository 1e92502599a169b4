/** `/docs/`: the entry page of the documentation. */
import { READ_HOST } from '../../../contract/files/example-hosts.ts';
import { OPENAPI_URL } from '../../../contract/files/routes.ts';
import { DOCS, type DocsPage, linkList } from './docs-page.ts';
import { GUIDES } from './guide-pages.ts';
import { PROBLEMS_PAGE } from './problem-pages.ts';
import { CONVENTIONS_PAGE, REFERENCE_GROUPS } from './reference-pages.ts';
import { SCHEMAS_PAGE } from './schema-text.ts';

export const DOCS_INDEX: DocsPage = {
  title: 'Documentation',
  description: 'Guides, reference and problems of the Tidemark API.',
  href: DOCS.href,
  above: [],
  markdown: `Market data in static files: every number with its source, its times and its digits. Ask for one:

\`\`\`sh
curl ${READ_HOST}/api/v1/markets/gold-usd.json
\`\`\`

## Where to begin

- **You want to read prices.** No key is needed. Begin with [caching and polling](/docs/guides/caching) and [money and unknowns](/docs/guides/money). Files for spreadsheets are on the page of each [market](/).
- **You want to test a strategy.** Every number has the moment at which it was published and at which it was recorded. [As of a moment](/docs/guides/as-of) shows how to leave out what nobody could know.
- **You want to check us.** Every number is in [one signed log](/docs/guides/log), which you can follow and verify.
- **You want to write.** [Ask for a key](/docs/guides/keys). Then read [idempotency](/docs/guides/idempotency) and [corrections and claims](/docs/guides/corrections).
- **You run a service.** The documents for operators are in the \`docs\` folder of the program, beside its source.

## Guides

${linkList(GUIDES)}

## Clients

For TypeScript (browsers, Node 20) and for Python 3.11 there is a package called \`tidemark-client\`, with the same verbs in both: typed, exact, polite to caches, and safe to send again. The guides show both beside \`curl\`. No registry has them yet, so install them from a clone of Tidemark:

\`\`\`sh
npm run build:client && npm pack ./clients/typescript/dist && npm install ./tidemark-client-0.1.0.tgz
pip install ./clients/python
\`\`\`

Language models read a service through \`tidemark-mcp\`, a server of the Model Context Protocol. Its four tools keep unknown values unknown, and refuse look-ahead. From a clone, too:

\`\`\`sh
npm run build:mcp && npm pack ./clients/mcp/dist
npx -y --package=./tidemark-mcp-0.1.0.tgz tidemark-mcp --url ${READ_HOST}
\`\`\`

## Reference

Public reads work everywhere. All other groups need a service with a write host, which a static site does not have.

[Conventions](${CONVENTIONS_PAGE}) has the rules of all operations, [schemas](${SCHEMAS_PAGE}) the bodies that several share.

${linkList(REFERENCE_GROUPS)}

## More

- [Problems and their remedies](${PROBLEMS_PAGE})
- [OpenAPI 3.1 document](${OPENAPI_URL})
- [llms.txt, for language models](/llms.txt)`,
};
