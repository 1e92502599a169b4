/**
 * `tidemark ingest --git`: ingests the past versions of a list into a running server. The server stores no position. Records
 * that it has are recognised by their moment and source, so a killed command is simply started again.
 */
import { writePast } from '../../server/git/write-past.ts';
import type { Client } from '../http/client.ts';
import { note, progressOf } from '../program/output.ts';
import { recipeAt } from '../sources/recipe-at.ts';
import type { GitPast } from './git-options.ts';
import { type IngestOutput, ingestFiles } from './ingest-files.ts';
import type { IngestOptions } from './ingest-run.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

/** Skips and reports versions that cannot be read. Otherwise as {@link ingestFiles}. @throws SettingError, StartError */
export async function ingestPast(
  client: Client,
  git: GitPast,
  asked: Omit<IngestOptions, 'mode' | 'partial'>,
  output: IngestOutput,
): Promise<void> {
  const recipe = await recipeAt(client, git.recipe);
  await inTemporaryFolder(async (folder) => {
    const progress = progressOf(output);
    const { path, past } = await writePast(recipe, git, {
      folder,
      nowMs: Date.now(),
      progress: (done, of) => progress.at('Reading versions', { share: done / of, count: done, unit: 'version' }),
    }).finally(progress.clear);
    for (const { version, detail } of past.faults) note(`${version} is skipped: ${detail}`);
    const file = { path, name: `${git.repository} ${git.path}`, past, source: { form: 'ndjson' } } as const;
    await ingestFiles(client, [file], { ...asked, mode: 'correct', partial: true, showsCorrections: true }, output);
  });
}
