/** `tidemark verify`: every promise to readers, checked from outside by GET alone. */
import { setTimeout as sleep } from 'node:timers/promises';
import { FRESH_SECONDS } from '../../contract/limits.ts';
import { confirmFindings } from '../../publisher/verify/confirm-findings.ts';
import { editionReader } from '../../publisher/verify/edition-reader.ts';
import { httpReader, type PublicReader } from '../../publisher/verify/reader.ts';
import { CommandError, endWith } from '../exit-codes.ts';
import { counted, note, printFields, printJson, Table } from '../output.ts';

/** Longer than a shared cache keeps a body. */
const PAUSE_SECONDS = FRESH_SECONDS + 1;

/**
 * Ends with `findings` if there is any.
 *
 * @param edition the name of the edition that is checked; null: what is published now
 */
export async function verifyService(
  url: URL,
  asked: Parameters<typeof confirmFindings>[1],
  edition: string | null,
  asJson: boolean,
): Promise<void> {
  const pause = async (): Promise<boolean> => {
    note(`There are findings. A publication in between may explain them: looking again in ${PAUSE_SECONDS} s.`);
    await sleep(PAUSE_SECONDS * 1000);
    return true;
  };
  const reader = edition === null ? readerOf(url) : editionReader(readerOf(url), edition);
  const report = await confirmFindings(reader, asked, pause);
  if (report.findings.length > 0) endWith('findings');
  if (asJson) return await printJson(report);
  const table = new Table(['RULE', 'URL', 'FINDING']);
  for (const { rule, url: where, detail } of report.findings) await table.add([rule, where, detail]);
  await table.end();
  // A pipe gets the findings alone, so it stays empty without one.
  if (!process.stdout.isTTY) return note(`${counted(report.findings.length, 'finding')} at ${url.origin}`);
  const { generation, markets, observations, pages, missingValues } = report;
  await printFields([
    ['findings', report.findings.length],
    ['generation', generation],
    ['read', `${counted(markets, 'market')}, ${counted(observations, 'observation')}, ${counted(pages, 'page')}`],
    ['missing values', missingValues],
  ]);
}

/** A server that does not answer is no finding: nothing is known about it. */
function readerOf(url: URL): PublicReader {
  const reader = httpReader(url.href);
  return async (path, headers) => {
    try {
      return await reader(path, headers);
    } catch (cause) {
      const { cause: inner } = cause as { readonly cause?: { readonly code?: string; readonly message?: string } };
      const reason = inner?.code ?? inner?.message ?? (cause as Error).message;
      throw new CommandError('unreachable', `GET ${url.origin}${path} got no answer: ${reason}.`, null, { cause });
    }
  };
}
