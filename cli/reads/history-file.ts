/**
 * The standing history of a market as CSV or NDJSON, oldest first: the published file, or the files of its years. If these are
 * missing, the same bytes are made from the pages. At most one file is in memory, and the service limits it to 24 MiB.
 */
import { isMissing } from '../../clients/typescript/public-files.ts';
import { HISTORY_FILE_FORMS, type HistoryFormat } from '../../contract/bodies/history-rows.ts';
import { historyFileUrl, historyUrl } from '../../contract/files/routes.ts';
import { millisecondInstant } from '../../contract/values/instants.ts';
import type { PublicObservation } from '../../contract/values/metric.ts';
import { type Client, jsonOf } from '../http/client.ts';
import { toCommandError } from '../http/refusals.ts';
import { CommandError } from '../program/exit-codes.ts';
import { printRaw } from '../program/output.ts';

export async function printHistoryFile(client: Client, name: string, format: HistoryFormat): Promise<void> {
  const slug = encodeURIComponent(name);
  const { header, line } = HISTORY_FILE_FORMS[format];
  // A newer service may have more columns than this program knows.
  const rowsOf = (text: string) => (header === '' ? text : text.slice(text.indexOf('\n') + 1));
  const answer = await client.read(historyFileUrl(slug, format, null), [404, 410]);
  if (answer.status === 200) return await printRaw(answer.text);
  const years = answer.status === 410 ? yearsOf(answer.text) : [];
  // The header is printed only when the history was found.
  let before = header;
  for (const year of years.length === 0 ? [null] : years) {
    const file = year === null ? answer : await client.read(historyFileUrl(slug, format, year), [404, 410]);
    if (file.status === 200) {
      await printRaw(before === '' ? rowsOf(file.text) : file.text);
      before = '';
      continue;
    }
    for await (const row of standingRows(client, slug, year)) {
      await printRaw(before + line(row));
      before = '';
    }
  }
  await printRaw(before);
}

/** The years that the answer names if the history is too long for one file. Empty: the answer is a different one. */
function yearsOf(text: string): readonly string[] {
  const { instead } = (jsonOf({ text }) ?? {}) as { readonly instead?: unknown };
  const urls = Array.isArray(instead) ? instead.map(String) : [];
  return [...new Set(urls.flatMap((url) => /\/(\d{4})\.(?:csv|ndjson)$/.exec(url)?.[1] ?? []))];
}

/** Rows from the pages. Their cursors are read first, because each page names the older one. @param year null: all years */
export async function* standingRows(
  client: Client,
  slug: string,
  year: string | null = null,
): AsyncGenerator<PublicObservation> {
  const url = historyUrl(slug);
  const read = (cursor: string | null) =>
    client.files.page<PublicObservation>(url, cursor).catch((cause: unknown) => {
      if (cursor === null || !isMissing(cause)) return toCommandError(cause);
      throw new CommandError('unreachable', 'The pages of the history expired meanwhile.', 'Repeat the command.');
    });
  const newest = await read(null);
  const cursors: string[] = [];
  for (let next = newest.page.nextCursor; next !== null; next = (await read(next)).page.nextCursor) cursors.push(next);
  const isWanted = ({ observedAt, supersededBy }: PublicObservation) =>
    supersededBy === null && (year === null || millisecondInstant(observedAt).startsWith(year));
  for (const cursor of cursors.reverse()) yield* (await read(cursor)).data.filter(isWanted).reverse();
  yield* newest.data.filter(isWanted).reverse();
}
