import { describe, expect, it } from 'vitest';
import { ALL_SCOPES } from '../../contract/operations/scopes.ts';
import { heldToSchemas } from './held-to-schemas.ts';
import { openApiWorld } from './world.ts';

const URL = '/api/v1/me';

describe('me', () => {
  it('is the subject of a credential, with its scopes in order', async () => {
    const world = heldToSchemas(openApiWorld({ scopes: { alice: ['watchlists:write', 'claims:read'] } }));
    const user = await world.call({ path: URL });
    expect(user.status).toBe(200);
    expect(user.json).toEqual({
      actor: 'user:alice',
      subject: 'user:alice',
      kind: 'user',
      scopes: ['claims:read', 'watchlists:write'],
      markets: null,
      expiresAt: null,
    });
    const key = await world.call({ path: URL, as: 'acme/k1' });
    expect(key.json).toEqual({
      actor: 'key:k1',
      subject: 'account:acme',
      kind: 'api-key',
      scopes: [...ALL_SCOPES].sort(),
      markets: null,
      expiresAt: null,
    });
  });
});
