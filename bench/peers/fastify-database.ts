/** The rows that the Fastify peer answers from: the usual tables, filled from the ledger's markets. */
import { DatabaseSync } from 'node:sqlite';
import type { MarketRecordValue } from '../../storage/records/markets.ts';

export interface PeerMarket {
  readonly slug: string;
  readonly revision: number;
  readonly record: MarketRecordValue;
}

const SCHEMA = `
  PRAGMA journal_mode = WAL;
  CREATE TABLE markets (
    slug TEXT PRIMARY KEY, name TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL,
    native_currency TEXT NOT NULL, unit_quantity INTEGER NOT NULL, unit_of TEXT NOT NULL,
    observations INTEGER NOT NULL, first_observed_at TEXT, last_observed_at TEXT, updated_at TEXT,
    revision INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE metrics (
    market TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL, amount_minor INTEGER, currency TEXT, value TEXT,
    unit TEXT, confidence TEXT NOT NULL, observed_at TEXT NOT NULL, released_at TEXT, rounded INTEGER NOT NULL,
    source_label TEXT NOT NULL, source_url TEXT NOT NULL, source_value TEXT, status TEXT NOT NULL, unknown_reason TEXT,
    PRIMARY KEY (market, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE sources (
    market TEXT NOT NULL, position INTEGER NOT NULL, label TEXT NOT NULL, url TEXT NOT NULL, publisher TEXT,
    licence TEXT, attribution TEXT, PRIMARY KEY (market, position)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE list_version (version INTEGER NOT NULL) STRICT;
  INSERT INTO list_version VALUES (1);
`;

export function fillPeerDatabase(path: string, markets: readonly PeerMarket[]): void {
  const database = new DatabaseSync(path);
  database.exec(SCHEMA);
  const insert = (table: string, values: Readonly<Record<string, string | number | null>>) => {
    const names = Object.keys(values);
    const places = names.map((name) => `:${name}`);
    database.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places.join(', ')})`).run(values);
  };
  database.exec('BEGIN');
  for (const { slug, revision, record } of markets) {
    insert('markets', {
      slug,
      name: record.name,
      kind: record.kind,
      status: record.status,
      native_currency: record.nativeCurrency,
      unit_quantity: record.unit.quantity,
      unit_of: record.unit.of,
      observations: record.observations,
      first_observed_at: record.firstObservedAt,
      last_observed_at: record.lastObservedAt,
      updated_at: record.updatedAt,
      revision,
    });
    for (const [name, { metric }] of Object.entries(record.latest)) {
      insert('metrics', {
        market: slug,
        name,
        kind: metric.kind,
        amount_minor: metric.kind === 'money' ? metric.amountMinor : null,
        currency: metric.kind === 'money' ? metric.currency : null,
        value: metric.kind === 'scalar' ? metric.value : null,
        unit: metric.kind === 'scalar' ? metric.unit : null,
        confidence: metric.confidence,
        observed_at: metric.observedAt,
        released_at: metric.releasedAt,
        rounded: Number(metric.rounded),
        source_label: metric.sourceLabel,
        source_url: metric.sourceUrl,
        source_value: metric.sourceValue,
        status: metric.status,
        unknown_reason: metric.unknownReason,
      });
    }
    for (const [position, { cadence, ...source }] of record.sources.entries()) {
      insert('sources', { market: slug, position, ...source });
    }
  }
  database.exec('COMMIT');
  database.close();
}
