/** Witnesses cosign the published checkpoint, or fail to; nothing else changes. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { cosigner } from '../../contract/log/cosignature.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { parseNote } from '../../contract/log/notes.ts';
import { addCosignatures } from '../../publisher/core/log/cosign.ts';
import { publish } from '../../publisher/publish.ts';
import { openWitness, parseWitnesses } from '../../server/loops/witness-client.ts';
import { startWitnessLoop } from '../../server/loops/witness-loop.ts';
import { logKey, readCheckpoint, testSigner, withLog } from '../publisher/log/test-log.ts';
import { createWorld, market, price } from '../publisher/world.ts';
import { startWitness, type TestWitness } from './witness.ts';

const LOG_VKEY = testSigner().vkey;

async function openCosigned(count = 1) {
  const world = createWorld();
  const dependencies = withLog(world.dependencies);
  await world.ingest([market('gold'), price('gold', 0, 1)]);
  await publish(dependencies);
  const nowMs = () => world.clock.nowMs;
  const witnesses: TestWitness[] = [];
  for (let number = 1; number <= count; number++) {
    witnesses.push(await startWitness(LOG_VKEY, nowMs, `witness.test/w${number}`));
  }
  const reports: string[] = [];
  const storage = { ledger: world.ledger, objects: world.objects, nowMs };
  const loop = startWitnessLoop({
    storage,
    witnesses: witnesses.map(openWitness),
    report: (what) => void reports.push(what),
    info: () => {},
  });
  onTestFinished(() => loop.stop());
  const round = async () => {
    loop.wake();
    await loop.settled();
  };
  let day = 0;
  const grow = async () => {
    await world.ingest([price('gold', ++day, day)]);
    await publish(dependencies);
  };
  const note = async () => {
    const found = await world.objects.get(logKey('checkpoint'));
    return found.kind === 'found' ? Buffer.from(found.body).toString('utf8') : '';
  };
  /** The witnesses whose cosignatures of the published checkpoint are right. */
  const cosigned = async () => {
    const { text, signatures } = parseNote(await note());
    return witnesses.filter(({ vkey }) => {
      const { name, keyId, signedAt } = cosigner(vkey);
      const found = signatures.find((signature) => signature.name === name && signature.keyId === keyId);
      return found !== undefined && signedAt(text, found.signature) === Math.floor(nowMs() / 1000);
    }).length;
  };
  return { world, dependencies, witnesses, reports, storage, round, grow, note, cosigned };
}

test('the checkpoint gets a line of each witness, and the log key still opens it', async () => {
  const { world, witnesses, round, grow, cosigned, reports } = await openCosigned(2);
  for (let times = 0; times < 3; times++) {
    await round();
    expect(await cosigned()).toBe(2);
    expect((await readCheckpoint(world.objects))?.size).toBe(3 + times);
    await grow();
    expect(await cosigned()).toBe(0);
  }
  // Each checkpoint was sent once, with the proof from the one before; nothing is asked twice.
  await round();
  await round();
  expect(witnesses.map(({ statuses }) => statuses)).toEqual([
    [200, 200, 200, 200],
    [200, 200, 200, 200],
  ]);
  expect(reports).toEqual([]);
});

test('a witness that knows another size says so, and is asked again from there', async () => {
  const { witnesses, round, grow, cosigned, storage } = await openCosigned();
  await round();
  await grow();
  // A new process does not know what the witness has seen.
  const [witness] = witnesses as [TestWitness];
  const loop = startWitnessLoop({ storage, witnesses: [openWitness(witness)], report: () => {}, info: () => {} });
  loop.wake();
  await loop.settled();
  await loop.stop();
  expect(witness.statuses).toEqual([200, 409, 200]);
  expect(await cosigned()).toBe(1);
});

describe('a witness that', () => {
  const refusals: readonly [string, number, string][] = [
    ['does not know the log', 404, ''],
    ['does not know the key', 403, ''],
    ['finds no consistency', 422, ''],
    ['is down', 503, 'Service Unavailable'],
    ['answers 409 without a size', 409, 'later\n'],
    ['has seen a longer log', 409, '999\n'],
    ['answers with nothing', 200, ''],
    ['answers with no note', 200, 'OK\n'],
    ['answers with too much', 200, 'x'.repeat(100_000)],
    ['answers with a wrong signature', 200, '— witness.test/w1 AAAAAAAA\n'],
  ];
  test.each(refusals)('%s changes nothing, and is left alone for longer and longer', async (_, status, body) => {
    const { world, witnesses, reports, round, grow, note, cosigned } = await openCosigned();
    const [witness] = witnesses as [TestWitness];
    witness.broken = { status, body };
    const before = await note();
    await round();
    expect(await note()).toBe(before);
    const asked = witness.statuses.length;
    await round();
    await grow();
    await round();
    expect(witness.statuses).toHaveLength(asked);
    world.clock.nowMs += 10_000;
    await round();
    expect(witness.statuses.length).toBeGreaterThan(asked);
    // One piece of news, however often it fails; and when it is back, it cosigns.
    expect(reports).toHaveLength(1);
    witness.broken = null;
    world.clock.nowMs += 20_000;
    await round();
    expect(await cosigned()).toBe(1);
  });

  test('signs with another key is not believed', async () => {
    const { storage, note } = await openCosigned();
    const [real, other] = [await startWitness(LOG_VKEY, storage.nowMs), await startWitness(LOG_VKEY, storage.nowMs)];
    const witnesses = [openWitness({ vkey: real.vkey, url: other.url })];
    const before = await note();
    const loop = startWitnessLoop({ storage, witnesses, report: () => {}, info: () => {} });
    loop.wake();
    await loop.settled();
    await loop.stop();
    expect(other.statuses).toEqual([200]);
    expect(await note()).toBe(before);
  });
});

test('a line for an earlier checkpoint is not added to a later one, and a repeated apply keeps the lines', async () => {
  const { dependencies, storage, round, grow, note, cosigned } = await openCosigned();
  const before = await note();
  await grow();
  const after = await note();
  expect(await addCosignatures(storage, before, ['— witness.test/w1 AAAAAAAA\n'])).toBe(false);
  expect(await note()).toBe(after);
  await round();
  await publish(dependencies);
  expect(await cosigned()).toBe(1);
});

test.each([
  ['', false],
  [`${LOG_VKEY} https://witness.example`, false],
  ['witness.example', false],
  ['witness.example https://witness.example', false],
])('%j is no list of witnesses', (text, expected) => {
  expect(parseWitnesses(text) !== null).toBe(expected);
});

test('a list of witnesses has keys of cosigners and safe URLs', async () => {
  const { vkey } = await startWitness(LOG_VKEY, Date.now);
  expect(parseWitnesses(`${vkey} https://a.example/,${vkey}  http://127.0.0.1:1/w`)).toEqual([
    { vkey, url: 'https://a.example' },
    { vkey, url: 'http://127.0.0.1:1/w' },
  ]);
  for (const url of ['http://a.example', 'ftp://a.example', 'a.example', '']) {
    expect(parseWitnesses(`${vkey} ${url}`)).toBeNull();
  }
  expect(() => cosigner(LOG_VKEY)).toThrow(LogFaultError);
});
