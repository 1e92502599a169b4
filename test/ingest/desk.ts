/** Takes batches into a ledger of its own, as a worker does, and shows what became of the market `a`. */
import type { IngestMode } from '../../contract/ingest/ingest-records.ts';
import type { Observation } from '../../contract/values/metric.ts';
import type { Item } from '../../storage/ports/ledger.ts';
import { readAll } from '../../storage/ports/paging.ts';
import {
  type MarketRecordValue,
  type MarketStanding,
  marketKey,
  observationsOf,
} from '../../storage/records/markets.ts';
import { START_MS } from '../publisher/world.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { putItem } from '../storage/put-item.ts';
import { type IngestOptions, type IngestReport, ingest } from './ingest.ts';
import { openRecordedLedger, type RecordedLedger } from './recorded-ledger.ts';

export interface Desk {
  readonly ledger: RecordedLedger;
  send(records: readonly unknown[], options?: IngestOptions): Promise<IngestReport>;
  /** Sends one row: `accepted`, `unchanged`, or the code of its refusal. */
  outcome(record: unknown, mode?: IngestMode): Promise<string>;
  record(): Promise<MarketRecordValue & { readonly revision: number }>;
  /** In the order of the history. */
  observations(): Promise<readonly Observation[]>;
  /** Writes a standing into the market's record, as claims and verifications do. */
  give(standing: MarketStanding): Promise<void>;
}

export function openDesk(nowMs = START_MS): Desk {
  const ledger = openRecordedLedger(openMemoryLedger());
  const dependencies = { ledger, nowMs: () => nowMs, newAttemptId: () => crypto.randomUUID() };
  const market = async () => (await ledger.get(marketKey('a'))) as Item<MarketRecordValue>;
  const send: Desk['send'] = (records, options) => ingest(dependencies, records, options);
  return {
    ledger,
    send,
    async outcome(record, mode = 'append') {
      const { faults, accepted } = await send([record], { mode });
      return faults[0]?.code ?? (accepted === 1 ? 'accepted' : 'unchanged');
    },
    async record() {
      const { value, revision } = await market();
      return { ...value, revision };
    },
    observations: async () => (await readAll(ledger, observationsOf('a'))).map(({ value }) => value),
    async give(standing) {
      const { revision, value } = await market();
      await putItem(ledger, marketKey('a'), { ...value, standing }, revision);
    },
  };
}
