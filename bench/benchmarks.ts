/** All benchmarks, in the order of docs/benchmarks.md. */
import type { Benchmark } from './benchmark.ts';
import { benchCosts } from './costs.ts';
import { benchExports } from './exports.ts';
import { benchFreshness } from './freshness.ts';
import { benchIngest } from './ingest.ts';
import { benchLog } from './log.ts';
import { benchLongHistory } from './long-history.ts';
import { benchPublishAll } from './publish-all.ts';
import { benchPublishMany } from './publish-many.ts';
import { benchPublishOne } from './publish-one.ts';
import { benchRead } from './read.ts';
import { benchReadProxied } from './read-proxied.ts';
import { benchRender } from './render.ts';
import { benchRestart } from './restart.ts';
import { benchSteadyFeed } from './steady-feed.ts';
import { benchWhileUploading } from './while-uploading.ts';
import { benchWorker } from './worker.ts';
import { benchWrite } from './write.ts';

export interface NamedBenchmark {
  /** Of its section in the document. Null: its tables are in docs/deploy.md, where a test holds them to the code. */
  readonly title: string | null;
  readonly run: Benchmark;
}

/** By name. */
export const BENCHMARKS: { readonly [name: string]: NamedBenchmark } = {
  read: { title: 'Reading', run: benchRead },
  'read-proxied': { title: 'Reading through a reverse proxy', run: benchReadProxied },
  render: { title: 'Rendering', run: benchRender },
  'publish-one': { title: 'Publishing one change', run: benchPublishOne },
  'long-history': { title: 'Long histories', run: benchLongHistory },
  'publish-many': { title: 'Publishing many changes', run: benchPublishMany },
  'publish-all': { title: 'Publishing everything', run: benchPublishAll },
  'steady-feed': { title: 'A feed that never pauses', run: benchSteadyFeed },
  'while-uploading': { title: 'One process for everything', run: benchWhileUploading },
  restart: { title: 'Starting', run: benchRestart },
  ingest: { title: 'Ingest', run: benchIngest },
  worker: { title: 'Workers', run: benchWorker },
  write: { title: 'Writes', run: benchWrite },
  log: { title: 'The log', run: benchLog },
  freshness: { title: 'Freshness', run: benchFreshness },
  exports: { title: 'Daily exports', run: benchExports },
  costs: { title: null, run: benchCosts },
};
