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

/** Call in this order: `opening`, `observation` for each one, `closing`. */
export class MarketEntries {
  readonly #slug: string;
  readonly #record: Viewed['record'];
  readonly #isReset: boolean;
  readonly #wasLogged: boolean;
  /** The log has all facts up to this revision. */
  readonly #stated: number;
  readonly #before: LoggedParts;
  readonly #parts: LoggedParts;
  #isMarketStated = false;
  /** Revision and time that follow from the new entries alone: see `closing`. */
  #revision = NO_REVISION;
  #updatedAt: string | null = null;

  constructor({ slug, record, published, isReset }: Viewed) {
    this.#slug = slug;
    this.#record = record;
    this.#isReset = isReset;
    this.#wasLogged = published?.logged !== undefined;
    this.#stated = isReset ? NO_REVISION : (published?.logged ?? NO_REVISION);
    this.#before = isReset ? NO_PARTS : (published?.loggedParts ?? NO_PARTS);
    this.#parts = record === null || record.value.removal ? NO_PARTS : partsOf(record.value);
  }

  /** The fields of the published record that describe the log after these entries. */
  get logged(): Required<Pick<PublishedHeads, 'logged' | 'loggedParts'>> {
    return { logged: this.#record?.revision ?? 0, loggedParts: this.#parts };
  }

  opening(): readonly string[] {
    const texts: string[] = [];
    const record = this.#record;
    if (this.#isReset || (record === null && this.#wasLogged)) {
      texts.push(entryText({ format: LOG_FORMAT, type: 'reset', market: this.#slug }));
    }
    if (record === null || record.value.removal !== undefined) return texts;
    if (this.#parts.market !== this.#before.market) texts.push(this.#marketText());
    const known = this.#before.sources.split(' ');
    for (const [position, digest] of this.#parts.sources.split(' ').entries()) {
      if (digest !== '' && digest !== known[position]) texts.push(this.#text(sourceEntry(record.value, position)));
    }
    if (this.#parts.standing !== this.#before.standing) texts.push(this.#text(standingOf(record.value.standing)));
    return texts;
  }

  /** The entry of an observation. Null if the log already has it. */
  observation({ revision, observation: stored }: OrderedObservation): string | null {
    const { firstRevision = revision, ...observation } = stored;
    if (firstRevision <= this.#stated) return null;
    this.#revision = Math.max(this.#revision, firstRevision);
    this.#updatedAt = laterInstant(observation.recordedAt, this.#updatedAt);
    return entryText(observationEntry(this.#slug, firstRevision, observation));
  }

  /**
   * The removal. Otherwise the definition once more, if the record's revision or the time of its last change does not
   * follow from the other entries.
   */
  closing(): readonly string[] {
    const record = this.#record;
    if (record === null || record.revision <= this.#stated) return [];
    const { removal, updatedAt } = record.value;
    if (removal !== undefined) {
      const { reason, replacedBy, removedAt } = removal;
      return [this.#text({ type: 'removal', reason, replacedBy, removedAt })];
    }
    if (this.#isMarketStated || (this.#revision === record.revision && this.#updatedAt === updatedAt)) return [];
    return [this.#marketText()];
  }

  #marketText(): string {
    this.#isMarketStated = true;
    const { value } = this.#record as NonNullable<Viewed['record']>;
    return this.#text({ type: 'market', updatedAt: value.updatedAt, ...definitionOf(value) });
  }

  #text(fields: object): string {
    const { revision } = this.#record as NonNullable<Viewed['record']>;
    this.#revision = revision;
    return entryText({ format: LOG_FORMAT, market: this.#slug, revision, ...fields } as LogEntry);
  }
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
