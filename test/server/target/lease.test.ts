/** The lease of a bucket: one of several processes writes, and none waits for a dead one for good. */
import { beforeEach, describe, expect, test } from 'vitest';
import { FolderInUse } from '../../../server/service/start-error.ts';
import { LEASE_KEY, openLease } from '../../../server/target/lease.ts';
import type { ObjectStore } from '../../../storage/ports/object-store.ts';
import { openMemoryObjects } from '../../storage/memory-objects.ts';

describe.each([true, false])('with conditions: %s', (conditional) => {
  let store: ObjectStore;
  let nowMs: number;
  let puts: number;
  beforeEach(() => {
    const objects = openMemoryObjects();
    [nowMs, puts] = [0, 0];
    store = {
      ...{ get: objects.get.bind(objects), stat: objects.stat.bind(objects), list: objects.list.bind(objects) },
      delete: objects.delete.bind(objects),
      put: (...words) => {
        puts++;
        return objects.put(...words);
      },
    };
  });

  const open = (owner: string) =>
    openLease({
      ...{ store, owner, name: 's3://bucket' },
      isConditional: async () => conditional,
      nowMs: () => nowMs,
      pause: async (durationMs) => {
        nowMs += durationMs;
      },
    });

  test('is put once for many writes, and again after a third of its time', async () => {
    const lease = open('a');
    await Promise.all(Array.from({ length: 50 }, () => lease.hold()));
    expect(puts).toBe(1);
    nowMs += 11_000;
    await lease.hold();
    expect(puts).toBe(2);
    await lease.release();
    expect((await store.get(LEASE_KEY)).kind).toBe('absent');
  });

  test('is held by one owner, and free when it is released', async () => {
    const [first, second] = [open('a'), open('b')];
    await first.hold();
    const waiting = second.hold();
    await first.release();
    await waiting;
    expect((await store.get(LEASE_KEY)).kind).toBe('found');
  });

  test('of a dead process passes to the next one', async () => {
    await open('a').hold();
    const begunMs = nowMs;
    await open('b').hold();
    expect(nowMs - begunMs).toBeGreaterThanOrEqual(30_000);
    const again = nowMs;
    await open('b').hold();
    expect(nowMs - again).toBeLessThan(30_000);
  });

  test('of a process that goes on renewing it stays its own', async () => {
    const first = open('a');
    await first.hold();
    const second = openLease({
      ...{ store, owner: 'b', name: 's3://bucket', isConditional: async () => conditional, nowMs: () => nowMs },
      pause: async (durationMs) => {
        nowMs += durationMs;
        await first.hold();
      },
    });
    await expect(second.hold()).rejects.toBeInstanceOf(FolderInUse);
  });

  test('is checked after a gap, and given back if another process has written', async () => {
    const lease = open('a');
    let checks = 0;
    lease.onTaken(async () => {
      checks++;
      if (checks > 1) throw new FolderInUse('another one has written');
    });
    await lease.hold();
    nowMs += 60_000;
    await lease.hold();
    expect(checks).toBe(1);
    nowMs += 60_000;
    const other = open('b');
    await other.hold();
    await other.release();
    await expect(lease.hold()).rejects.toBeInstanceOf(FolderInUse);
    expect((await store.get(LEASE_KEY)).kind).toBe('absent');
  });
});
