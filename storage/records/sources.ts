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
 * A source and its state are created and removed in one transaction. They are two items, because operators see the revision
 * of the source, and runs must not change it.
 */

import type { SourceRecipe, SourceRun, SourceState } from '../../contract/operations/sources.ts';
import type { Json } from '../../contract/values/canonical-json.ts';
import type { KeyRange } from '../ports/paging.ts';
import type { Lease } from './batches.ts';
import { keyIn } from './keys.ts';

/** Revision counts changes. */
export type SourceValue = Omit<SourceRecipe, 'name' | 'recipe' | 'revision'> & { recipe: { [name: string]: Json } };

/** Revision counts changes. */
export type SourceStateValue = Omit<SourceState, 'name' | 'paused'> & {
  /**
   * When the source last gave an answer, for readers: an answer with new data, or the first one of a day (UTC). So it
   * changes once a day while the data do not change. `labels`: its names on markets, by the recipe. Absent: no answer yet.
   */
  fetched?: { at: string; labels: string[] };
  takenIn: TakenInValue | null;
  /** The counted bytes of the source in the archive, and its newest answer there. Absent: none. */
  archived?: { bytes: number; sha256: string };
  /** For a source that is a list: the newest valid answers, oldest first, and the recipe of all of them. Absent: none. */
  listed?: { recipeSha256: string; answers: ListedAnswerValue[] };
  /** For a list with past versions: the last version that was ingested, from this origin, by this recipe. Absent: none. */
  past?: { origin: string; recipeSha256: string; version: string; seenAt: string };
};

/** An answer of a list. Later answers are compared with it. */
export type ListedAnswerValue = {
  sha256: string;
  date: string;
  fetchedAt: string;
  lastModified: string | null;
  /** Whether all its records were accepted, so that later only differences from it must be sent. */
  isWhole: boolean;
  /** The permanent address of its bytes. Absent: its bytes have no permanent address. */
  url?: string;
};

/** The answer whose records were ingested last. `records` is the SHA-256 of their file. */
export type TakenInValue = {
  url: string;
  recipeSha256: string;
  etag: string | null;
  lastModified: string | null;
  records: string;
};

/** A run as the API shows it, without its name. Revision counts changes. A run that ingested nothing expires. */
export type RunValue = Omit<SourceRun, 'id' | 'source'> & {
  /** The UTC day of the run, `YYYY-MM-DD`: its records may depend on it. Null: the run has not begun. */
  date: string | null;
  /** Whether to request without conditions, and to ingest the same answer again. */
  unconditional: boolean;
  /** For a list: the moment of the fetch, and the earlier answers with which this one is compared. */
  fetchedAt?: string;
  listed?: ListedAnswerValue[];
};

/** Revision counts changes. */
export type RunWorkValue = {
  source: string;
  /** Until this moment, no other process takes the run. Without an owner, the run is not due before this moment. */
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

/** The run's upload: its id follows from the run's id, so a repeated attempt announces the same upload. */
export function uploadOfRun(id: string): string {
  return `upl_${id.slice('run_'.length)}`;
}

/** The owner and sender of a source's data. */
export function sourcePrincipal(name: string): string {
  return `system:source:${name}`;
}
