import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options?: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;

/** A function of V8 that is only there if a flag asks for it, in contexts made after that. */
export function garbageCollector(): Collect {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as Collect;
}
