/** The shell of an operator: the AWS CLI, whose commands for Lambda and KMS go to a deployment's shape, others to engines. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { FunctionName } from '../../infra/deployment/permissions.ts';
import { AWS_CLI } from './engines/aws-cli.ts';
import { installed } from './engines/installation.ts';
import type { Functions } from './shape/functions.ts';
import type { FunctionError } from './shape/hosted-function.ts';
import { serveLocally } from './shape/local-server.ts';
import { REGION } from './shape/references.ts';
import { CREDENTIALS, type Engines } from './shape/resources.ts';

export interface Typed {
  readonly code: number;
  /** Standard output and error. */
  readonly output: string;
}

export interface OperatorShell {
  /** Runs commands as one script, which ends at the first command that fails. */
  type(commands: string): Promise<Typed>;
  stop(): void;
}

export interface OperatorShellOptions {
  /** An empty one, in which the commands run. */
  readonly folder: string;
  readonly functions: Functions;
  readonly kmsUrl: string;
  readonly engines: Engines;
  /** Called by `npx cdk deploy` with the words after it. */
  readonly deployed: (words: string) => void;
}

export async function openOperatorShell(options: OperatorShellOptions): Promise<OperatorShell> {
  const { folder, functions, kmsUrl, engines, deployed } = options;
  const python = join(await installed(AWS_CLI), 'bin', 'python');
  const server = await serveLocally(
    (request, response) => serveLambda({ functions, deployed }, request, response),
    (error) => console.error(error),
  );
  const bin = join(folder, 'bin');
  await mkdir(bin);
  const programs = {
    // Without the option of version 2 that lets a payload be text: in version 1 it is.
    aws: `args=()
while [ $# -gt 0 ]; do
  if [ "$1" = --cli-binary-format ]; then shift; else args+=("$1"); fi
  shift
done
exec '${python}' -m awscli "\${args[@]}"`,
    npx: `exec curl --silent --show-error --data "$*" ${server.url}/deployed`,
    npm: '',
    git: '',
  };
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(bin, name), `#!/bin/bash\n${script}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const env = {
    PATH: [bin, process.env.PATH].join(delimiter),
    HOME: folder,
    AWS_REGION: REGION,
    AWS_DEFAULT_REGION: REGION,
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    AWS_ENDPOINT_URL: engines.secretsManager,
    AWS_ENDPOINT_URL_S3: engines.s3,
    AWS_ENDPOINT_URL_LAMBDA: server.url,
    AWS_ENDPOINT_URL_KMS: kmsUrl,
  };
  return {
    type: (commands) =>
      new Promise((resolve) => {
        // By a pipe, which a command can open again as /dev/stderr; node's own are sockets.
        const script = `set -o pipefail; ( set -e; ${commands}\n) 2>&1 | cat`;
        execFile('bash', ['-c', script], { cwd: folder, env }, (error, output) =>
          resolve({ code: error === null ? 0 : Number(error.code), output }),
        );
      }),
    stop: () => server.stop(),
  };
}

/** As much of Lambda's API as the runbooks call. */
async function serveLambda(
  { functions, deployed }: Pick<OperatorShellOptions, 'functions' | 'deployed'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await text(request);
  const call = `${request.method} ${request.url}`;
  const [, name = '', what] = /\/functions\/tidemark-([a-z-]+)\/(invocations|concurrency)$/.exec(call) ?? [];
  const answer = (status: number, value: unknown, headers = {}) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(value === undefined ? '' : JSON.stringify(value));
  };
  if (call === 'POST /deployed') {
    deployed(body);
    return answer(200, undefined);
  }
  const called = functions.named(name as FunctionName);
  if (what === 'invocations') {
    try {
      return answer(200, await called.invoke(JSON.parse(body)));
    } catch (error) {
      const { name: errorType, message: errorMessage } = error as FunctionError;
      return answer(200, { errorType, errorMessage }, { 'x-amz-function-error': 'Unhandled' });
    }
  }
  if (what !== 'concurrency') throw new RangeError(`a command has called something that is not here: ${call}`);
  called.isThrottled = request.method === 'PUT' && JSON.parse(body).ReservedConcurrentExecutions === 0;
  return request.method === 'PUT' ? answer(200, JSON.parse(body)) : answer(204, undefined);
}
