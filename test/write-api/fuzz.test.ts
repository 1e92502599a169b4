/** Any request gets a valid answer, and no secret leaks. */
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { problemCodesOf, problemSchema } from '../../contract/openapi/openapi-problems.ts';
import { operationOf } from '../../contract/operations/operations.ts';
import { ALL_SCOPES } from '../../contract/operations/scopes.ts';
import { PROBLEMS, type ProblemCode } from '../../contract/problems/problems.ts';
import { parseApiKey } from '../../lambdas/credentials/api-key-format.ts';
import { createAuthenticator } from '../../lambdas/credentials/principal.ts';
import type { HttpEvent, HttpResult } from '../../lambdas/http/event.ts';
import { runs } from '../runs.ts';
import { openMemoryLedger } from '../storage/memory-ledger.ts';
import { BODY_SECRET, type Damage, damage, damaged } from './hostile.ts';
import { seedApiKey } from './seeds.ts';
import { API_OPERATIONS, type ApiOperationId, seedWorld, validCall } from './valid-calls.ts';
import { type ApiWorld, openApiWorld } from './world.ts';

const EVENTS = runs(1_000, 2_000);
/** Statuses that some of the events must get: the damage must not cause refusals only. Rarer ones depend on the seed. */
const STATUSES = [200, 201, 400, 401, 404, 415, 422];
const OWNER = 'account:req_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const REVIEWER = 'account:req_01JD8N5W5XQ6M4T0VZ8R2K7C3B';

/** Refusals before the operation is known, or because of the method. */
const WITHOUT_OPERATION: readonly ProblemCode[] = ['not-found', 'method-not-allowed'];

describe('any event', () => {
  let world: ApiWorld;
  let events: readonly HttpEvent[];
  let secrets: readonly string[];

  beforeAll(async () => {
    const ledger = openMemoryLedger();
    const [owner, reviewer] = [
      await seedApiKey(ledger, OWNER, ALL_SCOPES),
      await seedApiKey(ledger, REVIEWER, ALL_SCOPES),
    ];
    world = openApiWorld({
      ledger,
      authenticator: createAuthenticator({ ledger, nowMs: () => world.nowMs, env: 'test', tokenIssuer: null }),
    });
    secrets = [owner, reviewer].map((key) => parseApiKey(key)?.secret as string);
    await seedWorld(world);
    const calls: HttpEvent[] = [];
    for (const id of API_OPERATIONS) {
      const event = world.eventOf(await validCall(world, id, { owner, reviewer }));
      // Undamaged, each call succeeds.
      calls.push(event);
    }
    events = calls;
  });

  /** With a new idempotency key, because the same key would only replay the answer. */
  async function answer(place: number, damages: readonly Damage[], run: number): Promise<HttpResult> {
    const event = events[place % events.length] as HttpEvent;
    const { 'idempotency-key': key } = event.headers;
    const own = key === undefined ? {} : { 'idempotency-key': `fuzz-key-${String(run).padStart(12, '0')}` };
    const fresh = { ...event, headers: { ...event.headers, ...own } };
    return world.send(damages.reduce(damaged, fresh));
  }

  it(`gives a valid status and a document of its kind, in ${EVENTS} tries`, { timeout: 600_000 }, async () => {
    const prototype = Object.getOwnPropertyNames(Object.prototype);
    const seen = new Map<number, number>();
    let count = 0;
    const damages = fc.array(damage, { minLength: 0, maxLength: 3 });
    await fc.assert(
      fc.asyncProperty(fc.nat(), damages, async (place, list) => {
        world.log.splice(0);
        const result = await answer(place, list, ++count);
        checkAnswer(result, world);
        const said = JSON.stringify([result, world.log]);
        for (const secret of secrets) expect(said).not.toContain(secret);
        if (result.statusCode >= 400) expect(said).not.toContain(BODY_SECRET);
        expect(JSON.stringify(world.log)).not.toContain(BODY_SECRET);
        seen.set(result.statusCode, (seen.get(result.statusCode) ?? 0) + 1);
      }),
      { numRuns: EVENTS },
    );
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    for (const status of STATUSES) expect([...seen.keys()]).toContain(status);
    expect([...seen.keys()].filter((status) => status >= 500)).toEqual([]);
  });
});

function checkAnswer({ statusCode, headers, body = '' }: HttpResult, { log }: ApiWorld): void {
  expect(log).toHaveLength(1);
  const [{ operation, status, code, fault }] = log as [ApiWorld['log'][number]];
  expect([fault, status]).toEqual([null, statusCode]);
  for (const [name, value] of Object.entries(headers)) {
    expect(name).toMatch(/^[a-z-]+$/);
    expect(value).toMatch(/^[\t\x20-\x7e]*$/);
  }
  if (statusCode >= 400) {
    expect(headers['content-type']).toBe('application/problem+json');
    const document = problemSchema.parse(JSON.parse(body));
    const { title, status: own } = PROBLEMS[document.code];
    expect(document).toMatchObject({ title, status: own, type: `/problems/${document.code}`, code });
    expect(own).toBe(statusCode);
    expect(body).not.toMatch(/\bat .*\.ts:|node:internal|node_modules/);
    const documented = operation === null ? WITHOUT_OPERATION : problemCodesOf(operationOf(operation));
    expect(documented).toContain(document.code);
  } else if (operation === null) {
    expect([statusCode, body]).toEqual([204, '']);
  } else {
    const { success } = operationOf(operation as ApiOperationId);
    expect([success.status, 304]).toContain(statusCode);
    if (body !== '') expect(success.body?.parse(JSON.parse(body))).toEqual(JSON.parse(body));
  }
}
