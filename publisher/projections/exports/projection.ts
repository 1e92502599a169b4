/** All observations as files for analysis, made once a day by `makeExport`. */
import { EXPORTS_URL } from '../../../contract/files/routes.ts';
import type { Projector } from '../../kernel/projection.ts';
import { reachableExports } from './reachable.ts';

export const exports: Projector = {
  name: 'exports',
  // An earlier version kept generations under names, as bodies of their own.
  former: ['/api/v1/editions/'],
  kinds: [
    ...(['export-package', 'export-latest'] as const),
    ...(['export-parquet', 'export-ndjson', 'export-csv', 'export-schema'] as const),
  ],
  check: async ({ reader, findings, kinds, share }) => ({
    async end() {
      await kinds.has('exports', EXPORTS_URL);
      await (await import('./check-exports.ts')).checkExports(reader, findings, share);
    },
  }),
  checkLogged: async ({ reader, findings, walk, partEntries, nowMs }) => ({
    end: async () =>
      await (await import('./check-export-rows.ts')).checkExportRows(reader, findings, walk, { partEntries, nowMs }),
  }),
  daily: async (context) => {
    if (context.storage.projections?.has('exports') !== true) return null;
    const outcome = await (await import('./make-export.ts')).makeExport(context);
    const remade = await (await import('./remake-kept.ts')).remakeKept(context);
    return remade.length === 0 ? outcome : { ...outcome, remade: remade.join() };
  },
  keep: async (...asked) => await (await import('./keep-export.ts')).keepExport(...asked),
  leadUrl: EXPORTS_URL,
  describe: {
    what: 'All observations as files for analysis, once a day.',
    paths: [
      '/api/v1/exports/latest',
      '/api/v1/exports/{date}/datapackage.json',
      ...['parquet', 'ndjson.gz', 'csv.gz'].map((end) => `/api/v1/exports/parts/{file}.${end}`),
    ],
  },
  reachable: reachableExports,
};
