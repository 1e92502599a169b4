/**
 * The new entries of one market in one generation: the facts of its view that the log lacks. Pure. docs/log.md has their
 * order and meaning.
 */

import {
  entryText,
  LOG_FORMAT,
  type LogEntry,
  observationEntry,
  SECOND_FORMAT,
} from '../../../contract/log/entries.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { laterInstant } from '../../../contract/values/instants.ts';
import type { Source } from '../../../contract/values/market.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import type { MarketRecordValue } from '../../../storage/records/markets.ts';
import type { LoggedParts, PublishedHeads } from '../../../storage/records/publication.ts';
import type { MarketView, OrderedObservation } from '../../kernel/market-view.ts';
import { disputedMetricsOf } from '../bodies/render.ts';

/** The log has stated nothing: every revision is later than this one. */
const NO_REVISION = -1;
const NO_PARTS: LoggedParts = { market: '', sources: '', standing: '' };

export type Viewed = Pick<MarketView, 'slug' | 'record' | 'published' | 'isReset'>;

export type MarketEntries = ReturnType<typeof marketEntries>;

/** Call in this order: `opening`, `observation` for each one, `closing`. */
export function marketEntries({ slug, record, published, isReset }: Viewed) {
  /** The log has all facts up to this revision. */
  const stated = isReset ? NO_REVISION : (published?.logged ?? NO_REVISION);
  const before = isReset ? NO_PARTS : (published?.loggedParts ?? NO_PARTS);
  const parts = record === null || record.value.removal ? NO_PARTS : partsOf(record.value);
  let isMarketStated = false;
  /** Revision and time that follow from the new entries alone: see `closing`. */
  let newest = NO_REVISION;
  let updatedAt: string | null = null;

  const textOf = (of: NonNullable<Viewed['record']>, fields: object): string => {
    newest = of.revision;
    return entryText({ format: LOG_FORMAT, market: slug, revision: of.revision, ...fields } as LogEntry);
  };
  const definition = (of: NonNullable<Viewed['record']>): string => {
    isMarketStated = true;
    return textOf(of, { type: 'market', updatedAt: of.value.updatedAt, ...definitionOf(of.value) });
  };

  return {
    /** The fields of the published record that describe the log after these entries. */
    logged: { logged: record?.revision ?? 0, loggedParts: parts } satisfies Pick<
      PublishedHeads,
      'logged' | 'loggedParts'
    >,

    opening(): readonly string[] {
      const texts: string[] = [];
      if (isReset || (record === null && published?.logged !== undefined))
        texts.push(entryText({ format: LOG_FORMAT, type: 'reset', market: slug }));
      if (record === null || record.value.removal !== undefined) return texts;
      if (parts.market !== before.market) texts.push(definition(record));
      const known = before.sources.split(' ');
      for (const [position, digest] of parts.sources.split(' ').entries()) {
        if (digest !== '' && digest !== known[position])
          texts.push(textOf(record, sourceEntry(record.value, position)));
      }
      if (parts.standing !== before.standing) texts.push(textOf(record, standingOf(record.value.standing)));
      return texts;
    },

    /** The entry of an observation. Null if the log already has it. */
    observation({ revision, observation: stored }: OrderedObservation): string | null {
      const { firstRevision = revision, ...observation } = stored;
      if (firstRevision <= stated) return null;
      newest = Math.max(newest, firstRevision);
      updatedAt = laterInstant(observation.recordedAt, updatedAt);
      return entryText(observationEntry(slug, firstRevision, observation));
    },

    /**
     * The removal. Otherwise the definition once more, if the record's revision or the time of its last change does not
     * follow from the other entries.
     */
    closing(): readonly string[] {
      if (record === null || record.revision <= stated) return [];
      const { removal } = record.value;
      if (removal !== undefined) {
        const { reason, replacedBy, removedAt } = removal;
        return [textOf(record, { type: 'removal', reason, replacedBy, removedAt })];
      }
      if (isMarketStated || (newest === record.revision && updatedAt === record.value.updatedAt)) return [];
      return [definition(record)];
    },
  };
}

/** A definition without attributes and without a rule for outliers keeps the first format, byte for byte. */
function definitionOf(record: MarketRecordValue): object {
  const { name, kind, status, nativeCurrency, unit, sources, attributes, outliers, outliersReason = null } = record;
  const definition = { name, kind, status, nativeCurrency, unit, sourceCount: sources.length };
  if (attributes === undefined && outliers === undefined) return definition;
  const rule = outliers === undefined ? {} : { outliers, outliersReason };
  return { ...definition, format: SECOND_FORMAT, ...(attributes && { attributes }), ...rule };
}

function sourceEntry({ sources, standing }: MarketRecordValue, position: number): object {
  const { cadence = null, ...source } = sources[position] as Source;
  return { type: 'source', position, ...source, cadence, verification: standing?.verifications[source.url] ?? null };
}

function standingOf(standing: MarketRecordValue['standing']): object {
  const represented = standing?.representedBy ?? null;
  const representedBy = represented === null ? null : { digest: digestOfName(represented) };
  return { type: 'standing', disputedMetrics: disputedMetricsOf(standing), representedBy };
}

/** A name has no salt if its claim was accepted before the log began. */
function digestOfName({ name, salt }: { readonly name: string; readonly salt?: string }): string | null {
  return salt === undefined ? null : sha256Hex(`${salt}\n${name}`);
}

const NO_STANDING = canonicalJson(standingOf(undefined) as Json);

/** A digest of 12 digits for each entry. The default standing needs no entry. */
function partsOf(record: MarketRecordValue): LoggedParts {
  const short = (text: string) => sha256Hex(text).slice(0, 12);
  const digest = (fields: object) => short(canonicalJson(fields as Json));
  const standing = canonicalJson(standingOf(record.standing) as Json);
  return {
    market: digest(definitionOf(record)),
    sources: record.sources.map((_, position) => digest(sourceEntry(record, position))).join(' '),
    standing: standing === NO_STANDING ? '' : short(standing),
  };
}
