/**
 * The write API as a Lambda function behind an API Gateway HTTP API. The environment is checked when the function
 * starts. The deployment's secret is fetched then; if that failed, the next request tries again.
 */
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readLambdaEnvironment } from '../../contract/lambda-environment.ts';
import { problem } from '../../contract/problems.ts';
import { ANSWER_TIMEOUTS, createDynamoDbClient } from '../../storage/dynamodb-client.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb-ledger.ts';
import { defaultProvider } from '../../storage/environment-credentials.ts';
import { faultText } from '../../storage/fault-text.ts';
import { checkFormat } from '../../storage/format.ts';
import { retriedOnce } from '../../storage/retried-once.ts';
import { systemRuntime } from '../../storage/runtime.ts';
import { openS3UploadTargets } from '../../storage/s3-upload-targets.ts';
import type { ApiKeyEnvironment } from '../credentials/api-key-format.ts';
import { fetchJwksOverHttps } from '../credentials/fetch-jwks.ts';
import { createTokenVerifier } from '../credentials/jwt.ts';
import { createAuthenticator } from '../credentials/principal.ts';
import { problemResult } from '../http/answer.ts';
import { createCursors } from '../http/cursor.ts';
import type { HttpEvent, HttpResult } from '../http/event.ts';
import { createRateLimiter } from '../http/rate-limit.ts';
import { createRefusalLog, type LoggedRequest } from '../http/refusal-log.ts';
import { createWriteApi } from '../pipeline/handle.ts';
import { createSecrets } from '../pipeline/secrets.ts';
import { fetchMasterSecret, SECRETS_CLIENT } from './deployment-secret.ts';
import { log } from './log.ts';

/** For each credential, in each instance of the function. */
const RATE = { name: 'default', limit: 600, windowSeconds: 60 } as const;
const MAX_CREDENTIALS = 10_000;

const config = readLambdaEnvironment(process.env, {
  required: ['tableName', 'uploadsBucket', 'secretArn', 'issuer', 'audience'],
  optional: ['jwksUri', 'scopePrefix', 'keyEnvironment'],
});
const environment = (config.keyEnvironment ?? 'live') as ApiKeyEnvironment;
const ledger = openDynamoDbLedger({
  client: createDynamoDbClient({}, ANSWER_TIMEOUTS),
  tableName: config.tableName,
});
const tokenIssuer = createTokenVerifier({ ...systemRuntime, ...config, fetchJwks: fetchJwksOverHttps });
const authenticator = createAuthenticator({ ...systemRuntime, ledger, env: environment, tokenIssuer });
const rateLimiter = createRateLimiter({ ...systemRuntime, policy: RATE, maxCredentials: MAX_CREDENTIALS });
const secretsManager = new SecretsManagerClient(SECRETS_CLIENT);

/** As the SDK does: the setting for S3 takes precedence over the setting for all services. */
const endpoint = process.env.AWS_ENDPOINT_URL_S3 || process.env.AWS_ENDPOINT_URL;
const uploads = openS3UploadTargets({
  ...systemRuntime,
  bucket: config.uploadsBucket,
  region: process.env.AWS_REGION ?? '',
  credentials: defaultProvider(),
  ...(endpoint ? { endpoint } : {}),
});

const writeApi = retriedOnce(async () => {
  await checkFormat(ledger);
  const secrets = createSecrets(await fetchMasterSecret(secretsManager, config.secretArn));
  return createWriteApi({
    ...systemRuntime,
    ledger,
    uploads,
    secrets,
    environment,
    authenticator,
    rateLimiter,
    cursors: createCursors(secrets.cursorKey),
    log: createRefusalLog(systemRuntime, logRequest),
  });
});
// The start has time for this. The first request waits for it, or tries again.
writeApi().catch(() => undefined);

/** Never rejects: API Gateway would answer with a body of its own. */
export async function handler(event: HttpEvent): Promise<HttpResult> {
  try {
    const handle = await writeApi();
    const { result } = await handle(event);
    return result;
  } catch (error) {
    const { requestId } = event.requestContext;
    log('error', 'the write API could not be opened', { requestId, fault: faultText(error) });
    const detail = 'Not available at the moment, and nothing has changed: try again.';
    const document = { ...problem('service-unavailable', detail), instance: `/requests/${requestId}` };
    return problemResult(document, { 'retry-after': '1' });
  }
}

function logRequest(entry: LoggedRequest): void {
  log(entry.fault === null ? 'info' : 'error', 'request', { ...entry });
}
