/** `npm start` on a data folder that an earlier version has written. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Service } from '../../embedded/service.ts';
import { httpReader } from '../../publisher/verify/bounded-reader.ts';
import { verify } from '../../publisher/verify/verify.ts';
import { LEDGER_FORMAT } from '../../storage/records/formats.ts';
import { looked, lostPages, observationsIn, pagesOf, startedOn, unpacked } from '../embedded/old-data-folder.ts';

/** It serves at once, and publishes marked markets in the background. */
const settled = (service: Service) => {
  const look = () => verify(httpReader(service.baseUrl), { settled: true });
  return vi.waitFor(
    async () => {
      const report = await look();
      expect(report.findings).toEqual([]);
      return report;
    },
    { timeout: 120_000, interval: 1_000 },
  );
};

describe('the embedded server', () => {
  test('migrates an old folder when it starts, with a message; the next start does not migrate again', async () => {
    const folder = await unpacked('applied');
    const pages = await looked(folder, pagesOf);
    const first = await startedOn(folder);
    expect(first.told).toEqual([...Array.from({ length: 106 }, (_, index) => `migrating ${index + 1}`), 'migrated']);
    expect((await readFile(join(folder, 'format'), 'utf8')).trim()).toBe(String(LEDGER_FORMAT));
    await settled(first.service);
    expect(await lostPages(httpReader(first.service.baseUrl), pages)).toEqual([]);
    await first.service.stop();
    const second = await startedOn(folder);
    await settled(second.service);
    expect(second.told).toEqual([]);
    expect([...first.reported, ...second.reported]).toEqual([]);
  });

  test('publishes, in place, a generation that an earlier version committed but did not apply', async () => {
    const folder = await unpacked('committed');
    const [pages, observations] = await looked(folder, async (data) => {
      return [await pagesOf(data), await observationsIn(data)] as const;
    });
    const { service, told, reported } = await startedOn(folder);
    expect(told.at(-1)).toBe('migrated');
    const report = await settled(service);
    expect(await lostPages(httpReader(service.baseUrl), pages)).toEqual([]);
    await service.stop();
    const after = await looked(folder, observationsIn);
    expect(report.observations).toBe(after.size);
    for (const [place, value] of observations) expect(after.get(place), place).toEqual(value);
    expect(reported.filter((entry) => typeof entry === 'string')).toEqual(['everything is published again']);
  });
});
