/** The metrics of the embedded server, from what it knows. Each has its meaning in its HELP line. */
import { CACHE_STATUSES, type CountedReads } from '../edge/read-counts.ts';
import type { SourceHealth } from '../loops/source-health.ts';
import type { LoopDelays, ProcessUsage } from '../service/process-usage.ts';
import type { Family, Sample } from './open-metrics.ts';
import { STORAGE_PARTS, type StorageSizes } from './storage-sizes.ts';
import type { WriteCounts } from './write-counts.ts';

/** Of the health check. A number is absent while the ledger cannot be read. */
export interface MeasuredHealth {
  readonly status: string;
  readonly generation?: number;
  readonly publishLagSeconds?: number;
  readonly marksDue?: number;
  readonly deferred?: number;
  readonly queue?: number;
  readonly failingSources?: number;
  readonly missedRuns?: number;
  readonly lateSources?: number;
  readonly lastVerify: { readonly at: string; readonly findings: number; readonly missingValues: number } | null;
}

export interface Measured {
  readonly health: MeasuredHealth;
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
  readonly usage: ProcessUsage;
  /** The delays of each event loop since the last look. */
  readonly loopDelays: readonly (readonly [loop: 'readers' | 'core', delays: LoopDelays])[];
}

export function familiesOf({
  health,
  reads,
  writes,
  sources,
  storage,
  freeBytes,
  oldestExpectedMs,
  lastBackupMs,
  usage,
  loopDelays,
}: Measured): Family[] {
  const {
    status,
    generation,
    publishLagSeconds,
    marksDue,
    deferred,
    queue,
    failingSources,
    missedRuns,
    lateSources,
    lastVerify,
  } = health;
  return [
    gauge('tidemark_healthy', '1 if the health check is ok, else 0.', [{ value: Number(status === 'ok') }]),
    gauge('tidemark_generation', 'The newest published generation.', known(generation)),
    gauge('tidemark_publish_lag_seconds', 'How long the oldest change waits to be public.', known(publishLagSeconds)),
    gauge('tidemark_marks_due', 'Markets to be published; counting ends at 2,000.', known(marksDue)),
    gauge('tidemark_markets_deferred', 'Markets whose data do not add up; counting ends at 1,000.', known(deferred)),
    gauge(
      'tidemark_work_queued',
      'Batches, uploads and erasures to be worked off; counting ends at 1,000.',
      known(queue),
    ),
    gauge('tidemark_sources_failing', 'Fetched sources whose last run failed.', known(failingSources)),
    gauge('tidemark_runs_missed', 'Runs that were due five minutes ago and have not begun.', known(missedRuns)),
    ...sourceFamilies(sources),
    gauge('tidemark_sources_late', 'Sources whose next value is late, by their cadence.', known(lateSources)),
    gauge(
      'tidemark_oldest_expected_value_timestamp_seconds',
      'The earliest moment at which a market expects the next value of a source.',
      known(oldestExpectedMs === null ? undefined : oldestExpectedMs / 1000),
    ),
    gauge(
      'tidemark_verify_findings',
      'Broken promises that the newest run of verify found.',
      known(lastVerify?.findings),
    ),
    gauge(
      'tidemark_missing_values',
      'Gaps: values that cadences expected between two others, in the histories that the newest run of verify read.',
      known(lastVerify?.missingValues),
    ),
    gauge(
      'tidemark_verify_timestamp_seconds',
      'When the newest run of verify ended.',
      known(lastVerify === null ? undefined : Date.parse(lastVerify.at) / 1000),
    ),
    gauge(
      'tidemark_backup_timestamp_seconds',
      'When the newest backup began.',
      known(lastBackupMs === null ? undefined : lastBackupMs / 1000),
    ),
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
    gauge('tidemark_storage_free_bytes', 'Free on the disk of the data folder.', [{ value: freeBytes }]),
    ...processFamilies(usage),
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

/** One sample for each source that the service fetches. */
function sourceFamilies(sources: readonly SourceHealth[]): Family[] {
  const samples = (measure: (source: SourceHealth) => number | null) =>
    sources.flatMap((source) => {
      const value = measure(source);
      return value === null ? [] : [{ labels: { source: source.name }, value }];
    });
  const moment = (name: string, help: string, momentMs: (source: SourceHealth) => number | null): Family => {
    const seconds = samples((source) => {
      const ms = momentMs(source);
      return ms === null ? null : ms / 1000;
    });
    return gauge(`tidemark_source_${name}_timestamp_seconds`, help, seconds);
  };
  return [
    gauge(
      'tidemark_source_failures',
      'Failed runs since the last one that did not fail.',
      samples(({ failures }) => failures),
    ),
    moment('last_run', 'When the newest run ended.', ({ lastRunMs }) => lastRunMs),
    moment('last_success', 'When a run last ended without a failure.', ({ lastSuccessMs }) => lastSuccessMs),
    moment('next_run', 'When the next run is due.', ({ nextRunMs }) => nextRunMs),
  ];
}

/** The label is of a time when there could be several. */
function processFamilies({ startedAtMs, residentBytes, cpuSeconds }: ProcessUsage): Family[] {
  const sample = (value: number) => [{ labels: { process: 'core' }, value }];
  return [
    gauge('process_start_time_seconds', 'When the process started, since the epoch.', sample(startedAtMs / 1000)),
    gauge('process_resident_memory_bytes', 'Memory of the process.', sample(residentBytes)),
    counter('process_cpu_seconds', 'CPU time of the process.', sample(cpuSeconds)),
  ];
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, type: 'gauge', help, samples };
}

function counter(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, type: 'counter', help, samples };
}

/** A value that is not known has no sample. */
function known(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [{ value }];
}
