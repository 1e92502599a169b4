/**
 * Schemathesis sends thousands of requests, made from docs/openapi.json with a fixed seed, to what `npm start` starts, as
 * an operator.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALL_SCOPES } from '../../contract/operations/scopes.ts';
import { mintToken } from '../../lambdas/credentials/local-issuer.ts';
import { LOCAL_AUDIENCE, LOCAL_ISSUER } from '../../server/http/write-api.ts';
import { type JudgedServer, judge, startJudgedServer } from './schemathesis.ts';
import { toolFolder } from './tool-folder.ts';

const PYTHON = join(toolFolder('python-tools'), 'bin', 'python');

/** Users with every scope. More than one, because each has a rate. No API keys: the run revokes and rotates keys. */
async function operators({ dataFolder }: JudgedServer): Promise<string[]> {
  const privateJwk = (await readFile(join(dataFolder, 'issuer-key'), 'utf8')).trim();
  return Array.from({ length: 10 }, (_, index) =>
    mintToken({
      privateJwk,
      issuer: LOCAL_ISSUER,
      audience: LOCAL_AUDIENCE,
      subject: `operator-${index}`,
      scopes: ALL_SCOPES,
      nowMs: Date.now(),
      lifetimeSeconds: 3600,
      tokenId: `schemathesis-${index}`,
    }),
  );
}

describe('Schemathesis as an operator', () => {
  test('finds no fault as an operator, in every operation', async ({ annotate }) => {
    const server = await startJudgedServer();
    const { exitCode, output, report } = await judge(PYTHON, server.baseUrl, await operators(server), []);
    expect(exitCode, output).toBe(0);
    expect(report.operations.tested).toBe(report.operations.total);
    expect(report.test_cases.generated).toBeGreaterThan(2_000);
    await annotate(`Schemathesis sent ${report.test_cases.generated} requests as an operator`);
  });
});
