/** Reads all of a service by the client for TypeScript, and prints what walk.py prints. `node walk.ts URL` */
import { Tidemark } from '../../../clients/typescript/tidemark.ts';

const client = new Tidemark({ url: process.argv[2] ?? '', patienceMs: 0 });
const codeOf = (slug: string) => client.market(slug).catch(({ code }: { readonly code: string }) => code);

const all = async <Item>(items: AsyncIterable<Item>) => {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
};
const read = {
  slugs: (await all(client.markets())).map(({ slug }) => slug),
  amounts: (await all(client.history('markets'))).map((row) => 'decimal' in row && row.decimal),
  latest: (await client.latest()).length,
  areChangesAll: (await all(client.changes())).length === (await client.logSize()),
  missing: await codeOf('none'),
  removed: await codeOf('m-050'),
};
console.log(JSON.stringify(read));
