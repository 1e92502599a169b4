/** What the status page makes of the log and of the newest prices, without a browser. */
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { LogVerificationError } from '../../../clients/typescript/signed-log.ts';
import { checkLog, logFault } from '../../../clients/web/browser/status/log-check.ts';
import { parseHealth } from '../../../clients/web/browser/status/service-health.ts';
import {
  publicationLagSeconds,
  type SourceFreshness,
  sourceFreshness,
} from '../../../clients/web/browser/status/source-freshness.ts';
import { type VerdictFacts, verdictOf } from '../../../clients/web/browser/status/verdict.ts';
import type { LatestEntry } from '../../../contract/bodies/latest-entries.ts';
import { checkpointText } from '../../../contract/log/checkpoint.ts';
import { leafHash } from '../../../contract/log/merkle.ts';
import { signNote } from '../../../contract/log/notes.ts';
import { ndjsonPath, TILE_WIDTH, tilePath } from '../../../contract/log/tiles.ts';
import { LogTree } from '../../../contract/log/tree.ts';
import { LOG_ORIGIN, testSigner } from '../../publisher/log/test-log.ts';

/** The files of a log with these entries, by path. */
async function filesOf(texts: readonly string[]): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const tree = new LogTree();
  for (const text of texts) {
    for (const { level, n, width, hashes } of tree.append(leafHash(text))) files.set(tilePath(level, n, width), hashes);
  }
  for (const { level, n, width, hashes } of tree.partialTiles()) files.set(tilePath(level, n, width), hashes);
  for (let n = 0; n * TILE_WIDTH < texts.length; n++) {
    const lines = texts.slice(n * TILE_WIDTH, (n + 1) * TILE_WIDTH);
    files.set(ndjsonPath(n, lines.length), gzipSync(lines.map((line) => `${line}\n`).join('')));
  }
  const text = checkpointText({ origin: LOG_ORIGIN, size: texts.length, root: tree.root() });
  files.set('checkpoint', Buffer.from(await signNote(text, [testSigner()])));
  files.set('vkey', Buffer.from(`${testSigner().vkey}\n`));
  return files;
}

async function checked(files: ReadonlyMap<string, Buffer>) {
  return await checkLog(async (path) => {
    const file = files.get(path);
    if (file === undefined) throw new TypeError(`${path} is not there`);
    return new Uint8Array(file);
  });
}

const entries = (count: number, begin = 0) =>
  Array.from({ length: count }, (_, index) => JSON.stringify({ market: 'a', n: begin + index, type: 'observation' }));

describe('a log', () => {
  const LONG = entries(700);

  test('is checked whole at the first look, and its newest entry is shown', async () => {
    const log = await checked(await filesOf(LONG));
    expect(log).toMatchObject({
      origin: LOG_ORIGIN,
      size: 700,
      vkeys: [testSigner().vkey],
      signers: [LOG_ORIGIN],
      newest: { index: 699, entry: { market: 'a', n: 699 } },
    });
    expect((await checked(await filesOf([]))).newest).toBeNull();
  });

  test.each<[string, string]>([
    ['a hash', tilePath(0, 2, 188)],
    ['the root', 'checkpoint'],
    ['an entry', ndjsonPath(2, 188)],
  ])('with %s that is wrong is found', async (_, path) => {
    const files = await filesOf(LONG);
    const other = await filesOf(entries(700, 1));
    files.set(path, other.get(path) as Buffer);
    const error = await checked(files).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(LogVerificationError);
    expect(logFault(error).isFound).toBe(true);
  });

  test('whose newest entry was taken down is right', async () => {
    const files = await filesOf(LONG);
    const lines = [...LONG.slice(512, 699), `{"takenDown":"${leafHash(LONG[699] as string).toString('base64')}"}`];
    files.set(ndjsonPath(2, 188), gzipSync(lines.map((line) => `${line}\n`).join('')));
    expect(await checked(files)).toMatchObject({ size: 700, newest: null });
  });

  test('that cannot be read, or not checked in this browser, is not found wrong', async () => {
    const files = await filesOf(LONG);
    files.delete('vkey');
    expect(logFault(await checked(files).catch((cause: unknown) => cause)).isFound).toBe(false);
    expect(logFault(new DOMException('no', 'NotSupportedError'))).toEqual({
      isFound: false,
      text: 'this browser cannot check signatures of Ed25519',
    });
  });
});

