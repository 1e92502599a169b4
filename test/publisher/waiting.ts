/** Batches and publications that wait for the number of their generation. */

import type { Ledger } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import { MARKET_INDEX, marketKey } from '../../storage/records/markets.ts';
import {
  AWAITING_GENERATION,
  type AwaitingGenerationValue,
  awaitingGenerationKey,
  type GenerationOfValue,
  generationOfKey,
  type PublicationValue,
  publicationKey,
  refreshMarkKey,
} from '../../storage/records/publication.ts';
import { putItem } from '../storage/put-item.ts';

type Waiting = { readonly ledger: Ledger };

/**
 * Begins to wait, or begins again.
 *
 * @param markets a batch waits for their present revisions; null for a publication
 */
export async function wait({ ledger }: Waiting, what: string, markets: readonly string[] | null): Promise<void> {
  const revisions: { [slug: string]: number } = {};
  for (const slug of markets ?? []) revisions[slug] = (await ledger.get(marketKey(slug)))?.revision ?? 0;
  const value: AwaitingGenerationValue = markets === null ? null : { revisions };
  await putItem(ledger, awaitingGenerationKey(what), value);
}

/** Asks for a publication of these markets (null: all of them), as the worker does, and waits for it. */
export async function waitForPublication(
  { ledger }: Waiting,
  id: string,
  markets: string[] | null,
  purge: boolean,
  createdAt = '2026-10-01T12:00:00.000Z',
): Promise<void> {
  const value: PublicationValue = { id, markets, purge, createdAt };
  const slugs = markets ?? (await readAll(ledger, MARKET_INDEX)).map(({ sort }) => sort);
  await putItem(ledger, publicationKey(id), value);
  for (const slug of slugs) await putItem(ledger, refreshMarkKey(slug), null);
  await wait({ ledger }, `publication/${id}`, null);
}

/** The names of those that still wait. */
export async function waiting({ ledger }: Waiting): Promise<readonly string[]> {
  return (await readAll(ledger, AWAITING_GENERATION)).map(({ sort }) => sort);
}

export async function answerTo({ ledger }: Waiting, what: string): Promise<GenerationOfValue | null> {
  return (await ledger.get(generationOfKey(what)))?.value ?? null;
}
