/** Checks the newest price of a market in the signed log. A script of its own: it is loaded when a visitor asks for it. */
import type { KnownValue } from '../../../../contract/bodies/latest-words.ts';
import { historyUrl } from '../../../../contract/files/routes.ts';
import type { PublicObservation } from '../../../../contract/values/metric.ts';
import { isShowable } from '../../../../contract/values/showable.ts';
import { decimalOf } from '../../../typescript/decimal-of.ts';
import { LogVerificationError } from '../../../typescript/signed-log.ts';
import { Tidemark } from '../../../typescript/tidemark.ts';
import { BASE_URL } from '../base-url.ts';
import { PublicAnswers } from '../history/public-answers.ts';
import { checkedParts, checkFailure, checkInLog } from '../market/check-result.ts';

/** Checks the price, and says the result in words. Never rejects. */
export async function checkPrice(slug: string, value: KnownValue): Promise<readonly Node[]> {
  try {
    const row = await newestRow(slug, value);
    const checked = await checkInLog(new Tidemark({ url: BASE_URL, bodies: null }), slug, row);
    return checkedParts(slug, row, checked);
  } catch (error) {
    return [checkFailure(error)];
  }
}

/** @throws LogVerificationError if the history has another value than the list */
async function newestRow(slug: string, { metric, observedAt, decimal }: KnownValue): Promise<PublicObservation> {
  const answers = new PublicAnswers();
  const page = await answers.found((files) => files.page<PublicObservation>(historyUrl(slug)), 'no-cache');
  const row = page?.data.find((each) => each.metric === metric && !each.announced && isShowable(each));
  if (row === undefined) throw new Error(`no ${metric} on the newest page of the history of ${slug}`);
  // A newer one may have been published since.
  if (row.observedAt === observedAt && decimalOf(row) !== decimal)
    throw new LogVerificationError(`the list says ${decimal}, and the history ${decimalOf(row)}`);
  return row;
}