describe('sources', () => {
  const NOW_MS = Date.parse('2026-10-02T12:00:00Z');
  const entry = (source: string | null, observedAt: string | null, fields: Partial<LatestEntry> = {}) =>
    ({
      source,
      observedAt,
      decimal: '1',
      expectedNextAt: null,
      graceSeconds: null,
      recordedAt: null,
      ...fields,
    }) as LatestEntry;

  test('that are late come first, then the ones with the oldest newest price', () => {
    const due = (expectedNextAt: string) => ({ expectedNextAt, graceSeconds: 60 });
    const found = sourceFreshness(
      [
        entry('b', '2026-10-01T00:00:00Z', due('2026-10-03T00:00:00Z')),
        entry('a', '2026-09-30T00:00:00Z'),
        entry('late', '2026-10-01T00:00:00Z', due('2026-10-02T00:00:00Z')),
        entry('late', '2026-10-02T00:00:00Z', due('2026-10-03T00:00:00Z')),
        entry('late', '2026-09-01T00:00:00Z', { ...due('2026-09-02T00:00:00Z'), decimal: null }),
        entry(null, null),
      ],
      NOW_MS,
    );
    expect(found.map(({ label }) => label)).toEqual(['late', 'a', 'b']);
    expect(found[0]).toEqual({
      label: 'late',
      markets: 3,
      newestKnownAt: '2026-10-02T00:00:00Z',
      newestAt: '2026-10-02T00:00:00Z',
      oldestAt: '2026-09-01T00:00:00Z',
      late: 2,
      lateSince: '2026-09-02T00:00:00Z',
      unknown: 1,
      hasCadence: true,
      staleDays: null,
    });
    expect(found.map(({ hasCadence }) => hasCadence)).toEqual([true, false, true]);
  });

  test('are old after a week, if they state no cadence; a list is not, and of a retired market nothing is expected', () => {
    const old = entry('old', '2026-08-08T00:00:00Z');
    const metrics = { inputPrice: { decimal: '1', unit: 'USD', observedAt: '2026-08-08T00:00:00Z' } };
    const list = { ...entry('list', null), decimal: null, metrics };
    const due = entry('due', '2026-08-08T00:00:00Z', { expectedNextAt: '2027-01-01T00:00:00Z', graceSeconds: 0 });
    const ended = entry('ended', '2010-01-01T00:00:00Z', { retired: true });
    const found = sourceFreshness([old, list, due, ended, entry('new', '2026-09-25T12:00:00Z')], NOW_MS);
    expect(Object.fromEntries(found.map(({ label, staleDays }) => [label, staleDays]))).toEqual({
      ...{ old: 55, list: null, due: null, new: null },
    });
  });

  test('have the newest moment of a known price, which an unknown one does not make newer', () => {
    const known = entry('a', '2026-10-01T00:00:00Z');
    const unknown = entry('a', '2026-10-02T00:00:00Z', { decimal: null });
    expect(sourceFreshness([unknown, known], NOW_MS)).toMatchObject([
      { newestKnownAt: '2026-10-01T00:00:00Z', newestAt: '2026-10-02T00:00:00Z' },
    ]);
    expect(sourceFreshness([unknown], NOW_MS)).toMatchObject([{ newestKnownAt: null }]);
  });

  test.each<[string, number | null, readonly (string | null)[]]>([
    [
      'from the recording of the newest price to its publication',
      5,
      ['2026-10-02T11:00:00Z', '2026-10-02T11:59:55.500Z', null],
    ],
    ['not if something else was published', null, ['2026-10-02T11:00:00Z']],
    ['not if the list is newer than the snapshot', null, ['2026-10-02T12:00:02Z']],
    ['not without a price', null, [null]],
  ])('the lag is known %s', (_, seconds, recorded) => {
    const all = recorded.map((recordedAt) => entry('a', '2026-10-01T00:00:00Z', { recordedAt }));
    expect(publicationLagSeconds(all, '2026-10-02T12:00:00Z')).toBe(seconds);
  });
});

describe('the verdict', () => {
  const NOW_MS = Date.parse('2026-10-02T12:00:00Z');
  const source = (fields: Partial<SourceFreshness>): SourceFreshness => ({
    ...{ label: 'a', markets: 1, newestAt: '2026-10-02T00:00:00Z', oldestAt: '2026-10-02T00:00:00Z', late: 0 },
    ...{
      newestKnownAt: '2026-10-02T00:00:00Z',
      lateSince: null,
      unknown: 0,
      hasCadence: true,
      staleDays: null,
      ...fields,
    },
  });
  const snapshot = { publishedAt: '2026-10-02T11:00:00Z' } as VerdictFacts['snapshot'];
  const facts: VerdictFacts = {
    ...{ problem: null, snapshot, copySeconds: null, health: null, sources: [source({})], logFault: null },
    nowMs: NOW_MS,
  };
  const health = (status: string) =>
    parseHealth({ status, faults: [{ part: 'publishing', detail: 'Publishing fails.' }] });
  test.each<[string, Partial<VerdictFacts>, string, number]>([
    ['operational, if everything is as expected', {}, 'operational', 1],
    ['operational, if the server says so', { health: health('ok') }, 'operational', 1],
    ['delayed, if a source is late', { sources: [source({ late: 1 })] }, 'delayed', 1],
    ['old, if a price is old that nobody promised', { sources: [source({ staleDays: 55 })] }, 'old', 1],
    ['old, if one of two is', { sources: [source({}), source({ staleDays: 55 })] }, 'old', 2],
    ['delayed, if the edge shows a copy', { copySeconds: 90 }, 'delayed', 1],
    ['delayed, while the server starts', { health: health('starting') }, 'delayed', 1],
    [
      'delayed, if files wait',
      { snapshot: { ...snapshot, deferred: ['feeds'] } as VerdictFacts['snapshot'] },
      'delayed',
      1,
    ],
    ['delayed, if a host has had no files for long', { nowMs: NOW_MS + 9 * 86_400_000 }, 'delayed', 1],
    ['failing, if the files cannot be read', { problem: 'the service gave no answer' }, 'failing', 1],
    ['failing, if the server says so', { health: health('failing') }, 'failing', 1],
    ['failing, if the log was changed', { logFault: 'a hash is wrong' }, 'failing', 1],
    ['failing before delayed, with both reasons', { problem: 'x', sources: [source({ late: 1 })] }, 'failing', 2],
  ])('is %s', (_, fields, state, reasons) => {
    const verdict = verdictOf({ ...facts, ...fields });
    expect([verdict.state, verdict.reasons.length]).toEqual([state, reasons]);
  });

  test('has the words of the server, and only those of an answer to /healthz', () => {
    expect(verdictOf({ ...facts, health: health('failing') }).reasons).toEqual(['Publishing fails.']);
    expect(parseHealth({ status: 'failing', faults: [null, { detail: 7 }] })?.faults).toEqual([]);
    expect(parseHealth({ status: 'ok', of: 'https://data.example' })?.mirror?.of).toBe('https://data.example');
    for (const body of [null, 'ok', [], {}, { status: 'fine' }]) expect(parseHealth(body)).toBeNull();
  });
});
