/** A log that its own key has signed, with faults: `verify --log` finds them, and remembers nothing of it. */
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { cacheControlOf, LOG_ROOT, PUBLIC_PREFIX, parsePublicKey } from '../../../contract/files/public-objects.ts';
import { entryText, type LogEntry, type ObservationEntry } from '../../../contract/log/entries.ts';
import { parseEntry } from '../../../contract/log/parse-entry.ts';
import { publish } from '../../../publisher/publish.ts';
import { verifyLog } from '../../../publisher/verify/log/verify-log.ts';
import type { PublicReader } from '../../../publisher/verify/reading/reader.ts';
import { observationIdAt, orderKey } from '../../../storage/records/markets.ts';
import { growLog, type LogFiles, SIGNER } from '../../contract/log/sample-log.ts';
import { readTexts, testSigner, withLog } from '../log/test-log.ts';
import { createWorld, market, price, readerOf, SMALL_PAGES } from '../world.ts';
import { damagedReader, withBytes, withStatus } from './damaged-reader.ts';
import { loggedReader } from './logged-reader.ts';

const options = { vkeys: [testSigner().vkey], seen: null, pageSizes: SMALL_PAGES };
const flip = withBytes((bytes) => bytes.fill(bytes.readUInt8(3) ^ 1, 3, 4));

/** The bodies of a service with a log of these texts, which another key has signed. */
async function hostOf(bodies: PublicReader, texts: readonly string[]): Promise<PublicReader> {
  const files: LogFiles = new Map();
  await growLog(files, 0, texts);
  return async (url, headers) => {
    if (!url.startsWith(`${LOG_ROOT}/`)) return await bodies(url, headers);
    const path = url.slice(LOG_ROOT.length + 1);
    const plain = /^ndjson\/.*\.gz$/.test(path) ? [...files].find(([name]) => name.startsWith('plain/'))?.[1] : null;
    const body = plain ? gzipSync(plain) : files.get(path);
    const name = parsePublicKey(PUBLIC_PREFIX + url);
    if (body === undefined || name === null) return { status: 404, headers: new Map(), body: new Uint8Array() };
    const types = { checkpoint: 'text/plain; charset=utf-8', gz: 'application/gzip' };
    const type = types[path.endsWith('.gz') ? 'gz' : 'checkpoint'];
    const contentType = path.startsWith('tile/') ? 'application/octet-stream' : type;
    return {
      status: 200,
      headers: new Map([
        ['content-type', contentType],
        ['cache-control', cacheControlOf(name)],
      ]),
      body,
    };
  };
}

test('one observation has one correction', async () => {
  const world = createWorld();
  const dependencies = withLog(world.dependencies);
  await world.ingest([market('a'), price('a', 0, 1), price('a', 1, 5)]);
  await publish(dependencies);
  await world.ingest([price('a', 0, 2)], 'correct');
  await publish(dependencies);
  const texts = await readTexts(world.objects);
  const isCorrection = (entry: LogEntry) => entry.type === 'observation' && entry.supersedes !== null;
  const first = texts.map(parseEntry).find(isCorrection) as ObservationEntry;
  // Of another moment, so it has a place of its own.
  const other = { ...first, revision: first.revision + 1, observedAt: '2026-01-09T00:00:00Z' };
  const second = { ...other, id: observationIdAt('a', orderKey({ ...other, ordinal: 1 })) };
  const found = async (some: readonly string[]) => {
    const report = await verifyLog(await hostOf(readerOf(world.objects), some), { ...options, vkeys: [SIGNER.vkey] });
    return report.findings.map(({ rule, url }) => `${rule} ${url}`);
  };
  expect(await found(texts)).not.toContain('log /api/v1/markets/a');
  expect(await found([...texts, entryText(second)])).toContain('log /api/v1/markets/a');
});

test('each hash tile is compared, partial ones of all levels too', async () => {
  const world = createWorld();
  await world.ingest([market('a'), ...Array.from({ length: 260 }, (_, day) => price('a', -day, 1 + day))]);
  await publish(withLog(world.dependencies));
  const { length } = await readTexts(world.objects);
  const urls = [`${LOG_ROOT}/tile/0/000`, `${LOG_ROOT}/tile/0/001.p/${length - 256}`, `${LOG_ROOT}/tile/1/000.p/1`];
  for (const url of urls) {
    const { findings } = await verifyLog(damagedReader(loggedReader(world.objects), { [url]: flip }), options);
    expect(findings).toMatchObject([{ rule: 'log', url }]);
  }
});

test('nothing is remembered of a log whose files disagree, also if only the second look finds it', async () => {
  const world = createWorld();
  const dependencies = withLog(world.dependencies);
  await world.ingest([market('a'), price('a', 0, 1)]);
  await publish(dependencies);
  const sound = loggedReader(world.objects);
  let isSecond = false;
  const reader: PublicReader = async (url, headers) => {
    const answer = await sound(url, headers);
    if (isSecond && url.includes('/tile/0/')) return await flip(answer);
    return url === '/api/v1/markets/a' && !isSecond ? await withStatus(503)(answer) : answer;
  };
  const pause = async () => {
    isSecond = true;
    await world.ingest([price('a', 1, 2)]);
    await publish(dependencies);
    return true;
  };
  const report = await verifyLog(reader, { ...options, pause });
  expect(report.findings.map(({ rule }) => rule)).toContain('log');
  expect(report.checkpoint).toBeNull();
});
