/** The exit codes of every command: docs/operator-guide.md shows this table. */

export const EXIT_CODES = {
  done: { code: 0, meaning: 'Done.' },
  findings: {
    code: 1,
    meaning:
      'Findings of `verify`, a receipt that proves nothing, faults of `doctor`; a run that failed; a service that is not healthy; or the machine is at fault.',
  },
  usage: {
    code: 2,
    meaning: 'Wrong arguments, settings or input files; or a question was not answered with yes. No request was sent.',
  },
  refused: {
    code: 3,
    meaning:
      'The server refused the request, and nothing was changed by it. Or `run` refused to publish: key, data folder and target do not belong together.',
  },
  'set-aside': {
    code: 4,
    meaning:
      'At least one row was refused, or withdrawals of `--retract-missing` were held back. ' +
      'With `--partial`, and in a run of a source, the others are in. Without `--partial`, ' +
      'nothing of its file is stored from the first refused batch on (batches hold up to 1,000 records); other files are stored. ' +
      '`--dry-run` and `mapping check` change nothing.',
  },
  unreachable: { code: 5, meaning: 'No conclusive answer after all retries.' },
  unfinished: {
    code: 6,
    meaning: 'Accepted, but not finished while the command waited: rows may be stored, and not public yet.',
  },
  forked: { code: 7, meaning: '`mirror`: the log of the service contradicts itself. The evidence is kept.' },
  unchanged: { code: 8, meaning: 'Of `run`: there was nothing new, and no public file was written.' },
  'sources-failed': { code: 9, meaning: 'Of `run`: some sources failed. The rest is published.' },
  busy: {
    code: 10,
    meaning:
      'Of `run`: another process has the data folder or target, and kept it while the command waited; or has published into the target meanwhile.',
  },
} as const satisfies Record<string, { readonly code: number; readonly meaning: string }>;

export type Exit = keyof typeof EXIT_CODES;

/** Ends a command. The message states the fault; `hint` states the remedy. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exit: Exit;
  readonly hint: string | null;

  constructor(exit: Exit, message: string, hint: string | null = null, options: ErrorOptions = {}) {
    super(message, options);
    this.exit = exit;
    this.hint = hint;
  }
}

/** For results that are not errors: the command continues, and its process ends with this code. */
export function endWith(exit: Exit): void {
  process.exitCode = EXIT_CODES[exit].code;
}
