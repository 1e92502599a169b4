/**
 * The layout of the market list: one immutable object that HEAD names. So a new list does not cost one ledger item for each
 * page.
 */
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import type { ListState, ObjectRef } from '../../../storage/records/publication.ts';
import { putPacked, readPacked } from '../files/packed-object.ts';

/** A page after the first one. */
export interface ListedPage {
  readonly cursor: string;
  /** SHA-256 of its bytes, in hex. */
  readonly digest: string;
  /** The first slug on it. */
  readonly first: string;
}

export interface ListLayout {
  /** The number of markets in the list. */
  readonly markets: number;
  /** The pages after the first one, in order. */
  readonly pages: readonly ListedPage[];
  /** Cursors of pages that only the previous list had: kept for readers who are still walking that list. */
  readonly superseded: readonly string[];
}

const EMPTY_LAYOUT: ListLayout = { markets: 0, pages: [], superseded: [] };

export const LAYOUT_PREFIX = 'layout/';

export async function putLayout(objects: ObjectStore, generation: number, layout: ListLayout): Promise<ObjectRef> {
  return await putPacked(objects, LAYOUT_PREFIX, generation, JSON.stringify(layout));
}

/** The layout of the published list; null if it is not known, or its object is lost. */
export async function readLayout(objects: ObjectStore, list: ListState | null): Promise<ListLayout | null> {
  if (list === null) return EMPTY_LAYOUT;
  return list.layout === null ? null : await readLayoutAt(objects, list.layout);
}

/** Null if the object is missing or damaged. */
export async function readLayoutAt(objects: ObjectStore, ref: ObjectRef): Promise<ListLayout | null> {
  const text = await readPacked(objects, ref);
  return text === null ? null : (JSON.parse(text) as ListLayout);
}
