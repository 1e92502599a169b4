/** Plans the file of sources. It changes with the list, and when a source was fetched: see docs/decisions/097. */
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { laterInstant } from '../../../contract/values/instants.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { Ledger } from '../../../storage/ports/ledger.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { SOURCE_STATES } from '../../../storage/records/sources.ts';
import { addFileIfChanged } from '../../kernel/add-file.ts';
import { planListFile } from '../../kernel/list-file.ts';
import type { PlanContext, ProjectionPlan } from '../../kernel/projection.ts';
import { type Fetches, type SourceRow, SourceRows, sourcesText } from './source-rows.ts';

/** `fetches`: SHA-256 of the moments of fetches. `digest`: of the file. */
export interface SourcesState {
  readonly fetches: string;
  readonly digest: string;
}

function rowsOfPage(body: string): readonly SourceRow[] {
  const found = new SourceRows();
  for (const market of (JSON.parse(body) as { readonly data: readonly Market[] }).data) found.add(market);
  return found.all;
}

async function fetchesOf(ledger: Ledger): Promise<Fetches> {
  const fetches = new Map<string, string>();
  for (const { value } of await readAll(ledger, SOURCE_STATES)) {
    const { at, labels } = value.fetched ?? { at: '', labels: [] };
    for (const label of labels) fetches.set(label, laterInstant(at, fetches.get(label) ?? null));
  }
  return fetches;
}

export async function planSources(context: PlanContext): Promise<ProjectionPlan> {
  const known = context.state as unknown as SourcesState | undefined;
  const found = await fetchesOf(context.dependencies.ledger);
  const fetches = sha256Hex(canonicalJson([...found].sort() as Json));
  return planListFile<SourceRow>(context, {
    rowsOfPage,
    isStale: known?.fetches !== fetches,
    async planned(rows) {
      const text = sourcesText(new SourceRows(rows).all, found);
      if (text === null) return undefined;
      return { fetches, digest: await addFileIfChanged(context, { kind: 'sources' }, text, known?.digest) };
    },
  });
}
