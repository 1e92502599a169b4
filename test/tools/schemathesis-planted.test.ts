/** Schemathesis finds faults that are planted. Beside schemathesis-operator.test.ts, so that both run at the same time. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FAILURES_A_MINUTE } from '../../lambdas/credentials/failure-limit.ts';
import { OPENAPI_FILE } from '../../tools/build/build-openapi.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { judge, startJudgedServer } from './schemathesis.ts';
import { toolFolder } from './tool-folder.ts';

const PYTHON = join(toolFolder('python-tools'), 'bin', 'python');

test('Schemathesis finds planted faults: a field of another type, and a credential that nobody asks for', async () => {
  const server = await startJudgedServer();
  const document = JSON.parse(await readFile(OPENAPI_FILE, 'utf8'));
  document.components.schemas.Snapshot.properties.generation = { type: 'string' };
  document.paths['/api/v1/snapshot'].get.security = document.paths['/api/v1/me'].get.security;
  const file = join(await temporaryFolder(), 'openapi.json');
  await writeFile(file, JSON.stringify(document));
  const only = ['--include-operation-id', 'getSnapshot', '--phases', 'examples'];
  const { exitCode, output } = await judge(PYTHON, server.baseUrl, [server.operatorKey], only, file);
  expect(exitCode).toBe(1);
  expect(output).toContain('Response violates schema');
  expect(output).toContain('API accepts requests without authentication');

  // Over the limit of refused credentials, the same check waits.
  const credential = { headers: { authorization: 'Bearer nobody' } };
  const refuse = async () => (await fetch(`${server.baseUrl}/api/v1/me`, credential)).status;
  const statuses = await Promise.all(Array.from({ length: FAILURES_A_MINUTE + 10 }, refuse));
  expect(statuses).toContain(429);
  const me = ['--include-operation-id', 'getMe', '--phases', 'examples'];
  const patient = await judge(PYTHON, server.baseUrl, [server.operatorKey], me);
  expect(patient.exitCode, patient.output).toBe(0);
});
