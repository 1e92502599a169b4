/** All observations as files for analysis, made once a day by `makeExport`. */
import type { Projector } from '../../kernel/projection.ts';
import { reachableExports } from './reachable.ts';

export const exports: Projector = {
  name: 'exports',
  kinds: [
    ...(['export-package', 'export-dataset', 'export-latest'] as const),
    ...(['export-parquet', 'export-ndjson', 'export-csv', 'export-schema'] as const),
  ],
  reachable: reachableExports,
};
