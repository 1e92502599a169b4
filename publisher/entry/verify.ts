/** The oracle as a Lambda function, on a schedule: reads what is published as everybody does, and fails for findings. */
import { setTimeout } from 'node:timers/promises';
import { readLambdaEnvironment } from '../../contract/lambda-environment.ts';
import { FRESH_SECONDS } from '../../contract/limits.ts';
import { confirmFindings } from '../verify/confirm-findings.ts';
import { httpReader } from '../verify/reader.ts';
import { log } from './log.ts';

const { readBaseUrl } = readLambdaEnvironment(process.env, { required: ['readBaseUrl'] });

const PAUSE_MS = (FRESH_SECONDS + 1) * 1000;

/** Rejects when something is not as promised, so that the function's errors, which an alarm counts, tell. */
export async function handler(): Promise<void> {
  const { findings, generation, markets, observations, pages } = await confirmFindings(httpReader(readBaseUrl), () =>
    setTimeout(PAUSE_MS),
  );
  for (const { url, rule, detail } of findings) log('error', 'finding', { url, rule, detail });
  log('info', 'verified', { generation, markets, observations, pages, findings: findings.length });
  if (findings.length > 0) throw new Error(`${findings.length} findings at ${readBaseUrl}: see the lines before`);
}
