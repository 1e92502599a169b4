/** Schemathesis as a customer: with keys of an account, beside schemathesis-operator.test.ts. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ACCOUNT_SCOPES } from '../../contract/operations/accounts/api-keys.ts';
import { succeeded } from '../scenario/answers.ts';
import { openSession } from '../scenario/session.ts';
import { type JudgedServer, judge, startJudgedServer } from './schemathesis.ts';
import { toolFolder } from './tool-folder.ts';

const PYTHON = join(toolFolder('python-tools'), 'bin', 'python');

/** Keys of one account, with every scope that an account can have. */
async function customers({ baseUrl, operatorKey }: JudgedServer): Promise<string[]> {
  const session = openSession({ readBaseUrl: baseUrl, writeBaseUrl: baseUrl, operatorKey });
  const asked = {
    contact: 'jo@people.example',
    useCase: 'A weekly chart.',
    requestsPerDay: 5_000,
    consentedAt: '2026-01-01T00:00:00Z',
  };
  const { id } = succeeded(
    'createWaitlistRequest',
    await session.write('POST', '/api/v1/waitlist-requests', { body: asked }),
  );
  const decision = { outcome: 'approved', note: null };
  succeeded(
    'decideWaitlistRequest',
    await session.write('POST', `/api/v1/waitlist-requests/${id}/decision`, { body: decision }),
  );
  const keys = ['one', 'two'].map(async (label) => {
    const body = { waitlistRequest: id, label, scopes: ACCOUNT_SCOPES };
    return succeeded('createApiKey', await session.write('POST', '/api/v1/api-keys', { body })).key;
  });
  return Promise.all(keys);
}

describe('Schemathesis as a customer', () => {
  test('finds no fault as a customer', async ({ annotate }) => {
    const server = await startJudgedServer();
    const { exitCode, output, report } = await judge(PYTHON, server.baseUrl, await customers(server), [
      '--phases',
      'examples,fuzzing',
    ]);
    expect(exitCode, output).toBe(0);
    expect(report.test_cases.generated).toBeGreaterThan(300);
    await annotate(`Schemathesis sent ${report.test_cases.generated} requests as a customer`);
  });
});
