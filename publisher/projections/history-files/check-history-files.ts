/** Compares the files of a history, where the deployment publishes them, with what the log gives: every byte. */

import { historyFilesDue, historyIndex } from '../../../contract/bodies/history-files.ts';
import { HISTORY_FORMATS } from '../../../contract/bodies/history-rows.ts';
import { type Removal, removedMarketDocument } from '../../../contract/files/removed-market.ts';
import { historyFileUrl, historyIndexUrl } from '../../../contract/files/routes.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { canonicalInstant } from '../../../contract/values/metric.ts';
import { Findings } from '../../verify/check-body.ts';
import type { LoggedMarket } from '../../verify/projection-check.ts';
import { checkTooLong } from './check-files.ts';
import { areFilesBehind } from './check-older-files.ts';
import { FILES_START, HistoryFiles, NO_PREFIXES } from './history-files.ts';

export async function checkHistoryFiles(market: LoggedMarket): Promise<void> {
  const { reader, findings, slug, folded, cursors, pageSize } = market;
  if (folded.kind === 'removed') return await checkRemovedFiles(market, folded.removal);
  const { observations, record } = folded;
  const { hasWhole, hasYears } = historyFilesDue(observations.length, cursors.length);
  // A deployment may have them switched off.
  if (!hasWhole || (await reader(historyFileUrl(slug, 'csv', null))).status === 404) return;
  const indexUrl = historyIndexUrl(slug);
  const files = new HistoryFiles(record(null).unit.quantity, FILES_START, NO_PREFIXES);
  for (const { order, observation } of observations) files.add(order, observation);
  const whole = files.finish();
  const years = files.takeYears();
  const named = years.map(({ year }) => year as string).sort();
  const found = new Findings();
  const compare = async (url: string, expected: string | Buffer): Promise<void> => {
    const { status, body } = await reader(url);
    if (status === 200 && Buffer.from(expected).equals(body)) return;
    found.add(url, 'not-in-log', `answers ${status}, or holds other bytes than the entries of the log give`);
  };
  for (const { year, bodies } of [whole, ...(hasYears ? years : [])]) {
    for (const format of HISTORY_FORMATS) {
      const url = historyFileUrl(slug, format, year);
      if (bodies !== null) await compare(url, bodies[format]);
      else await checkTooLong(reader, found, { slug, format, year, years: named });
    }
  }
  const closed = cursors.map((cursor, page) => {
    const onPage = observations.slice(page * pageSize, (page + 1) * pageSize);
    const at = (index: number) => canonicalInstant(onPage.at(index)?.observation.observedAt ?? '');
    return { cursor, count: onPage.length, firstObservedAt: at(0), lastObservedAt: at(-1) };
  });
  if (hasYears) await compare(indexUrl, canonicalJson(historyIndex(slug, closed, named) as Json));
  // Files that wait for their turn are older than the log. The other oracle compares them with the pages.
  if (found.all.length > 0 && !(await areFilesBehind(reader))) findings.all.push(...found.all);
}

/** They may be switched off. */
async function checkRemovedFiles({ reader, findings, slug }: LoggedMarket, removal: Removal): Promise<void> {
  const expected = Buffer.from(canonicalJson(removedMarketDocument(removal)));
  for (const url of [historyIndexUrl(slug), ...HISTORY_FORMATS.map((format) => historyFileUrl(slug, format, null))]) {
    const { status, body } = await reader(url);
    if (status === 404 || (status === 410 && expected.equals(body))) continue;
    findings.add(url, 'not-in-log', `answers ${status}, which differs from the removal in the log`);
  }
}
