/** `receipt` and `verify --log`, in this process, against a small published log over HTTP. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommanderError } from 'commander';
import { beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { CommandError } from '../../cli/program/exit-codes.ts';
import { createProgram } from '../../cli/program/program.ts';
import type { IngestRecordInput } from '../../contract/ingest/ingest-records.ts';
import { findEntry, type SoughtEntry } from '../../contract/log/find-entry.ts';
import { EMPTY_ROOT } from '../../contract/log/merkle.ts';
import { DEFAULT_PAGE_SIZES } from '../../publisher/dependencies.ts';
import { publish } from '../../publisher/publish.ts';
import { receiptParts } from '../clients/typescript/receipt-parts.ts';
import { testSigner, withLog } from '../publisher/log/test-log.ts';
import { loggedReader } from '../publisher/verify/logged-reader.ts';
import { type ServedReader, serveReader } from '../publisher/verify/serve-reader.ts';
import { createWorld, market, price, type World } from '../publisher/world.ts';
import { runs } from '../runs.ts';
import { folderForAll } from '../storage/temporary-folder.ts';

const VKEY = testSigner().vkey;
const GOLDEN = join(import.meta.dirname, '../contract/log/golden');
const GOLDEN_KEY = readFileSync(join(GOLDEN, 'vkey'), 'utf8').trim().split('\n')[1] as string;

const temporary = folderForAll();
let world: World;
let served: ServedReader;
let url: string;
let printed: string;

beforeAll(async () => {
  world = createWorld(DEFAULT_PAGE_SIZES);
  await world.ingest([market('a'), market('b'), price('a', 0, 4129), price('a', 1, null), price('b', 0, 5)]);
  const yen = { ...market('c'), unit: { quantity: 10_000, of: 'JPY' } };
  await world.ingest([yen as IngestRecordInput, price('c', 0, 5160)]);
  await publish(withLog(world.dependencies));
  await world.ingest([price('a', 0, 4130)], 'correct');
  const taken = { type: 'retraction', kind: 'mistake', market: 'd', metric: 'price', publicReason: 'A typo' };
  await world.ingest([market('d'), price('d', 0, 7), { ...price('d', 300, 8), announced: true } as IngestRecordInput]);
  const { observedAt, sourceUrl } = price('d', 0, 7) as unknown as Record<string, string>;
  await world.ingest([{ ...taken, observedAt, sourceUrl, reason: 'A test' } as IngestRecordInput]);
  await publish(withLog(world.dependencies));
  served = await serveReader(loggedReader(world.objects));
  ({ url } = served);
  return () => served.close();
});

beforeEach(() => {
  printed = '';
  const keep = (chunk: unknown) => {
    printed += String(chunk);
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(keep);
  vi.spyOn(process.stderr, 'write').mockImplementation(keep);
});

const config = () => join(temporary.folder, 'config.json');
const logs = () => join(temporary.folder, 'logs.json');

const parsed = async (words: readonly string[]) =>
  await (await createProgram(words)).parseAsync([...words, '--config', config()], { from: 'user' });

/** The error that it ends with. */
async function failureOf(...words: readonly string[]): Promise<CommandError> {
  return await parsed(words).then(
    () => expect.unreachable(),
    (error) => error,
  );
}

/** What it prints, and its exit code; or the name of its fault. */
async function run(...words: readonly string[]): Promise<string | number> {
  process.exitCode = 0;
  try {
    await parsed(words);
    return Number(process.exitCode);
  } catch (error) {
    return (error as CommandError).exit ?? (error as CommanderError).code;
  } finally {
    process.exitCode = 0;
  }
}

