/** What `npm run mutate` changes, and which tests it runs: tools/test/mutate.ts. */

const tests = (folder: string, ...names: readonly string[]) => names.map((name) => `${folder}/${name}.test.ts`);

/** Parts of the code, and the folders and files of test/ that find their faults. Each part first runs all of its tests. */
export const PARTS: Readonly<Record<string, readonly string[]>> = {
  contract: [
    ...['contract', 'http', 'ingest', 'mapping', 'clients/typescript', 'publisher/compat'],
    ...tests('publisher', 'walk', 'log/publish-log'),
    ...['bundles/entry-parts.test.ts', 'write-api/audit.test.ts', 'write-api/malformed-requests.test.ts'],
  ],
  'lambdas/markets': [
    'ingest',
    ...tests('write-api', 'batches', 'claims', 'dry-run-file', 'source-verifications'),
    ...tests('mapping', 'refusals', 'release'),
  ],
  mapping: ['mapping', 'sample', 'sources/shipped-recipes.test.ts'],
  'publisher/core': [
    ...['publisher/plan', 'publisher/log'],
    ...tests('publisher', 'announced', 'as-of', 'golden', 'projected-files', 'removal'),
  ],
  'publisher/kernel': [
    ...['publisher/commit', 'publisher/plan', 'publisher/sweep'],
    ...tests('publisher', 'deferred-projection', 'golden', 'projected-files', 'publish-faults', 'put-counts'),
  ],
  'publisher/notify': ['publisher/notify'],
  'publisher/projections/compat': ['publisher/compat'],
  'publisher/projections/exports': ['publisher/exports', ...tests('publisher', 'csv-formulas')],
  'publisher/projections/history-files': [
    ...tests('publisher', 'csv-formulas', 'file-write-budget', 'history-files', 'projected-files'),
  ],
  'publisher/projections/latest': tests('publisher', 'expected-next', 'latest', 'projected-files', 'recent'),
  'publisher/projections/pages': tests('publisher', 'plan/site', 'verify/check-site'),
  'publisher/projections/statics': tests('publisher', 'golden', 'plan/static-bodies'),
  'publisher/repair': ['publisher/repair'],
  'publisher/publish.ts': tests('publisher', 'golden', 'publish-faults', 'put-counts'),
  'publisher/collect-garbage.ts': ['publisher/sweep'],
  'publisher/entry': ['bundles/entry-parts.test.ts', ...tests('publisher', 'kms-signer')],
  'publisher/verify': [
    ...['publisher/verify', 'bundles/entry-parts.test.ts', 'cli/hostile.test.ts'],
    ...tests('publisher', 'exports/make-export'),
  ],
};
