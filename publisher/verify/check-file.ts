/** Compares files of one market with the bytes that follow from its bodies. */
import { type Removal, removedMarketDocument } from '../../contract/files/removed-market.ts';
import { canonicalJson } from '../../contract/values/canonical-json.ts';
import { checkHeaders } from './check-body.ts';
import type { MarketBodies } from './projection-check.ts';
import type { PublicResponse } from './reading/reader.ts';

/** The value of a text that may not be JSON. Null: it is not. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

type FileCheck = Pick<MarketBodies, 'findings' | 'rule'>;

export const bodyText = ({ body }: Pick<PublicResponse, 'body'>): string => Buffer.from(body).toString('utf8');

/** @param expected undefined: the market must have no such file. Null: the file has the wrong form */
export function checkFile(
  { findings, rule }: FileCheck,
  url: string,
  answer: PublicResponse,
  contentType: string,
  expected: string | null | undefined,
): void {
  const { status, body } = answer;
  if (expected === undefined) {
    if (status === 200) findings.add(url, rule, 'is not a file that the market has');
  } else if (status !== 200) findings.add(url, rule === 'file' ? 'status' : rule, `answered ${status}, expected 200`);
  else {
    // A host of a signed log may be unable to send these header fields.
    if (rule === 'file') checkHeaders(findings, url, answer, contentType);
    const isRight = expected !== null && Buffer.from(expected).equals(body);
    if (!isRight) findings.add(url, rule, 'shows something else than the market and its history give');
  }
}

/** A removed market's file must be the problem document, or missing if its kind is switched off. */
export function checkGone({ findings, rule }: FileCheck, url: string, answer: PublicResponse, removal: Removal): void {
  const isRight =
    answer.status === 404 ||
    (answer.status === 410 && bodyText(answer) === canonicalJson(removedMarketDocument(removal)));
  if (!isRight) findings.add(url, rule, `answers ${answer.status}, which differs from the removal`);
}
