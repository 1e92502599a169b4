/**
 * Keeps a long run small. On a machine with much memory, V8 lets garbage lie until hundreds of megabytes have come
 * together: a run of a million rows then looks as if it held the file.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const EVERY_PARTS = 4;

/** Passes everything on, and collects garbage in between. */
export async function* collecting<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  let count = 0;
  let collect: (() => void) | null = null;
  for await (const item of items) {
    yield item;
    count += 1;
    if (count % EVERY_PARTS > 0) continue;
    collect ??= garbageCollector();
    collect();
  }
}

function garbageCollector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}
