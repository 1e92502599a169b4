/**
 * The records of sources that the service fetches.
 *
 * | partition            | sort       | holds                                                            |
 * |----------------------|------------|------------------------------------------------------------------|
 * | `sources`            | `<name>`   | {@link SourceValue}: the recipe, as operators see and change it  |
 * | `source-states`      | `<name>`   | {@link SourceStateValue}: when the next run is due, and the last |
 * | `source-runs/<name>` | `<run id>` | {@link RunValue}                                                 |
 * | `source-work`        | `<run id>` | {@link RunWorkValue}: runs that have not ended                   |
 *
 * A source and its state are made and removed in one transaction. They are two items, because the revision of a source
 * is what operators have seen: runs must not change it.
 */

import type { RunOutcome, SourceRun } from '../../contract/operations/sources.ts';
import type { Json } from '../../contract/values/canonical-json.ts';
import type { KeyRange } from '../ports/paging.ts';
import type { Lease } from './batches.ts';
import { keyIn } from './keys.ts';

/** Revision counts changes. */
export type SourceValue = {
  recipe: { [name: string]: Json };
  paused: boolean;
  createdAt: string;
  updatedAt: string;
};

/** Revision counts changes. */
export type SourceStateValue = {
  /** Null: the source is paused. */
  nextRunAt: string | null;
  /** The run that has not ended; null: none. A replay does not stand here. */
  run: string | null;
  /** Failed runs since the last one that did not fail. */
  failures: number;
  lastRun: { id: string; outcome: RunOutcome; finishedAt: string } | null;
  lastSuccessAt: string | null;
  /**
   * When the source gave its last answer, for readers: an answer with something new, or the first one of a day (UTC). So it
   * moves once a day, as long as nothing changes. `labels`: its names on markets, by the recipe. Absent: it has given none.
   */
  fetched?: { at: string; labels: string[] };
  takenIn: TakenInValue | null;
  /** The bytes of the source in the archive, as far as they were counted, and its newest answer there. Absent: none. */
  archived?: { bytes: number; sha256: string };
  /** Of a list: the newest answers that stand, oldest first, and the recipe of all of them. Absent: none. */
  listed?: { recipeSha256: string; answers: ListedAnswerValue[] };
  /** Of a list with past versions: the last one that was taken in, of these versions, by this recipe. Absent: none. */
  past?: { origin: string; recipeSha256: string; version: string; seenAt: string };
};

/** An answer of a list, with which a later one is compared. */
export type ListedAnswerValue = {
  sha256: string;
  date: string;
  fetchedAt: string;
  lastModified: string | null;
  /** Whether no record of it was refused, so that only differences from it must be sent. */
  isWhole: boolean;
  /** The permanent address of its bytes. Absent: it has none. */
  url?: string;
};

/** The answer whose records were taken in last. `records` is the SHA-256 of their file. */
export type TakenInValue = {
  url: string;
  recipeSha256: string;
  etag: string | null;
  lastModified: string | null;
  records: string;
};

/** A run, as the API shows it, but for its name. Revision counts changes. A run that took nothing in expires. */
export type RunValue = Omit<SourceRun, 'id' | 'source'> & {
  /** The day of the run in UTC, `YYYY-MM-DD`, on which its records may depend. Null: not begun. */
  date: string | null;
  /** Ask without conditions, and take the same answer in again. */
  unconditional: boolean;
  /** Of a list: the moment of the fetch, and the answers before it, with which it is compared. */
  fetchedAt?: string;
  listed?: ListedAnswerValue[];
};

/** Revision counts changes. */
export type RunWorkValue = {
  source: string;
  /** Until this moment no other process takes the run. Without an owner, it is not due before. */
  lease: Lease | null;
};

export const SOURCES: KeyRange<SourceValue> = { partition: 'sources' };
export const sourceKey = (name: string) => keyIn(SOURCES, name);

export const SOURCE_STATES: KeyRange<SourceStateValue> = { partition: 'source-states' };
export const sourceStateKey = (name: string) => keyIn(SOURCE_STATES, name);

export const runsOfSource = (name: string): KeyRange<RunValue> => ({ partition: `source-runs/${name}` });
export const runKey = (name: string, id: string) => keyIn(runsOfSource(name), id);

export const RUN_WORK: KeyRange<RunWorkValue> = { partition: 'source-work' };
export const runWorkKey = (id: string) => keyIn(RUN_WORK, id);

/** The run's upload: its id follows from the run's, so a repeated try announces the same one. */
export function uploadOfRun(id: string): string {
  return `upl_${id.slice('run_'.length)}`;
}

/** The owner and sender of what a source gives. */
export function sourcePrincipal(name: string): string {
  return `system:source:${name}`;
}
