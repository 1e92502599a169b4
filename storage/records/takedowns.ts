/**
 * The records of takedowns.
 *
 * | partition      | sort            | holds                                                             |
 * |----------------|-----------------|-------------------------------------------------------------------|
 * | `takedowns`    | `<id>`          | {@link TakedownValue}                                             |
 * | `editions-due` | `takedown/<id>` | nothing: waits for the publisher, which looks there in each round |
 *
 * The partition of the last one has its name from an earlier version.
 */
import type { Takedown } from '../../contract/files/takedowns.ts';
import type { KeyRange, PrefixRange } from '../ports/paging.ts';
import { keyIn } from './keys.ts';

/** Revision: the generation that wrote it; 1 before that. */
export type TakedownValue = Omit<Takedown, 'id'> & {
  /** The index of the first entry that is not processed yet. */
  next: number;
};

/** All takedowns, in the order of time. */
export const TAKEDOWNS: KeyRange<TakedownValue> = { partition: 'takedowns' };
export const takedownKey = (id: string) => keyIn(TAKEDOWNS, id);

/** Takedowns that wait for the publisher, in the order of time. */
export const DUE_TAKEDOWNS: PrefixRange<null> = { partition: 'editions-due', prefix: 'takedown/' };
export const dueTakedownKey = (id: string) => keyIn(DUE_TAKEDOWNS, id);
export const idOfDueTakedown = ({ sort }: { readonly sort: string }): string => sort.slice(DUE_TAKEDOWNS.prefix.length);
