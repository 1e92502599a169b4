/** Listings of the write API, walked to their end. */
import type { Answer } from './answers.ts';
import type { Session } from './session.ts';

interface Page<Item> {
  readonly data: readonly Item[];
  readonly page: { readonly nextCursor: string | null };
}

/** All items of a listing that the operator may read; `filter` is its query without a cursor. */
export async function listAll<Item>(
  session: Session,
  path: string,
  filter: Readonly<Record<string, string>>,
  parse: (answer: Answer) => Page<Item>,
): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = new URLSearchParams({ ...filter, ...(cursor === '' ? {} : { cursor }) });
    const { data, page } = parse(await session.write('GET', `${path}?${query}`));
    items.push(...data);
    cursor = page.nextCursor;
  }
  return items;
}
