/**
 * `tidemark ingest --git`: the past of a list into a running server. The server keeps no place to go on from: records that are in
 * already are known by their moment and source, so a command that was killed is begun again.
 */
import { writePast } from '../../server/git/write-past.ts';
import type { Client } from '../http/client.ts';
import { note, progressOf } from '../program/output.ts';
import { recipeAt } from '../sources/recipe-at.ts';
import type { GitPast } from './git-options.ts';
import { type IngestOutput, ingestFiles } from './ingest-files.ts';
import type { IngestOptions } from './ingest-run.ts';
import { inTemporaryFolder } from './temporary-folder.ts';

/** Versions that cannot be read are passed over, and named. Otherwise as {@link ingestFiles}. @throws WrongArgument, StartError */
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
    for (const { version, detail } of past.faults) note(`${version} is passed over: ${detail}`);
    const file = { path, name: `${git.repository} ${git.path}`, past, source: { form: 'ndjson' } } as const;
    await ingestFiles(client, [file], { ...asked, mode: 'correct', partial: true }, output);
  });
}
