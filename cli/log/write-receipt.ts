/** `tidemark receipt`: one entry of the log, with its way to a signed checkpoint. */
import { writeFileSync } from 'node:fs';
import { findEntry } from '../../contract/log/find-entry.ts';
import { leafHash } from '../../contract/log/merkle.ts';
import { inclusionProof, verifyInclusion } from '../../contract/log/proofs.ts';
import { tlogProofText } from '../../contract/log/tlog-proof.ts';
import { canonicalInstant, instantSchema, type PublicObservation } from '../../contract/metric.ts';
import { historyUrl } from '../../contract/routes.ts';
import { keysOf, LogFileError, LogFiles, openSigned } from '../../publisher/verify/log-files.ts';
import { CommandError } from '../exit-codes.ts';
import type { Client } from '../http/client.ts';
import { note, printRaw } from '../output.ts';
import { publicReaderOf } from '../reads/verify.ts';
import { walkCollection } from '../reads/walk.ts';
import { knownLogsPath, readKnownLogs } from './known-logs.ts';
import type { ReceiptFlags } from './receipt-flags.ts';
import { isSignatureFault, wordsOnStrangeLog } from './strange-log.ts';

export async function writeReceipt(client: Client, slug: string, options: ReceiptFlags): Promise<void> {
  const { readUrl } = client.profile;
  const observation = await findObservation(client, slug, options);
  const files = new LogFiles(publicReaderOf(readUrl, options.timeout));
  const memory = knownLogsPath(options);
  const known = options.logKey === undefined ? readKnownLogs(memory).get(readUrl.href)?.vkeys : undefined;
  try {
    const vkeys = options.logKey ?? known ?? (await files.vkeys());
    const checkpoint = await files.checkpointNote();
    const { size, root } = openSigned(checkpoint, keysOf(vkeys, 'the keys of the log'));
    const entry = await findEntry(files, size, observation);
    if (entry === null) {
      throw new CommandError(
        'findings',
        `The log has no entry of ${observation.id}.`,
        'If the value is newer than the checkpoint, try again in a minute. Otherwise run: tidemark verify --log',
      );
    }
    const proof = await inclusionProof(size, entry.index, (level, n, width) => files.hashes(level, n, width));
    const leaf = leafHash(entry.text);
    if (!verifyInclusion({ size, root, index: entry.index, leaf, proof })) {
      throw new CommandError(
        'findings',
        'The files of the log do not belong to its checkpoint.',
        'tidemark verify --log',
      );
    }
    const text = tlogProofText({ extra: Buffer.from(entry.text), index: entry.index, proof, checkpoint });
    if (options.output === undefined) return await printRaw(text);
    writeFileSync(options.output, text);
    note(`Wrote ${options.output}: entry ${entry.index} of ${size}.`);
  } catch (cause) {
    if (!(cause instanceof LogFileError)) throw cause;
    const isStrange = known !== undefined && isSignatureFault(cause);
    const words = isStrange ? await wordsOnStrangeLog(readUrl, files, known, memory) : [];
    throw new CommandError('findings', `${cause.url}: ${cause.message}.`, words.join('\n') || null, { cause });
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
      `${options.observedAt} is no moment in UTC.`,
      'Write it as in 2026-11-01T00:00:00Z.',
    );
  }
  const observedAt = canonicalInstant(parsed.data);
  const found: PublicObservation[] = [];
  const path = historyUrl(encodeURIComponent(slug));
  for await (const each of walkCollection<PublicObservation>(client, path, ({ id }) => id)) {
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
