/**
 * Python keeps what it compiles, outside of the sources, also where the environment forbids it, as in many containers: litellm takes
 * eight seconds of a processor to compile.
 */
import { join } from 'node:path';
import { CACHE } from './aws/engines/installation.ts';

/** Vitest's `globalSetup`. The tests inherit it. */
export default function setup(): void {
  process.env.PYTHONDONTWRITEBYTECODE = '';
  process.env.PYTHONPYCACHEPREFIX = join(CACHE, 'python');
}
