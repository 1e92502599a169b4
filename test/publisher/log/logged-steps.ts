/** A published log that grows step by step: for tests of what an entry says, and what the market's body shows. */
import { expect } from 'vitest';
import type { IngestRecordInput } from '../../../contract/ingest/ingest-records.ts';
import { publish } from '../../../publisher/publish.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import { createWorld, SMALL_PAGES } from '../world.ts';
import { faultsOfLog } from './log-oracle.ts';
import { readLog, testSigner, withLog } from './test-log.ts';

/** Nothing is ingested yet, and a first generation is published. */
export async function openLoggedSteps() {
  const world = createWorld();
  const dependencies = withLog(world.dependencies);
  const read = world.read;
  await publish(dependencies);
  return {
    /** The body of the market `a`. */
    bodyOf: async () => JSON.parse(Buffer.from((await read('/api/v1/markets/a')).body).toString('utf8')),
    /** Ingests and publishes the records. Returns the entries that the log has got. */
    async step(...records: IngestRecordInput[]) {
      const known = (await readLog(world.objects)).length;
      await world.ingest(records);
      await publish(dependencies);
      expect(await faultsOfLog(world.objects)).toEqual([]);
      return (await readLog(world.objects)).slice(known);
    },
    async expectProven() {
      const proven = await verifyLog(read, { vkeys: [testSigner().vkey], seen: null, pageSizes: SMALL_PAGES });
      expect(proven.findings).toEqual([]);
    },
  };
}