describe('verify --log', () => {
  test('takes the key of the log on its word once, says so, and remembers it in a file of mode 600', async () => {
    expect(await run('verify', url, '--log')).toBe(0);
    expect(printed).toContain(VKEY);
    expect(statSync(logs()).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(logs(), 'utf8'))).toMatchObject({ [`${url}/`]: { vkeys: [VKEY] } });
    printed = '';
    expect(await run('verify', url, '--log', '--json')).toBe(0);
    expect(printed).not.toContain('the first check');
    expect(JSON.parse(printed)).toMatchObject({ findings: [], log: { size: 13, vkeys: [VKEY], takenDown: 0 } });
  });

  test('takes several keys, each after its own option, and a URL behind one', async () => {
    const other = testSigner(2).vkey;
    expect(await run('verify', '--log', '--log-key', other, '--log-key', VKEY, url)).toBe(0);
    expect(await run('verify', '--log', '--log-key', other, url)).toBe(1);
    expect(await run('verify', '--removed', 'a', url, 'b')).toBe('commander.excessArguments');
  });

  test.each([
    ['verify', '--log', '--log-key', 'gold', 'http://127.0.0.1:1'],
    ['receipt', 'a', '--log-key', VKEY.replace(/\+[0-9a-f]{8}/, '+00000000')],
    ['receipt', 'verify', 'none', '--log-key', ''],
    ['mirror', 'http://127.0.0.1:1', 'none', '--log-key', 'http://127.0.0.1:1'],
  ])('a key that is none is refused at once: %s %s', async (...words) => {
    expect(await run(...words)).toBe('commander.invalidArgument');
  });

  test('does not trust a log that uses the name of a known one with another key, unless that key is given', async () => {
    const checkpoint = JSON.parse(readFileSync(logs(), 'utf8'))[`${url}/`].checkpoint;
    const before = { 'https://data.example/': { vkeys: [testSigner(2).vkey], checkpoint } };
    writeFileSync(logs(), JSON.stringify(before), { mode: 0o600 });
    expect(await run('verify', url, '--log')).toBe(1);
    expect(printed).toMatch(/is not a key of tidemark\.test\/log at https:\/\/data\.example\//);
    expect(JSON.parse(readFileSync(logs(), 'utf8'))).toEqual(before);
    expect(await run('verify', url, '--log', '--log-key', VKEY)).toBe(0);
    const known = { ...before, [`${url}/`]: { vkeys: [VKEY], checkpoint } };
    expect(JSON.parse(readFileSync(logs(), 'utf8'))).toEqual(known);
    writeFileSync(logs(), '{}');
  });

  test('refuses a file of others, a file that it has not written, and a key without --log', async () => {
    writeFileSync(logs(), '{}', { mode: 0o600 });
    const others = join(temporary.folder, 'logs.json');
    writeFileSync(others, '{"a":{}}');
    expect(await run('verify', url, '--log')).toBe('usage');
    writeFileSync(others, '{}');
    expect(await run('verify', url, '--log')).toBe(0);
    expect(await run('verify', url, '--log-key', VKEY)).toBe('usage');
  });
});

