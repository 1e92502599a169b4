/**
 * The write API as a Lambda function behind an API Gateway HTTP API. The environment is checked when the function
 * starts; the deployment's secret is fetched then, once, and again later if that failed.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { readLambdaEnvironment } from '../../contract/lambda-environment.ts';
import { problem } from '../../contract/problems.ts';
import { createDynamoDbClient, PATIENCE_FOR_ANSWERS } from '../../storage/dynamodb-client.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb-ledger.ts';
import { defaultProvider } from '../../storage/environment-credentials.ts';
import { retriedOnce } from '../../storage/retried-once.ts';
import { openS3UploadTargets } from '../../storage/s3-upload-targets.ts';
import type { ApiKeyEnvironment } from '../credentials/api-key-format.ts';
import { fetchJwksOverHttps } from '../credentials/fetch-jwks.ts';
import { createTokenVerifier } from '../credentials/jwt.ts';
import { createAuthenticator } from '../credentials/principal.ts';
import { problemResult } from '../http/answer.ts';
import { createCursors } from '../http/cursor.ts';
import type { HttpEvent, HttpResult } from '../http/event.ts';
import { createRateLimiter } from '../http/rate-limit.ts';
import { createWriteApi, type RequestLog } from '../pipeline/handle.ts';
import { createSecrets } from '../pipeline/secrets.ts';
import { fetchMasterSecret, SECRETS_CLIENT } from './deployment-secret.ts';
import { faultText, log } from './log.ts';

/** Of one credential, in one instance of the function. */
const RATE = { name: 'default', limit: 600, windowSeconds: 60 } as const;
const MAX_CREDENTIALS = 10_000;

const config = readLambdaEnvironment(process.env, {
  required: ['tableName', 'uploadsBucket', 'secretArn', 'issuer', 'audience'],
  optional: ['jwksUri', 'scopePrefix', 'keyEnvironment'],
});
const environment = (config.keyEnvironment ?? 'live') as ApiKeyEnvironment;
const ledger = openDynamoDbLedger({
  client: createDynamoDbClient({}, PATIENCE_FOR_ANSWERS),
  tableName: config.tableName,
});
const tokenIssuer = createTokenVerifier({ ...config, fetchJwks: fetchJwksOverHttps, nowMs: Date.now });
const authenticator = createAuthenticator({ ledger, nowMs: Date.now, env: environment, tokenIssuer });
const rateLimiter = createRateLimiter({ nowMs: Date.now, policy: RATE, maxCredentials: MAX_CREDENTIALS });
const secretsManager = new SecretsManagerClient(SECRETS_CLIENT);

/** As the SDK chooses: what is said for S3 alone counts before what is said for every service. */
const endpoint = process.env.AWS_ENDPOINT_URL_S3 || process.env.AWS_ENDPOINT_URL;
const uploads = openS3UploadTargets({
  bucket: config.uploadsBucket,
  region: process.env.AWS_REGION ?? '',
  credentials: defaultProvider(),
  nowMs: Date.now,
  ...(endpoint ? { endpoint } : {}),
});

const writeApi = retriedOnce(async () => {
  const secrets = createSecrets(await fetchMasterSecret(secretsManager, config.secretArn));
  return createWriteApi({
    ledger,
    uploads,
    secrets,
    randomBytes,
    environment,
    newAttemptId: randomUUID,
    authenticator,
    rateLimiter,
    cursors: createCursors(secrets.cursorKey),
    nowMs: Date.now,
    log: logRequest,
  });
});
// While the function starts there is time; whoever comes first waits for it, or tries again.
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
    const detail = 'Not available at the moment, and nothing has happened: try again.';
    const document = { ...problem('service-unavailable', detail), instance: `/requests/${requestId}` };
    return problemResult(document, { 'retry-after': '1' });
  }
}

function logRequest(entry: RequestLog): void {
  log(entry.fault === null ? 'info' : 'error', 'request', { ...entry });
}
