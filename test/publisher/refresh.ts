import type { Ledger } from '../../storage/ports/ledger.ts';
import { marketKey } from '../../storage/records/markets.ts';
import { refreshMarkKey } from '../../storage/records/publication.ts';
import { putItem } from '../storage/put-item.ts';

/** Sets refresh marks, as the worker and the handler of publications do. */
export async function refresh({ ledger }: { readonly ledger: Ledger }, slugs: readonly string[]): Promise<void> {
  for (const slug of slugs) await putItem(ledger, refreshMarkKey(slug), null);
}

/** Renames a market without a mark, which no write of the service does. */
export async function renameUnmarked({ ledger }: { readonly ledger: Ledger }, slug: string): Promise<void> {
  const item = await ledger.get(marketKey(slug));
  if (item === null) throw new Error(`there is no market ${slug}`);
  await putItem(ledger, marketKey(slug), { ...item.value, name: `Renamed ${slug}` }, item.revision + 1);
}
