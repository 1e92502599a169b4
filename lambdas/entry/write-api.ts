/**
 * The write API as a Lambda function behind an API Gateway HTTP API, which is behind a CloudFront distribution. When the
 * function starts, it checks the environment and fetches the deployment's secrets; if the fetch fails, the next request tries
 * again. Each request is first checked for the distribution's secret, because every other check of a stranger would cost more.
 */
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { type ProblemCode, problem } from '../../contract/problems/problems.ts';
import { defaultProvider } from '../../storage/aws/environment-credentials.ts';
import { readLambdaEnvironment } from '../../storage/aws/lambda-environment.ts';
import { logLine } from '../../storage/aws/log-line.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { retriedOnce } from '../../storage/concurrency/retried-once.ts';
import { ANSWER_TIMEOUTS, createDynamoDbClient } from '../../storage/dynamodb/dynamodb-client.ts';
import { openDynamoDbLedger } from '../../storage/dynamodb/dynamodb-ledger.ts';
import { faultText } from '../../storage/ports/fault-text.ts';
import { checkFormat } from '../../storage/ports/format.ts';
import { openS3UploadTargets } from '../../storage/s3/s3-upload-targets.ts';
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
import { fetchSecretText, masterSecretOf, SECRETS_CLIENT } from './deployment-secret.ts';
import { createOriginGate } from './origin-gate.ts';

const NOT_THE_HOST =
  'This is not the host of the write API: send the request to the one that the OpenAPI document names.';

const config = readLambdaEnvironment(process.env, {
  required: ['tableName', 'uploadsBucket', 'secretArn', 'originSecretArns', 'issuer', 'audience'],
  optional: ['jwksUri', 'scopePrefix', 'keyEnvironment'],
});
const environment = (config.keyEnvironment ?? 'live') as ApiKeyEnvironment;
const ledger = openDynamoDbLedger({
  client: createDynamoDbClient({}, ANSWER_TIMEOUTS),
  tableName: config.tableName,
});
const tokenIssuer = createTokenVerifier({ ...systemRuntime, ...config, fetchJwks: fetchJwksOverHttps });
const authenticator = createAuthenticator({ ...systemRuntime, ledger, env: environment, tokenIssuer });
const rateLimiter = createRateLimiter(systemRuntime);
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

const logAnswer = createRefusalLog(systemRuntime, logRequest);

const originGate = retriedOnce(async () => {
  const arns = config.originSecretArns.split(',');
  return createOriginGate(await Promise.all(arns.map((arn) => fetchSecretText(secretsManager, arn))));
});
const writeApi = retriedOnce(async () => {
  await checkFormat(ledger);
  const secrets = createSecrets(masterSecretOf(await fetchSecretText(secretsManager, config.secretArn)));
  return createWriteApi({
    ...systemRuntime,
    ledger,
    uploads,
    secrets,
    environment,
    authenticator,
    rateLimiter,
    cursors: createCursors(secrets.cursorKey),
    log: logAnswer,
    usesReserves: true,
  });
});
// Fetched during the start, which has time for it. The first request waits for the result, or tries again.
originGate().catch(() => undefined);
writeApi().catch(() => undefined);

/** Never rejects: API Gateway would answer with a body of its own. */
export async function handler(event: HttpEvent): Promise<HttpResult> {
  const { requestId } = event.requestContext;
  try {
    const admit = await originGate();
    const admitted = admit(event);
    if (admitted === null) {
      logAnswer({ requestId, operation: null, status: 403, code: 'forbidden', actor: null, fault: null });
      return refusal(requestId, 'forbidden', NOT_THE_HOST);
    }
    const handle = await writeApi();
    const { result } = await handle(admitted);
    return result;
  } catch (error) {
    logLine('error', 'the write API could not be opened', { requestId, fault: faultText(error) });
    const detail = 'Not available at the moment, and nothing has changed: try again.';
    return refusal(requestId, 'service-unavailable', detail, { 'retry-after': '1' });
  }
}

function refusal(requestId: string, code: ProblemCode, detail: string, headers = {}): HttpResult {
  return problemResult({ ...problem(code, detail), instance: `/requests/${requestId}` }, headers);
}

function logRequest(entry: LoggedRequest): void {
  logLine(entry.fault === null ? 'info' : 'error', 'request', { ...entry });
}
