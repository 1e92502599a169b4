/** `tidemark publish`: requests that markets are published again, and waits for the generation that shows them. */
import { PUBLICATION_MARKETS_MAX, type Publication } from '../../contract/operations/publications.ts';
import type { Client } from '../http/client.ts';
import { poll } from '../http/poll.ts';
import { CommandError } from '../program/exit-codes.ts';
import { printFields, printJson } from '../program/output.ts';

export interface PublishOptions {
  readonly markets: 'all' | readonly string[];
  readonly purge: boolean;
  /** Seconds to wait for the generation; 0: no wait. */
  readonly wait: number;
  readonly idempotencyKey: string | undefined;
}

const PUBLICATIONS_PATH = '/api/v1/publications';

/** @throws CommandError `unfinished` if a publication is still waiting when the time is over */
export async function publishMarkets(client: Client, options: PublishOptions, asJson: boolean): Promise<void> {
  const { markets, purge, wait } = options;
  const parts = markets === 'all' ? ['all' as const] : partsOf(markets);
  const asked: Publication[] = [];
  for (const [index, part] of parts.entries()) {
    const { idempotencyKey: named } = options;
    // The call has one idempotency key, from which the keys of its parts are derived.
    const idempotencyKey = named === undefined || index === 0 ? named : `${named}-${index}`;
    const body = JSON.stringify({ markets: part, purge });
    asked.push(await client.resource({ method: 'POST', path: PUBLICATIONS_PATH, body, idempotencyKey }));
  }
  const publications: Publication[] = [];
  for (const { id } of asked) {
    const read = () => client.resource<Publication>({ path: `${PUBLICATIONS_PATH}/${id}` });
    publications.push(await poll(read, ({ state }) => state === 'published', wait));
  }
  if (asJson) await printJson(publications);
  else {
    for (const { id, state, generation, publishedAt } of publications) {
      await printFields([
        ['publication', id],
        ['state', state],
        ['generation', generation],
        ['published', publishedAt],
      ]);
    }
  }
  const waiting = publications.find(({ state }) => state === 'waiting');
  if (waiting === undefined || wait === 0) return;
  throw new CommandError(
    'unfinished',
    `It is accepted, and was not published within ${wait} s.`,
    `Look again: tidemark publications show ${waiting.id}`,
  );
}

function partsOf(slugs: readonly string[]): readonly (readonly string[])[] {
  const unique = [...new Set(slugs)];
  const parts = Math.ceil(unique.length / PUBLICATION_MARKETS_MAX);
  return Array.from({ length: parts }, (_, index) =>
    unique.slice(index * PUBLICATION_MARKETS_MAX, (index + 1) * PUBLICATION_MARKETS_MAX),
  );
}
