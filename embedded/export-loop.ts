/** Makes the export and the faces of the day: soon after midnight (UTC), or after the start of a server that has none of today. */
import { Superseded } from '../publisher/errors.ts';
import { type ExportOptions, makeExport } from '../publisher/exports/make-export.ts';
import { makeFaces } from '../publisher/faces/make-faces.ts';
import { readEntries } from '../publisher/log/log-chunks.ts';
import type { Log } from './log.ts';
import { startWakeLoop, type WakeLoop } from './wake-loop.ts';

/** One look at the ledger, while there is nothing to do. */
const INTERVAL_MS = 60_000;

export interface ExportLoopOptions extends Required<Pick<ExportOptions, 'storage' | 'breathe'>> {
  readonly report: (what: string, cause: unknown) => void;
  readonly info: Log['info'];
}

export function startExportLoop({ storage, breathe, report, info }: ExportLoopOptions): WakeLoop {
  const loop = startWakeLoop({
    round: async (stopping) => {
      const options = {
        storage,
        breathe: async () => {
          stopping.throwIfAborted();
          await breathe();
        },
      };
      const timed = async (event: string, make: () => Promise<{ readonly kind: string; readonly date: string }>) => {
        const startedMs = performance.now();
        const { kind, date } = await make();
        if (kind === 'made') info(event, { date, durationMs: Math.round(performance.now() - startedMs) });
      };
      if (storage.projections?.has('exports')) {
        const readTile = (tile: number, width: number) => readEntries(storage.ledger, tile, width);
        await timed('exported', () => makeExport({ ...options, readEntries: readTile }));
      }
      if (storage.projections?.has('faces')) await timed('made faces', () => makeFaces(options));
    },
    intervalMs: INTERVAL_MS,
    onError: (cause) => {
      // The next round finds a settled list.
      if (!(cause instanceof Superseded)) report('the export failed', cause);
    },
  });
  loop.wake();
  return loop;
}
