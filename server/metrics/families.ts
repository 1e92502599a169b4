/** The metrics of the embedded server. The HELP line of each metric explains it. */

import type { HealthDocument } from '../../contract/bodies/health.ts';
import { CACHE_STATUSES, type CountedReads } from '../edge/read-counts.ts';
import type { SourceHealth } from '../loops/source-health.ts';
import type { LoopDelays } from '../service/loop-delays.ts';
import type { Family, Sample } from './open-metrics.ts';
import { STORAGE_PARTS, type StorageSizes } from './storage-sizes.ts';
import type { WriteCounts } from './write-counts.ts';

export interface Measured {
  readonly health: HealthDocument;
  readonly reads: CountedReads;
  readonly writes: WriteCounts;
  readonly sources: readonly SourceHealth[];
  /** Null: the folder cannot be read. */
  readonly storage: StorageSizes | null;
  readonly freeBytes: number;
  /** Milliseconds since the epoch; null: no market expects a value. */
  readonly oldestExpectedMs: number | null;
  /** Milliseconds since the epoch; null: no backup is known. */
  readonly lastBackupMs: number | null;
  /** The delays of each event loop since the last measurement. */
  readonly loopDelays: readonly (readonly [loop: 'readers' | 'core', delays: LoopDelays])[];
}

/** Each metric is one number. An unknown number has no sample. */
const NUMBERS: readonly (readonly [
  name: string,
  help: string,
  of: (measured: Measured) => number | null | undefined,
])[] = [
  ['healthy', '1 if the health check is ok, else 0.', ({ health }) => Number(health.status === 'ok')],
  ['generation', 'The newest published generation.', ({ health }) => health.generation],
  ['publish_lag_seconds', 'How long the oldest change waits to be public.', ({ health }) => health.publishLagSeconds],
  ['marks_due', 'Markets to be published; counting ends at 2,000.', ({ health }) => health.marksDue],
  ['markets_deferred', 'Markets whose data do not add up; counting ends at 1,000.', ({ health }) => health.deferred],
  [
    'work_queued',
    'Batches, uploads and erasures to be worked off; counting ends at 1,000.',
    ({ health }) => health.queue,
  ],
  ['sources_failing', 'Fetched sources whose last run failed.', ({ health }) => health.failingSources],
  ['runs_missed', 'Runs that were due five minutes ago and have not begun.', ({ health }) => health.missedRuns],
  ['sources_late', 'Sources whose next value is late, by their cadence.', ({ health }) => health.lateSources],
  [
    'oldest_expected_value_timestamp_seconds',
    'The earliest moment at which a market expects the next value of a source.',
    ({ oldestExpectedMs }) => secondsOf(oldestExpectedMs),
  ],
  [
    'verify_findings',
    'Broken promises that the newest run of verify found.',
    ({ health }) => health.lastVerify?.findings,
  ],
  [
    'missing_values',
    'Gaps: values that cadences expected between two others, in the histories that the newest run of verify read.',
    ({ health }) => health.lastVerify?.missingValues,
  ],
  [
    'verify_timestamp_seconds',
    'When the newest run of verify ended.',
    ({ health: { lastVerify } }) => lastVerify && Date.parse(lastVerify.at) / 1000,
  ],
  ['backup_timestamp_seconds', 'When the newest backup began.', ({ lastBackupMs }) => secondsOf(lastBackupMs)],
  ['storage_free_bytes', 'Free on the disk of the data folder.', ({ freeBytes }) => freeBytes],
];

/** Each metric has one number for each fetched source. */
const SOURCE_NUMBERS: readonly (readonly [name: string, help: string, of: (source: SourceHealth) => number | null])[] =
  [
    ['failures', 'Failed runs since the last one that did not fail.', ({ failures }) => failures],
    ['last_run_timestamp_seconds', 'When the newest run ended.', ({ lastRunMs }) => secondsOf(lastRunMs)],
    [
      'last_success_timestamp_seconds',
      'When a run last ended without a failure.',
      ({ lastSuccessMs }) => secondsOf(lastSuccessMs),
    ],
    ['next_run_timestamp_seconds', 'When the next run is due.', ({ nextRunMs }) => secondsOf(nextRunMs)],
  ];

export function familiesOf(measured: Measured): Family[] {
  const { reads, writes, sources, storage, loopDelays } = measured;
  const { user, system } = process.cpuUsage();
  // Kept for compatibility: earlier versions could have several processes.
  const ofCore = (value: number) => [{ labels: { process: 'core' }, value }];
  return [
    ...NUMBERS.map(([name, help, of]) => gauge(`tidemark_${name}`, help, [{ value: of(measured) }])),
    ...SOURCE_NUMBERS.map(([name, help, of]) => {
      const samples = sources.map((source) => ({ labels: { source: source.name }, value: of(source) }));
      return gauge(`tidemark_source_${name}`, help, samples);
    }),
    counter(
      'tidemark_read_requests',
      'Answers to readers, by the class of their status.',
      [1, 2, 3, 4, 5].map((digit) => ({ labels: { class: `${digit}xx` }, value: reads.classes[digit] as number })),
    ),
    counter(
      'tidemark_read_cache',
      'Answers to readers, by their state in the cache; none: answered without it.',
      CACHE_STATUSES.map((name) => ({ labels: { status: name }, value: reads.cache[name] })),
    ),
    counter(
      'tidemark_write_requests',
      'Answers of the write API, by operation and status.',
      [...writes.all()].map(({ operation, status, count }) => {
        return { labels: { operation: operation ?? 'none', status: String(status) }, value: count };
      }),
    ),
    gauge(
      'tidemark_storage_bytes',
      'Space on the disk, by part of the data folder.',
      storage === null ? [] : STORAGE_PARTS.map((part) => ({ labels: { part }, value: storage[part] })),
    ),
    gauge(
      'process_start_time_seconds',
      'When the process started, since the epoch.',
      ofCore(performance.timeOrigin / 1000),
    ),
    gauge('process_resident_memory_bytes', 'Memory of the process.', ofCore(process.memoryUsage.rss())),
    counter('process_cpu_seconds', 'CPU time of the process.', ofCore((user + system) / 1e6)),
    {
      name: 'tidemark_event_loop_delay_seconds',
      type: 'summary',
      help: 'How late the event loops run, since the last scrape: that of public reads, and that of all else.',
      samples: loopDelays.flatMap(([loop, delays]) =>
        delays.map(([quantile, value]) => ({ labels: { loop, quantile }, value })),
      ),
    },
  ];
}

const secondsOf = (ms: number | null) => ms && ms / 1000;

interface MaybeSample extends Omit<Sample, 'value'> {
  readonly value: number | null | undefined;
}

function gauge(name: string, help: string, samples: readonly MaybeSample[]): Family {
  return { name, type: 'gauge', help, samples: samples.filter((sample): sample is Sample => sample.value != null) };
}

function counter(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, type: 'counter', help, samples };
}
