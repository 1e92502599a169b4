import type { Ledger } from '../../storage/ports/ledger.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { refreshMarkKey } from '../../storage/records/publication.ts';
import { waitForPublication } from './waiting.ts';

let attempts = 0;

/** Sets refresh marks for up to 100 markets, as the worker and the handler of publications do. */
export async function refresh({ ledger }: { readonly ledger: Ledger }, slugs: readonly string[]): Promise<void> {
  const marks = slugs.map((slug) => {
    return { kind: 'put', key: refreshMarkKey(slug), revision: 0, value: null, if: { kind: 'any' } } as const;
  });
  await ledger.transact(marks, { attemptId: `refresh-${++attempts}` });
}

/** Asks for all markets and for a purge. The publication waits from the moment when all of them are marked. */
export async function askForEverything(
  { ledger }: { readonly ledger: Ledger },
  slugs: readonly string[],
): Promise<void> {
  await refresh({ ledger }, slugs);
  await waitForPublication({ ledger }, 'all', null, true);
}

/** Renames a market without a mark, which no write of the service does. */
export async function renameUnmarked({ ledger }: { readonly ledger: Ledger }, slug: string): Promise<void> {
  const item = await ledger.get(marketKey(slug));
  if (item === null) throw new Error(`there is no market ${slug}`);
  const value = { ...item.value, name: `Renamed ${slug}` };
  await ledger.transact(
    [{ kind: 'put', key: marketKey(slug), revision: item.revision + 1, value, if: { kind: 'any' } }],
    { attemptId: `rename-${++attempts}` },
  );
}
