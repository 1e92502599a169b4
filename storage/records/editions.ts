/**
 * The records of editions.
 *
 * | partition        | sort             | holds                                                                      |
 * |------------------|------------------|----------------------------------------------------------------------------|
 * | `editions`       | `<name>`         | {@link EditionValue}; never deleted, so that a name is never used again    |
 * | `editions-due`   | `open`           | {@link OpenEditionValue}: the one whose bodies are being copied            |
 * | `editions-due`   | `waiting/<name>` | nothing: waits for its generation                                          |
 * | `editions-ended` | `<name>`         | nothing: removed or failed, and its bodies wait for the sweep              |
 */
import type { Edition } from '../../contract/editions.ts';
import type { ItemKey } from '../ledger.ts';
import type { KeyRange } from '../paging.ts';
import { keyIn, keyOf } from './keys.ts';
import type { ObjectRef } from './publication.ts';

/** Revision: counts its states. */
export type EditionValue = Omit<Edition, 'name' | 'href'> & {
  /** The layout of the list of its generation: its pages are kept. Null: not chosen yet. */
  layout: ObjectRef | null;
};

/** Revision: the generation, so that a swap of HEAD can check that no other edition was opened. */
export type OpenEditionValue = {
  name: string;
  /** SHA-256 of the first page of the list, in hex. */
  listDigest: string;
  counts: { markets: number; observations: number; unknownValues: number };
  /** Absent if the deployment had no log. */
  log?: { size: number; root: string };
  publishedAt: string;
  /** The next page of the list to be copied: its cursor, or the first page. Null: all are copied. */
  next: { cursor: string | null } | null;
};

export const EDITIONS: KeyRange<EditionValue> = { partition: 'editions' };
export const editionKey = (name: string) => keyIn(EDITIONS, name);

const DUE = 'editions-due';
/** The open edition comes first. */
export const DUE_EDITIONS: KeyRange<OpenEditionValue | null> = { partition: DUE };
export const OPEN_EDITION_KEY: ItemKey<OpenEditionValue> = { partition: DUE, sort: 'open' };
export const WAITING_EDITIONS: KeyRange<null> = { partition: DUE, prefix: 'waiting/' };
export const waitingEditionKey = (name: string) => keyIn(WAITING_EDITIONS, name);
/** The name of the edition that waits; null for the key of the open edition. */
export const nameOfWaiting = ({ sort }: Pick<ItemKey, 'sort'>): string | null =>
  sort.startsWith('waiting/') ? sort.slice('waiting/'.length) : null;

export const ENDED_EDITIONS: KeyRange<null> = { partition: 'editions-ended' };
export const endedEditionKey = (name: string) => keyOf<null>('editions-ended', name);
