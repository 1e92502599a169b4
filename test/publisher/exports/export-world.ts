/** A small deployment with a log, whose exports have small parts. */

import type { IngestMode, IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { type ExportOptions, makeExport } from '../../../publisher/projections/exports/make-export.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import { testSigner, withLog } from '../log/test-log.ts';
import { loggedReader } from '../verify/logged-reader.ts';
import { createWorld, price, SMALL_PAGES, type World } from '../world.ts';

export const DAY_MS = 24 * 60 * 60 * 1000;
export const SOURCE = {
  label: 'a test',
  url: 'https://example.com/source',
  publisher: 'Example',
  licence: 'CC-BY-4.0',
  attribution: 'Data by Example',
};

/** The days of a small deployment that has a log and exports. */
export function exportWorld() {
  const plain = createWorld();
  const world = plain.with({ ...withLog(plain.dependencies), projections: new Set(['log', 'exports']) });
  const options: ExportOptions = { storage: world.dependencies, partEntries: 256 };
  return {
    ...world,
    options,
    /** Takes records in, and publishes them. */
    async publishOf(records: readonly IngestRecordInput[], mode?: IngestMode): Promise<void> {
      await world.ingest(records, mode);
      await world.publishAll();
    },
    /** The findings of `verify --log`, which has this log's keys. */
    async findingsOfLog() {
      const options = { vkeys: [testSigner().vkey], seen: null, pageSizes: SMALL_PAGES, partEntries: 256 };
      return (await verifyLog(loggedReader(world.objects), options)).findings;
    },
    /** Publishes everything, and makes the export of the next day. */
    async nextDay(more: Partial<ExportOptions> = {}) {
      await world.publishAll();
      world.clock.nowMs += DAY_MS;
      return await makeExport({ ...options, ...more });
    },
  };
}

export const keysOf = (world: World) => [...world.objects.snapshot().keys()].filter((key) => key.includes('/exports/'));

/** Long ago, because a day in the future is refused. */
export const FIRST_DAY = -1_000;

export const days = (slug: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, day) => price(slug, FIRST_DAY + from + day, 100 + from + day));
