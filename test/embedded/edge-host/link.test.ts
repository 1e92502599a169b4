/** Calls between the core and an edge, over a real channel. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import { expect, onTestFinished, test } from 'vitest';
import { problem } from '../../../contract/problems.ts';
import { channelOfPort } from '../../../embedded/edge-host/channels.ts';
import { type Calls, createLink, LinkGone } from '../../../embedded/edge-host/link.ts';
import { StartError } from '../../../embedded/start-error.ts';
import { RefusedRequest } from '../../../lambdas/pipeline/handler.ts';
import { StorageUnavailable } from '../../../storage/errors.ts';

type Theirs = {
  add(a: number, b: number): number;
  never(): Promise<void>;
  fail(kind: string): void;
  note(text: string): void;
  notes(): readonly string[];
  missing(): void;
};

function linked() {
  const { port1, port2 } = new MessageChannel();
  onTestFinished(() => port1.close());
  const faults: unknown[] = [];
  const notes: string[] = [];
  let gone = 0;
  const theirs: Calls = {
    add: (a: number, b: number) => a + b,
    never: () => new Promise<void>(() => undefined),
    fail(kind: keyof typeof ERRORS) {
      throw ERRORS[kind];
    },
    note: (text: string) => notes.push(text),
    notes: () => notes,
  };
  createLink(channelOfPort(port2), theirs, { onFault: (error) => faults.push(error) });
  const link = createLink<Theirs>(channelOfPort(port1), {}, { onFault: () => {}, onGone: () => gone++ });
  return { link, faults, gone: () => gone, close: () => port2.close() };
}

const ERRORS = {
  refused: new RefusedRequest(problem('content-too-large', 'Too large.'), { 'retry-after': '1' }),
  start: new StartError('the port is in use'),
  unavailable: new StorageUnavailable('no room'),
  other: new TypeError('a fault'),
};

test('a call is answered with its result, beside others', async () => {
  const { link } = linked();
  void link.ask('never').catch(() => {});
  expect(await Promise.all([link.ask('add', 1, 2), link.ask('add', 3, 4)])).toEqual([3, 7]);
});

test.each(Object.entries(ERRORS))('an error that is %s has the same meaning on the other side', async (kind, error) => {
  const { link } = linked();
  const caught = await link.ask('fail', kind).catch((caught: unknown) => caught);
  expect(caught).toBeInstanceOf(kind === 'other' ? Error : error.constructor);
  expect(caught).toMatchObject({ message: error.message });
  if (error instanceof RefusedRequest) {
    expect(caught).toMatchObject({ problem: error.problem, headers: error.headers });
  }
});

test('messages come in the order in which they were sent, and a fault of one without an answer is told', async () => {
  const { link, faults } = linked();
  for (const text of ['a', 'b']) link.tell('note', text);
  link.tell('fail', 'other');
  expect(await link.ask('notes')).toEqual(['a', 'b']);
  expect(faults).toEqual([ERRORS.other]);
});

test('when the other side ends, calls that wait and later calls reject, and it is told once', async () => {
  const { link, gone, close } = linked();
  const asked = link.ask('never');
  close();
  await expect(asked).rejects.toThrow(LinkGone);
  await expect(link.ask('add', 1, 2)).rejects.toThrow(LinkGone);
  link.tell('note', 'nobody hears it');
  expect(gone()).toBe(1);
});

test('a call with a deadline rejects after it, and others go on', async () => {
  const { link } = linked();
  await expect(link.askWithin(1, 'never')).rejects.toThrow(LinkGone);
  expect(await link.askWithin(60_000, 'add', 1, 2)).toBe(3);
  await sleep(0);
});
