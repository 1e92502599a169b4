/**
 * The oracle as a Lambda function, on a schedule: reads the public URLs as readers do, and fails if there are findings. If
 * one run has too little time for everything, it checks the whole list and one share of the markets. Invoked by hand with
 * `{ "share": { "index": 3, "of": 128 } }`, it checks that share; with `{ "removed": ["gold-usd"] }`, these removed markets
 * too.
 */
import { setTimeout } from 'node:timers/promises';
import { FRESH_SECONDS } from '../../contract/files/limits.ts';
import { readLambdaEnvironment } from '../../storage/aws/lambda-environment.ts';
import { logLine } from '../../storage/aws/log-line.ts';
import type { LambdaInvocation } from '../../storage/aws/names.ts';
import { confirmFindings } from '../verify/confirm-findings.ts';
import { httpReader } from '../verify/reading/bounded-reader.ts';
import { askedOf, shareDue } from '../verify/reading/share-due.ts';

const { readBaseUrl, verifyEveryHours } = readLambdaEnvironment(process.env, {
  required: ['readBaseUrl', 'verifyEveryHours'],
});

const PAUSE_MS = (FRESH_SECONDS + 1) * 1000;

/** Rejects if there are findings, so that the function's error metric, which has an alarm, shows them. */
export async function handler(event: unknown, invocation: LambdaInvocation): Promise<void> {
  const startedMs = Date.now();
  const reader = httpReader(readBaseUrl);
  const asked = askedOf(event);
  const share = asked.share ?? (await shareDue(reader, startedMs, Number(verifyEveryHours)));
  const inWords = `${share.index} of ${share.of}`;
  const { findings, generation, markets, observations, pages } = await confirmFindings(
    reader,
    { ...asked, share, nowMs: Date.now() },
    async () => {
      // The second walk takes as long as the first, or a little longer.
      if (invocation.getRemainingTimeInMillis() < PAUSE_MS + 1.25 * (Date.now() - startedMs)) {
        logLine('error', 'no time for a second look: a publication may explain the findings', { share: inWords });
        return false;
      }
      await setTimeout(PAUSE_MS);
      return true;
    },
  );
  for (const { url, rule, detail } of findings) logLine('error', 'finding', { url, rule, detail });
  const seen = { generation, share: inWords, markets, observations, pages, durationMs: Date.now() - startedMs };
  logLine('info', 'verified', { ...seen, findings: findings.length });
  if (findings.length > 0) throw new Error(`${findings.length} findings at ${readBaseUrl}: see the lines before`);
}
