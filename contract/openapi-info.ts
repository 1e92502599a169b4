/** What the document says of the API as a whole: its conventions, and how to authenticate. */
import type { Json } from './canonical-json.ts';
import { SCOPES } from './scopes.ts';

/** `info`: what holds for every operation. */
export const INFO: Json = {
  title: 'Tidemark',
  version: '1.0.0',
  summary: 'Market data that says where each number came from.',
  description: [
    'Public reads are static files: anybody may read them, from anywhere, and poll them with `If-None-Match`.',
    'Everything else needs `Authorization: Bearer <token>` with a token of a signed-in user or an API key.',
    '',
    '- **Money** is an integer in minor units with an ISO 4217 currency code. Null means unknown, never zero.',
    '- **Times** are RFC 3339 in UTC with `Z`.',
    '- **Collections** are pages: pass `nextCursor` of one page as `cursor` of the next, until it is null.',
    '- **Every write** needs an `Idempotency-Key`. What has happened is answered again; what was refused left no trace.',
    '- **Owners**: what is written belongs to the subject of the credential, a user or the account of an API key, and is ' +
      "read and changed with any credential of it. Somebody else's is 404 `not-found`.",
    '- **Generations**: accepted changes become public together, with the next publication. What waits for it says the ' +
      'number of its generation, which `GET /api/v1/snapshot` shows too.',
    '- **Rates**: every answer to a recognised credential has `RateLimit` and `RateLimit-Policy`, refusals and 304 too; they ' +
      'are listed with successes and with 429.',
    '- **Unknown fields** and unknown query parameters are refused, not ignored.',
    '- **Problems** are `application/problem+json` (RFC 9457) with a stable `code`. Any path may also be answered with ' +
      '405 `method-not-allowed`, 408 `request-timeout`, 413 `content-too-large`, 414 `uri-too-long` or 431 ' +
      '`header-fields-too-large` before it is known what was asked for.',
  ].join('\n'),
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

const SCOPE_LIST = Object.entries(SCOPES).map(([scope, description]) => `- \`${scope}\`: ${description}`);

/** `components.securitySchemes`, with what each scope allows. */
export const SECURITY_SCHEMES: Json = {
  userToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: ['An access token of the configured OpenID Connect issuer. Its scopes:', '', ...SCOPE_LIST].join('\n'),
  },
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'tdm_<environment>_<key id>_<secret>',
    description: 'An API key, with the same scopes. See `GET /api/v1/waitlist` for how to get one.',
  },
};
