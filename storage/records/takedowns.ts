/**
 * The records of takedowns.
 *
 * | partition      | sort            | holds                                                             |
 * |----------------|-----------------|-------------------------------------------------------------------|
 * | `takedowns`    | `<id>`          | {@link TakedownValue}                                             |
 * | `editions-due` | `takedown/<id>` | nothing: waits for the publisher, which looks there in each round |
 */
import type { Takedown } from '../../contract/takedowns.ts';
import type { KeyRange, PrefixRange } from '../paging.ts';
import { OPEN_EDITION_KEY } from './editions.ts';
import { keyIn } from './keys.ts';

/** Revision: the generation that wrote it; 1 before that. */
export type TakedownValue = Omit<Takedown, 'id'> & {
  /** Entries before this one are done. */
  next: number;
};

/** In order of time. */
export const TAKEDOWNS: KeyRange<TakedownValue> = { partition: 'takedowns' };
export const takedownKey = (id: string) => keyIn(TAKEDOWNS, id);

const DUE_TAKEDOWNS: PrefixRange<null> = { partition: OPEN_EDITION_KEY.partition, prefix: 'takedown/' };
export const dueTakedownKey = (id: string) => keyIn(DUE_TAKEDOWNS, id);
/** Null: the item is of an edition. */
export const idOfDueTakedown = ({ sort }: { readonly sort: string }): string | null =>
  sort.startsWith('takedown/') ? sort.slice('takedown/'.length) : null;
