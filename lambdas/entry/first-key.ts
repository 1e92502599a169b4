/**
 * Makes the first operator key of a deployment. An administrator with permission invokes this function once, manually. Only its
 * answer contains the key.
 */
import { readLambdaEnvironment } from '../../storage/aws/lambda-environment.ts';
import { logLine } from '../../storage/aws/log-line.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb/dynamodb-ledger.ts';
import { FIRST_KEY_KEY } from '../../storage/records/accounts.ts';
import { type ApiKeyEnvironment, formatApiKey, newApiKey } from '../credentials/api-key-format.ts';
import { registerFirstKey } from '../credentials/operator-key.ts';

const { tableName, keyEnvironment = 'live' } = readLambdaEnvironment(process.env, {
  required: ['tableName'],
  optional: ['keyEnvironment'],
});
const ledger = openDynamoDbLedger({ tableName });

export interface FirstKey {
  readonly apiKey: string;
}

/** Rejects if the deployment already has its first key: a holder of a key with `keys:admin` issues the others. */
export async function handler(): Promise<FirstKey> {
  const key = newApiKey(keyEnvironment as ApiKeyEnvironment, systemRuntime.randomBytes);
  const isOurs = await registerFirstKey({ ...systemRuntime, ledger }, key);
  if (!isOurs) {
    const { partition, sort } = FIRST_KEY_KEY;
    throw new Error(
      'This deployment already has its first key. Issue others with it: POST /api/v1/api-keys. ' +
        `If it is lost, delete the item (${partition}, ${sort}) of the table ${tableName} and invoke this again.`,
    );
  }
  logLine('info', 'made the first operator key', { keyId: key.keyId });
  return { apiKey: formatApiKey(key) };
}
