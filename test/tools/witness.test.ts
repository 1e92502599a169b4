/** Our checkpoints, cosigned and refused by the omniwitness of the transparency-dev project: see witness/main.go. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseCheckpoint } from '../../contract/log/checkpoint.ts';
import { ed25519Signer, parseNote, signNote } from '../../contract/log/notes.ts';
import { consistencyProof } from '../../contract/log/proofs.ts';
import { askWitness, WitnessFault } from '../../publisher/core/log/cosign.ts';
import { ledgerTiles } from '../../publisher/core/log/log-edge.ts';
import { publish } from '../../publisher/publish.ts';
import { openWitness, parseWitnesses } from '../../server/loops/witness-client.ts';
import { tidemark } from '../cli/tidemark.ts';
import { LOG_ORIGIN, logKey, testSigner, withLog } from '../publisher/log/test-log.ts';
import { createWorld, market, price } from '../publisher/world.ts';
import { startServer, startServerForTest } from '../server/server-process.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const WITNESS = join(toolFolder('witness'), 'witness');
const JUDGE = join(toolFolder('log-tools'), 'judge');

/** Runs one for the log of this key. Its line is as TIDEMARK_WITNESSES takes it. */
async function startWitness(logVkey: string): Promise<string> {
  const child: ChildProcess = spawn(WITNESS, [logVkey], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  for await (const line of lines) return line;
  throw new Error('the witness ended');
}

/** A log that has three generations, with the checkpoint of each; and a witness. */
async function grownLog() {
  const world = createWorld();
  // The witness has the clock of the machine.
  world.clock.nowMs = Date.now();
  const dependencies = withLog(world.dependencies);
  const notes: string[] = [];
  for (const [day, records] of [[market('gold')], [], []].entries()) {
    await world.ingest([...records, ...[0, 1, 2].map((more) => price('gold', 3 * day + more, day + 1))]);
    await publish(dependencies);
    const found = await world.objects.get(logKey('checkpoint'));
    notes.push(found.kind === 'found' ? Buffer.from(found.body).toString('utf8') : '');
  }
  const [address] = parseWitnesses(await startWitness(testSigner().vkey)) ?? [];
  if (address === undefined) throw new Error('the witness printed something else');
  const storage = { ledger: world.ledger, nowMs: () => Date.now() };
  const witness = openWitness(address);
  /** As our server asks. */
  const ask = (note: string, seen: number) => askWitness(storage, witness, note, seen);
  /** Asks with a proof from `old` on; the status of the answer. */
  const status = async (note: string, old: number, change = (body: string) => body) => {
    const { size } = parseCheckpoint(parseNote(note).text);
    const proof = await consistencyProof(Math.min(old, size), size, ledgerTiles(world.ledger));
    const lines = proof.map((hash) => `${hash.toString('base64')}\n`).join('');
    return (await witness.addCheckpoint(change(`old ${old}\n${lines}\n${note}`))).status;
  };
  return { notes: notes as [string, string, string], ask, status };
}

const sizeOf = (note: string) => parseCheckpoint(parseNote(note).text).size;

describe('a witness of other people', () => {
  test('cosigns our checkpoints as the log grows, also if we do not know what it has seen', async () => {
    const { notes, ask } = await grownLog();
    const [first, second, third] = notes;
    // `askWitness` throws unless the cosignature is right.
    expect(await ask(first, 0)).toContain('witness.test/omniwitness');
    expect(await ask(second, sizeOf(first))).toContain('witness.test/omniwitness');
    expect(await ask(third, 0)).toContain('witness.test/omniwitness');
  });

  test('refuses a log that was rolled back, and one of the same size with another past', async () => {
    const { notes, ask, status } = await grownLog();
    const [first, second, third] = notes;
    await ask(third, 0);
    await expect(ask(first, 0)).rejects.toThrow(WitnessFault);
    await expect(ask(second, sizeOf(third))).rejects.toThrow(WitnessFault);
    expect(await status(first, sizeOf(first))).toBe(409);
    expect(await status(second, sizeOf(third))).toBe(400);
    const { text } = parseNote(third);
    const { root } = parseCheckpoint(text);
    const other = Buffer.from(root).fill(1, 0, 1).toString('base64');
    const forked = await signNote(text.replace(root.toString('base64'), other), [testSigner()]);
    expect(await status(forked, sizeOf(third))).toBe(422);
    const ofOther = await signNote(text, [testSigner(2)]);
    expect(await status(ofOther, sizeOf(third))).not.toBe(200);
    // It still knows the right one.
    expect(await status(third, sizeOf(third))).toBe(200);
  });

  test.each<[string, (body: string) => string]>([
    ['another signature', (body) => body.replace(/(?<=— \S+ \S{20})\S/, (letter) => (letter === 'A' ? 'B' : 'A'))],
    ['another root', (body) => body.replace(/(?<=\n\d+\n)\S/, (letter) => (letter === 'A' ? 'B' : 'A'))],
    ['another size', (body) => body.replace(/(?<=\/log\n)\d+/, (size) => String(Number(size) + 1))],
    ['another origin', (body) => body.replace(`${LOG_ORIGIN}\n`, `${LOG_ORIGIN}/other\n`)],
    ['another proof', (body) => body.replace(/(?<=^old \d+\n)\S/, (letter) => (letter === 'A' ? 'B' : 'A'))],
    ['no proof', (body) => body.replace(/(?<=^old \d+\n)(?:.+\n)*/, '')],
  ])('refuses a checkpoint with %s', async (_, change) => {
    const { notes, ask, status } = await grownLog();
    const [first, , third] = notes;
    await ask(first, 0);
    let isChanged = false;
    const planted = (body: string) => {
      const changed = change(body);
      isChanged = changed !== body;
      return changed;
    };
    expect(await status(third, sizeOf(first), planted)).not.toBe(200);
    expect(isChanged).toBe(true);
    expect(await status(third, sizeOf(first))).toBe(200);
  });

  test('cosigns what a running server publishes, and torchwood proves a receipt by both keys', async () => {
    const data = await temporaryFolder();
    const settings = { TIDEMARK_DATA: data, TIDEMARK_SAMPLE: 'no' };
    const begun = startServer(settings);
    await begun.started;
    await begun.end('SIGTERM');
    const { vkey } = ed25519Signer((await readFile(join(data, 'log-key'), 'utf8')).split('\n')[0] as string);
    const line = await startWitness(vkey);
    const [cosigner = ''] = line.split(' ');
    const url = await startServerForTest({ ...settings, TIDEMARK_WITNESSES: line }).started;
    const input = [market('gold-usd'), price('gold-usd', 0, 400_000)].map((each) => JSON.stringify(each)).join('\n');
    expect((await tidemark(['ingest', '-', '--data', data], { input })).code).toBe(0);
    const checkpoint = async () => (await fetch(`${url}/api/v1/log/checkpoint`)).text();
    while (!(await checkpoint()).includes('witness.test/omniwitness')) await sleep(500);
    const receipt = join(data, 'gold.tlog-proof');
    const words = ['receipt', 'gold-usd', '--observed-at', '2026-01-01T00:00:00Z', '--data', data, '-o', receipt];
    expect(await tidemark([...words, '--log-key', vkey])).toMatchObject({ code: 0 });
    const judge = (witness: string) => runTool(JUDGE, [vkey, 'proof', receipt, witness], { cwd: data });
    const proven = await judge(cosigner);
    expect([proven.exitCode, proven.stdout], proven.output).toEqual([
      0,
      expect.stringContaining('"amountMinor":400000'),
    ]);
    // Another witness has not signed it.
    const [other = ''] = (await startWitness(vkey)).split(' ');
    expect((await judge(other)).exitCode).toBe(1);
  });
});
