/** What the status page makes of the log and of the newest prices, without a browser. */
import { gunzipSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
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
import { leafHash } from '../../../contract/log/merkle.ts';
import { LOG_ORIGIN, testSigner } from '../../publisher/log/test-log.ts';
import { market, price } from '../../publisher/world.ts';
import { serveWorld } from '../typescript/served-world.ts';

describe('a log', () => {
  let served: Awaited<ReturnType<typeof serveWorld>>;
  const readLog = async (path: string) =>
    new Uint8Array(await (await fetch(`${served.url}/api/v1/log/${path}`)).arrayBuffer());
  beforeAll(async () => {
    served = await serveWorld();
    await served.publish([market('a'), ...Array.from({ length: 270 }, (_, day) => price('a', day - 270, 5))]);
    return () => served.close();
  });

  test('is checked whole at the first look, and its newest entry is shown', async () => {
    expect(await checkLog(readLog)).toMatchObject({
      ...{ origin: LOG_ORIGIN, size: 272, vkeys: [testSigner().vkey], signers: [LOG_ORIGIN] },
      newest: { index: 271, entry: expect.any(Object) },
    });
  });

  test.each<[string, RegExp]>([
    ['a hash', /^tile\/0\/001/],
    ['the root', /^checkpoint$/],
    ['an entry', /^ndjson\/001/],
  ])('with %s that is wrong is found', async (_, wrong) => {
    const spoiled = async (path: string) => {
      const bytes = await readLog(path);
      if (!wrong.test(path)) return bytes;
      if (!path.startsWith('ndjson')) return bytes.map((byte, at) => (at === LOG_ORIGIN.length + 6 ? byte ^ 1 : byte));
      return new Uint8Array(gzipSync(gunzipSync(bytes).toString().replace(/\}\n$/, ',"more":1}\n')));
    };
    const error = await checkLog(spoiled).catch((cause: unknown) => cause);
    expect(error).toBeInstanceOf(LogVerificationError);
    expect(logFault(error).isFound).toBe(true);
  });

  test('whose newest entry was taken down is right', async () => {
    const takenDown = async (path: string) => {
      const bytes = await readLog(path);
      if (!path.startsWith('ndjson')) return bytes;
      const lines = gunzipSync(bytes).toString().trimEnd().split('\n');
      const hidden = `{"takenDown":"${leafHash(lines.pop() as string).toString('base64')}"}`;
      return new Uint8Array(gzipSync([...lines, hidden].map((line) => `${line}\n`).join('')));
    };
    expect(await checkLog(takenDown)).toMatchObject({ size: 272, newest: null });
  });

  test('that cannot be read, or not checked in this browser, is not found wrong', async () => {
    const away = async () => Promise.reject(new TypeError('it is not there'));
    expect(logFault(await checkLog(away).catch((cause: unknown) => cause)).isFound).toBe(false);
    expect(logFault(new DOMException('no', 'NotSupportedError')).isFound).toBe(false);
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

  test('are old after a week without a known one, if they state no cadence; a list is not, and of a retired market nothing is expected', () => {
    const old = entry('old', '2026-08-08T00:00:00Z');
    const metrics = { inputPrice: { decimal: '1', unit: 'USD', observedAt: '2026-08-08T00:00:00Z' } };
    const list = { ...entry('list', null), decimal: null, metrics };
    const due = entry('due', '2026-08-08T00:00:00Z', { expectedNextAt: '2027-01-01T00:00:00Z', graceSeconds: 0 });
    const ended = entry('ended', '2010-01-01T00:00:00Z', { retired: true });
    const unknown = entry('old', '2026-09-25T12:00:00Z', { decimal: null, unknownReason: 'not-published' });
    const found = sourceFreshness([old, unknown, list, due, ended, entry('new', '2026-09-25T12:00:00Z')], NOW_MS);
    expect(Object.fromEntries(found.map(({ label, staleDays }) => [label, staleDays]))).toEqual({
      ...{ old: 55, list: null, due: null, new: null },
    });
  });

  test.each<[string, number | null, readonly (string | null)[]]>([
    [
      'from the recording of the newest price to its publication',
      5,
      ['2026-10-02T11:00:00Z', '2026-10-02T11:59:55.500Z', null],
    ],
    ['not if something else was published', null, ['2026-10-02T11:00:00Z']],
    ['not if the list is newer than the snapshot', null, ['2026-10-02T12:00:02Z']],
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
    ['delayed, if a source is late', { sources: [source({ late: 1 })] }, 'delayed', 1],
    ['old, if a price is old that nobody promised', { sources: [source({ staleDays: 55 })] }, 'old', 1],
    [
      'delayed, if files wait',
      { snapshot: { ...snapshot, deferred: ['feeds'] } as VerdictFacts['snapshot'] },
      'delayed',
      1,
    ],
    ['delayed, if a host has had no files for long', { nowMs: NOW_MS + 9 * 86_400_000 }, 'delayed', 1],
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
