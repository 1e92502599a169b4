/** Where the engines are, for the tests. */
import { beforeEach } from 'vitest';
import { ENGINES_VARIABLE, type EngineStates } from './engines/engine.ts';

/**
 * The endpoint of an engine, for a test file that is about it. Where the engine is missing, every test of the file is
 * skipped with the reason, and the endpoint leads nowhere.
 */
export function engineEndpoint(name: string): string {
  const states = JSON.parse(process.env[ENGINES_VARIABLE] ?? '{}') as EngineStates;
  const state = states[name] ?? { missing: 'only `npm run test:aws` starts it' };
  if ('endpoint' in state) return state.endpoint;
  beforeEach((context) => context.skip(`no ${name}: ${state.missing}`));
  return 'http://127.0.0.1:9';
}
