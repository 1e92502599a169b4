/** A bundle in a process of its own, as Lambda starts it. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Invoked } from './invoke-bundle.ts';

const CHILD = join(import.meta.dirname, 'invoke-bundle.ts');

export interface InvokedInProcess extends Invoked {
  /** Its log: a line of JSON for each entry. */
  readonly log: string;
}

/** Imports a bundle and invokes it once, with a role's environment and this one, without that of this process. */
export async function invokeInProcess(
  bundle: string,
  event: unknown,
  environment: Readonly<Record<string, string>>,
): Promise<InvokedInProcess> {
  const { stdout } = await promisify(execFile)(process.execPath, [CHILD, bundle, JSON.stringify(event)], {
    env: {
      AWS_LAMBDA_FUNCTION_NAME: 'tidemark-under-test',
      AWS_REGION: 'eu-west-1',
      AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
      AWS_SECRET_ACCESS_KEY: 'example',
      AWS_SESSION_TOKEN: 'example',
      ...environment,
    },
  });
  const lines = stdout.trimEnd().split('\n');
  return { ...(JSON.parse(lines.pop() ?? '') as Invoked), log: lines.join('\n') };
}
