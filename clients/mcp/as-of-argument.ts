/** The moment for which a tool is asked. */
import * as z from 'zod';
import type { HistoryRange } from '../typescript/tidemark.ts';

export const asOfFields = {
  asOf: z
    .string()
    .optional()
    .describe(
      'Answer with what was known at this moment, e.g. `2026-09-01T00:00:00Z`. It needs a time, and must not be in the future. ' +
        'Left out: what is known now.',
    ),
  byRelease: z
    .boolean()
    .optional()
    .describe(
      'With `asOf`: a value counts from the moment when its source published it, where that is known, and not from when ' +
        'this service took it in. For questions about a time before the service began. Default: false.',
    ),
} as const;

export const asOfShownSchema = z.string().describe('The moment of which this is the answer, and by which clock.');

export interface AsOfArgument {
  readonly asOf?: string | undefined;
  readonly byRelease?: boolean | undefined;
}

/** The text for {@link asOfShownSchema}. */
export function asOfShown({ asOf, byRelease }: AsOfArgument, nowMs: number): string {
  if (asOf === undefined) return `${new Date(nowMs).toISOString()}, as the service shows it now`;
  return `${asOf}, ${byRelease === true ? 'as the sources had published by then' : 'as this service had recorded by then'}`;
}

/** The range for the client, which refuses moments in the future. */
export function asOfRange({ asOf, byRelease = false }: AsOfArgument): Pick<HistoryRange, 'asOf' | 'byRelease'> {
  return asOf === undefined ? { byRelease } : { asOf, byRelease };
}
