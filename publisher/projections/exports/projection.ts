/** All observations as files for analysis, made once a day by `makeExport`. */
import { EXPORTS_URL } from '../../../contract/files/routes.ts';
import type { Projector } from '../../kernel/projection.ts';
import { reachableExports } from './reachable.ts';

export const exports: Projector = {
  name: 'exports',
  kinds: [
    ...(['export-package', 'export-latest'] as const),
    ...(['export-parquet', 'export-ndjson', 'export-csv', 'export-schema'] as const),
  ],
  check: async (context) => ({ end: async () => await (await import('./check-exports.ts')).checkExports(context) }),
  isInLog: true,
  daily: async (context) => {
    if (context.storage.projections?.has('exports') !== true) return null;
    const outcome = await (await import('./make-export.ts')).makeExport(context);
    const remade = await (await import('./remake-kept.ts')).remakeKept(context);
    return remade.length === 0 ? outcome : { ...outcome, remade: remade.join() };
  },
  keep: async (...asked) => await (await import('./keep-export.ts')).keepExport(...asked),
  leadUrl: EXPORTS_URL,
  reachable: reachableExports,
};
