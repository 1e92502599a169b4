/** The history of a market from the entries of its observations. Pure. */

import type { ObservationEntry } from '../../../contract/log/entries.ts';
import { LogFaultError } from '../../../contract/log/log-fault-error.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { currencyExponent } from '../../../contract/values/money/currencies.ts';
import { type ObservationValue, observationIdAt, orderKey } from '../../../storage/records/markets.ts';
import type { OrderedObservation } from '../../kernel/market-view.ts';

interface Version {
  readonly entry: ObservationEntry;
  readonly order: string;
  readonly ordinal: number;
  next: ObservationEntry | null;
}

/**
 * All versions of all observations, in the order of the history.
 *
 * @param entries in the order of the log
 * @throws LogFaultError for an id that does not follow from its observation or has two contents, for a correction of an
 *   observation that has no earlier entry or was corrected already, and for a wrong number of decimals
 */
export function foldObservations(slug: string, entries: readonly ObservationEntry[]): readonly OrderedObservation[] {
  const byId = new Map<string, Version>();
  for (const entry of entries) {
    const known = byId.get(entry.id);
    if (known === undefined) byId.set(entry.id, versionOf(slug, entry, byId));
    // The log may state an observation again.
    else if (contentOf(known.entry) !== contentOf(entry)) throw fault(slug, entry, 'was stated with another content');
  }
  return [...byId.values()].map(orderedVersion).sort((one, other) => (one.order < other.order ? -1 : 1));
}

function versionOf(slug: string, entry: ObservationEntry, byId: ReadonlyMap<string, Version>): Version {
  const before = entry.supersedes === null ? null : byId.get(entry.supersedes);
  if (before === undefined) throw fault(slug, entry, `supersedes ${entry.supersedes}, which has no earlier entry`);
  if (before !== null && before.next !== null) {
    throw fault(slug, entry, `supersedes ${entry.supersedes}, which ${before.next.id} supersedes already`);
  }
  const ordinal = before === null ? 0 : before.ordinal + 1;
  const order = orderKey({ ...entry, ordinal });
  if (observationIdAt(slug, order) !== entry.id) throw fault(slug, entry, 'has an id that does not follow from it');
  if (entry.kind === 'money' && currencyExponent(entry.currency) !== entry.minorDigits) {
    throw fault(slug, entry, `states ${entry.minorDigits} decimals for ${entry.currency}`);
  }
  if (before !== null) before.next = entry;
  return { entry, order, ordinal, next: null };
}

function contentOf({ revision, ...content }: ObservationEntry): string {
  return canonicalJson(content as Json);
}

function orderedVersion({ entry, order, next }: Version): OrderedObservation {
  const links = { supersededAt: next?.recordedAt ?? null, supersededBy: next?.id ?? null };
  return { order, revision: entry.revision, observation: storedPart(entry, links) };
}

function storedPart(
  entry: ObservationEntry,
  links: Pick<ObservationValue, 'supersededAt' | 'supersededBy'>,
): ObservationValue {
  // The members of an entry are in canonical order, and stay in it here: then rendering need not sort them.
  if (entry.kind === 'money') {
    const { format, type, market, revision, minorDigits, supersedes, unknownReason, ...before } = entry;
    return { ...before, ...links, supersedes, unknownReason };
  }
  const { format, type, market, revision, supersedes, unit, unknownReason, value, ...before } = entry;
  return { ...before, ...links, supersedes, unit, unknownReason, value };
}

function fault(slug: string, { id }: ObservationEntry, what: string): LogFaultError {
  return new LogFaultError(`${id} of ${slug} ${what}`);
}