describe('receipt', () => {
  const receipt = () => join(temporary.folder, 'a.tlog-proof');
  const make = (...words: readonly string[]) => run('receipt', 'a', '--url', url, ...words);

  test('writes a proof of the newest version, which needs the key alone', async () => {
    expect(await make('--observed-at', '2026-01-01T00:00:00Z', '-o', receipt())).toBe(0);
    printed = '';
    expect(await run('receipt', 'verify', receipt(), '--log-key', VKEY)).toBe(0);
    expect(printed).toContain('value\t41.30 USD for the quantity that the market quotes\n');
    expect(printed).toContain('quantity\tnot in this receipt: the market entry of a in the log has it\n');
    expect(printed).toContain('corrects\tobs_');
    expect(await run('receipt', 'verify', receipt(), '--log-key', testSigner(2).vkey)).toBe('findings');
  });

  test('of a price for 10,000 says so while the quantity is known, and never shows the amount alone', async () => {
    printed = '';
    expect(await run('receipt', 'c', '--url', url, '--observed-at', '2026-01-01T00:00:00Z', '-o', receipt())).toBe(0);
    expect(printed).toContain('Its value is 51.60 USD per 10,000 JPY = 0.00516 USD per JPY.\n');
    printed = '';
    expect(await run('receipt', 'verify', receipt(), '--log-key', VKEY)).toBe(0);
    expect(printed).toContain('value\t51.60 USD for the quantity that the market quotes\n');
  });

  test.each([
    ['an announced value', '2026-10-28T00:00:00Z', 'status\tfinal, announced\n'],
    ['a retraction', '2026-01-01T00:00:00Z', 'status\tfinal, retracted: mistake (A typo)\n'],
  ])('of %s says so', async (_, observedAt, status) => {
    expect(await run('receipt', 'd', '--url', url, '--observed-at', observedAt, '-o', receipt())).toBe(0);
    printed = '';
    expect(await run('receipt', 'verify', receipt(), '--log-key', VKEY)).toBe(0);
    expect(printed).toContain(status);
  });

  test('without --log-key only keys count that every base URL of this log has shown', async () => {
    expect(await make('--observed-at', '2026-01-01T00:00:00Z', '-o', receipt())).toBe(0);
    const { checkpoint } = receiptParts(readFileSync(receipt(), 'utf8'));
    const golden = receiptParts(readFileSync(join(GOLDEN, 'entry-8.tlog-proof'), 'utf8')).checkpoint;
    const [key, other] = [VKEY, testSigner(2).vkey];
    const outcome = async (...vkeys: readonly (readonly string[])[]) => {
      const known = vkeys.map((keys, at) => [`https://${at}.example/`, { vkeys: keys, checkpoint }]);
      writeFileSync(logs(), JSON.stringify(Object.fromEntries(known)), { mode: 0o600 });
      printed = '';
      return await run('receipt', 'verify', receipt());
    };
    expect(await outcome([key], [other, key])).toBe(0);
    expect(printed).toContain(
      `signed by\t${key.split('+', 2).join('+')}, learned from https://0.example/ and https://1`,
    );
    expect(await outcome([key], [other])).toBe('usage');
    expect(await outcome([other])).toBe('findings');
    // A log of another origin may name any key.
    writeFileSync(logs(), JSON.stringify({ 'https://evil.example/': { vkeys: [key], checkpoint: golden } }));
    expect(await run('receipt', 'verify', receipt())).toBe('usage');
    expect(await run('receipt', 'verify', receipt(), '--log-key', key)).toBe(0);
    expect(printed).toContain('as given by --log-key');
    writeFileSync(logs(), '{}');
  });

  test('without a known key names a command that learns it, and --log-key', async () => {
    writeFileSync(logs(), '{}');
    expect(await make('--observed-at', '2026-01-01T00:00:00Z', '-o', receipt())).toBe(0);
    const { exit, hint } = await failureOf('receipt', 'verify', receipt());
    expect(exit).toBe('usage');
    const [, command = ''] = /^ +tidemark (.*)$/m.exec(hint ?? '') ?? [];
    expect(await run(...command.replace('URL', url).split(' '))).toBe(0);
    expect(await run('receipt', 'verify', receipt())).toBe(0);
    writeFileSync(logs(), '{}');
    expect(hint).toContain('--log-key');
    const [, place = ''] = /URL(\/\S+\/vkey)/.exec(hint ?? '') ?? [];
    const shown = (await (await fetch(url + place)).text()).trim();
    expect(await run('receipt', 'verify', receipt(), '--log-key', shown)).toBe(0);
  });

  test('prints it without a file, also of an unknown value, given as another spelling of its moment', async () => {
    expect(await make('--observed-at', '2026-01-02T00:00:00.000+00:00', '--metric', 'price')).toBe(0);
    expect(JSON.parse(String(receiptParts(printed).extra))).toMatchObject({ unknownReason: 'not-published' });
  });

  test.each([
    ['nothing', []],
    ['no moment', ['--observed-at', 'yesterday']],
    ['a moment without a value', ['--observed-at', '2026-01-03T00:00:00Z']],
    ['another metric', ['--observed-at', '2026-01-01T00:00:00Z', '--metric', 'volume']],
    ['another source', ['--observed-at', '2026-01-01T00:00:00Z', '--source', 'https://example.com/z']],
  ])('of %s is refused', async (_, words) => {
    expect(await make(...words)).toBe('usage');
  });

  test('finds its entry with few reads in the order of time, and with more in any other', async () => {
    const entryOf = (at: number, hour: number) =>
      JSON.stringify({ id: `obs_${at}`, recordedAt: `2026-01-01T${String(hour).padStart(2, '0')}:00:00Z` });
    const inOrder = Array.from({ length: 20 * 256 }, (_, at) => entryOf(at, Math.floor(at / 256)));
    const search = async (texts: readonly string[], at: number) => {
      let reads = 0;
      const entries = async (n: number, width: number) => {
        reads++;
        return texts.slice(n * 256, n * 256 + width).map((text) => ({ text, leaf: EMPTY_ROOT }));
      };
      const sought = JSON.parse(texts[at] as string) as SoughtEntry;
      const found = await findEntry({ entries }, texts.length, sought);
      return { index: found?.index, reads };
    };
    for (const at of [0, 255, 256, 2600, 20 * 256 - 1]) {
      const { index, reads } = await search(inOrder, at);
      expect([index, reads < 8]).toEqual([at, true]);
    }
    const reversed = inOrder.toReversed();
    expect((await search(reversed, 100)).index).toBe(100);
    const entries = async () => [{ text: '{"type":"reset"}', leaf: EMPTY_ROOT }];
    expect(await findEntry({ entries }, 1, { id: 'obs_0', recordedAt: '2026-01-01T00:00:00Z' })).toBeNull();
  });

  test('verify: a golden one is proven; any changed byte of it is found', async () => {
    const file = join(temporary.folder, 'changed.tlog-proof');
    const golden = readFileSync(join(GOLDEN, 'entry-8.tlog-proof'));
    // The first line of signatures is of a key that is not asked for.
    const signatures = golden.indexOf('\n—');
    const unknown = [golden.indexOf('\n', signatures + 1), signatures];
    for (let at = 0; at < golden.length; at += runs(67, 15)) {
      const changed = Buffer.from(golden);
      changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
      writeFileSync(file, changed);
      const isIgnored = at < (unknown[0] as number) && at > (unknown[1] as number);
      const outcome = await run('receipt', 'verify', file, '--log-key', GOLDEN_KEY);
      if (!isIgnored) expect([at, outcome]).toEqual([at, 'findings']);
    }
    writeFileSync(file, golden);
    printed = '';
    expect(await run('receipt', 'verify', file, '--log-key', GOLDEN_KEY, '--json')).toBe(0);
    expect(JSON.parse(printed)).toMatchObject({ index: 8, size: 262, entry: { market: 'gold-usd' } });
    expect(await run('receipt', 'verify', file)).toBe('usage');
    expect(await run('receipt', 'verify', join(temporary.folder, 'none'))).toBe('usage');
  });
});
