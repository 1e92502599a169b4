/** What must hold of the file of sources: it says what the list says of them. Only the ledger knows when they were fetched. */

import { publicSourcesSchema } from '../../../contract/bodies/public-sources.ts';
import { LATEST_MARKETS_MAX } from '../../../contract/files/limits.ts';
import { MARKETS_URL, SOURCES_FILE_URL } from '../../../contract/files/routes.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { checkAnswer, Findings } from '../../verify/check-body.ts';
import type { CheckContext, ProjectionCheck } from '../../verify/projection-check.ts';
import { SourceRows, sourcesText } from './source-rows.ts';

/** If another list was published since it was read, nothing is found, and the next walk looks again. */
export function checkSources({ reader, findings, snapshot }: CheckContext): ProjectionCheck {
  const rows = new SourceRows();
  let walked = 0;
  return {
    async market({ item }) {
      rows.add(item);
      walked++;
    },
    async end({ head, entries }) {
      if (head === null || entries.length > LATEST_MARKETS_MAX) return;
      const answer = await reader(SOURCES_FILE_URL);
      if (answer.status !== 200 && snapshot?.projections?.includes('feeds') !== true) return;
      const found = new Findings();
      const file = checkAnswer(found, SOURCES_FILE_URL, answer, publicSourcesSchema);
      const fetches = file?.value.data.flatMap(({ label, lastFetchedAt }) =>
        lastFetchedAt === null ? [] : [[label, lastFetchedAt] as const],
      );
      // A share of the markets, or a copy, does not show all sources.
      const isWhole = walked === entries.length;
      if (file !== null && isWhole && sourcesText(rows.all, new Map(fetches)) !== file.text)
        found.add(SOURCES_FILE_URL, 'file', 'says something else of its sources than the list');
      if (found.all.length > 0 && sha256Hex((await reader(MARKETS_URL)).body) === head.digest)
        findings.all.push(...found.all);
    },
  };
}
