/** A small deployment with a log, whose exports have small parts. */

import type { Projection } from '../../../contract/files/projections.ts';
import type { IngestMode, IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { type ExportOptions, makeExport } from '../../../publisher/projections/exports/make-export.ts';
import { publish } from '../../../publisher/publish.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import { testSigner, withLog } from '../log/test-log.ts';
import { loggedReader } from '../verify/logged-reader.ts';
import { createWorld, price, readerOf, SMALL_PAGES, type World } from '../world.ts';

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
  const world = createWorld();
  const projections = new Set<Projection>(['log', 'exports']);
  const dependencies = { ...withLog(world.dependencies), projections };
  const options: ExportOptions = {
    storage: dependencies,
    partEntries: 256,
  };
  const read = readerOf(world.objects);
  return {
    ...world,
    read,
    options,
    /** Takes records in, and publishes them. */
    async publishOf(records: readonly IngestRecordInput[], mode?: IngestMode): Promise<void> {
      await world.ingest(records, mode);
      while ((await publish(dependencies)).isMoreDue);
    },
    /** The findings of `verify --log`, which has this log's keys. */
    async findings() {
      const options = { vkeys: [testSigner().vkey], seen: null, pageSizes: SMALL_PAGES, partEntries: 256 };
      return (await verifyLog(loggedReader(world.objects), options)).findings;
    },
    /** Publishes everything, and makes the export of the next day. */
    async nextDay(more: Partial<ExportOptions> = {}) {
      while ((await publish(dependencies)).isMoreDue);
      world.clock.nowMs += DAY_MS;
      const outcome = await makeExport({ ...options, ...more });
      return outcome;
    },
  };
}

export const keysOf = (world: World) => [...world.objects.snapshot().keys()].filter((key) => key.includes('/exports/'));

/** Long ago, because a day in the future is refused. */
export const FIRST_DAY = -1_000;

export const days = (slug: string, count: number, from = 0) =>
  Array.from({ length: count }, (_, day) => price(slug, FIRST_DAY + from + day, 100 + from + day));
