/** `tidemark receipt`: one entry of the log, with its proof up to a signed checkpoint. */
import { writeFileSync } from 'node:fs';
import { openReceipt } from '../../clients/typescript/receipts.ts';
import { mayPass } from '../../clients/typescript/retries.ts';
import { LogVerificationError } from '../../clients/typescript/signed-log.ts';
import { Tidemark } from '../../clients/typescript/tidemark.ts';
import { TidemarkError } from '../../clients/typescript/tidemark-error.ts';
import { canonicalInstant, instantSchema, type PublicObservation } from '../../contract/values/metric.ts';
import { quotedAmount } from '../../contract/values/shown-value.ts';
import type { Client } from '../http/client.ts';
import { toCommandError } from '../http/refusals.ts';
import { CommandError } from '../program/exit-codes.ts';
import { note, printRaw } from '../program/output.ts';
import { readMarket, remarkOn } from '../reads/markets.ts';
import { allVersions } from '../reads/walk.ts';
import { knownLogsPath, readKnownLogs } from './known-logs.ts';
import type { ReceiptFlags } from './receipt-flags.ts';
import { wordsOnStrangeLog } from './strange-log.ts';

export async function writeReceipt(client: Client, slug: string, options: ReceiptFlags): Promise<void> {
  const { readUrl } = client.profile;
  const observation = await findObservation(client, slug, options);
  const { unit } = await readMarket(client, slug);
  const tidemark = new Tidemark({ url: readUrl, timeoutMs: options.timeout * 1000, bodies: null });
  const memory = knownLogsPath(options);
  const remembered = readKnownLogs(memory).get(readUrl.href);
  const known = options.logKey === undefined ? remembered?.vkeys : undefined;
  try {
    const vkeys = options.logKey ?? known ?? (await tidemark.logKeys());
    const text = await tidemark.receipt(slug, observation, { vkeys, seen: remembered?.checkpoint });
    if (options.output === undefined) await printRaw(text);
    else {
      writeFileSync(options.output, text);
      const { index, checkpoint } = await openReceipt(text, vkeys);
      note(`Wrote ${options.output}: entry ${index} of ${checkpoint.size}.`);
    }
    // The receipt itself does not state the quantity.
    if (observation.kind === 'money' && observation.decimal !== null)
      note(`Its value is ${quotedAmount(observation.decimal, observation.currency, unit)}.`);
    const remark = remarkOn(observation);
    if (remark !== '') note(`Its remark in the history: ${remark}.`);
  } catch (cause) {
    if (cause instanceof TidemarkError && cause.code === 'not-in-log-yet')
      throw new CommandError('findings', `${cause.detail}.`, null, { cause });
    const isOfLog = cause instanceof LogVerificationError || (cause instanceof TidemarkError && !mayPass(cause));
    if (!isOfLog) return toCommandError(cause);
    const words = known === undefined ? [] : await wordsOnStrangeLog(readUrl, () => tidemark.logKeys(), known, memory);
    const hint = words.length > 0 ? words.join('\n') : 'See what is wrong there: tidemark verify --log';
    throw new CommandError('findings', `The log of ${readUrl.origin} proves nothing: ${cause.message}.`, hint, {
      cause,
    });
  }
}

/** The newest version of the observation, from the public history. */
async function findObservation(client: Client, slug: string, options: ReceiptFlags): Promise<PublicObservation> {
  const { metric, source } = options;
  if (options.observedAt === undefined) {
    throw new CommandError(
      'usage',
      'Specify the value with --observed-at.',
      'For example: --observed-at 2026-11-01T00:00:00Z',
    );
  }
  const parsed = instantSchema.safeParse(options.observedAt);
  if (!parsed.success) {
    throw new CommandError(
      'usage',
      `${options.observedAt} is not a moment in UTC.`,
      'Write it as in 2026-11-01T00:00:00Z.',
    );
  }
  const observedAt = canonicalInstant(parsed.data);
  const found: PublicObservation[] = [];
  for await (const each of allVersions(client, slug)) {
    const at = canonicalInstant(each.observedAt);
    if (Date.parse(at) < Date.parse(observedAt)) break;
    const isSought = at === observedAt && each.metric === metric && each.supersededBy === null;
    if (isSought && (source === undefined || each.sourceUrl === source)) found.push(each);
  }
  const [observation, ...others] = found;
  if (observation === undefined) {
    throw new CommandError(
      'usage',
      `${slug} has no ${metric} of ${observedAt}${source === undefined ? '' : ` from ${source}`}.`,
      `tidemark markets history ${slug} shows all values.`,
    );
  }
  if (others.length > 0) {
    const sources = found.map(({ sourceUrl }) => `--source ${sourceUrl}`).join('\n');
    throw new CommandError('usage', `${slug} has values of ${found.length} sources of that moment.`, sources);
  }
  return observation;
}
