/**
 * The standing history of a market as CSV or NDJSON, oldest first: the published file. Where it is missing, or too long for one
 * file, the same bytes are made from the pages. At most one file is in memory, which the service limits to 24 MiB.
 */
import { isMissing } from '../../clients/typescript/public-files.ts';
import { HISTORY_FILE_FORMS, type HistoryFormat } from '../../contract/bodies/history-rows.ts';
import { historyFileUrl, historyUrl } from '../../contract/files/routes.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import type { Client } from '../http/client.ts';
import { toCommandError } from '../http/refusals.ts';
import { CommandError } from '../program/exit-codes.ts';
import { printRaw } from '../program/output.ts';

export async function printHistoryFile(client: Client, name: string, format: HistoryFormat): Promise<void> {
  const slug = encodeURIComponent(name);
  const { header, line } = HISTORY_FILE_FORMS[format];
  const answer = await client.read(historyFileUrl(slug, format, null), [404, 410]);
  if (answer.status === 200) return await printRaw(answer.text);
  // Printed when the history is found.
  let before = header;
  for await (const row of standingRows(client, slug)) {
    await printRaw(before + line(row));
    before = '';
  }
  await printRaw(before);
}

/** From the pages: their cursors first, because each names the older one. */
export async function* standingRows(client: Client, slug: string): AsyncGenerator<PublicObservation> {
  const url = historyUrl(slug);
  const read = (cursor: string | null) =>
    client.files.page<PublicObservation>(url, cursor).catch((cause: unknown) => {
      if (cursor === null || !isMissing(cause)) return toCommandError(cause);
      throw new CommandError('unreachable', 'The pages of the history expired meanwhile.', 'Repeat the command.');
    });
  const newest = await read(null);
  const cursors: string[] = [];
  for (let next = newest.page.nextCursor; next !== null; next = (await read(next)).page.nextCursor) cursors.push(next);
  const stands = ({ supersededBy }: PublicObservation) => supersededBy === null;
  for (const cursor of cursors.reverse()) yield* (await read(cursor)).data.filter(stands).reverse();
  yield* newest.data.filter(stands).reverse();
}
