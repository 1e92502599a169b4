import { expect } from 'vitest';
import { verify } from '../../publisher/verify/verify.ts';
import { readerOf, SMALL_PAGES, type World } from './world.ts';

/** `verify` finds nothing. */
export async function expectVerified({ objects }: Pick<World, 'objects'>): Promise<void> {
  const { findings } = await verify(readerOf(objects), { pageSizes: SMALL_PAGES, settled: true });
  expect(findings).toEqual([]);
}
