/** The conventions of the whole API, and how to authenticate. */

import { SCOPES } from '../operations/scopes.ts';
import type { Json } from '../values/canonical-json.ts';

/** `info`: the rules that hold for every operation. */
export const INFO: Json = {
  title: 'Tidemark',
  version: '1.0.0',
  summary: 'Market data that says where each number came from.',
  description: [
    'Public reads are static files. Anybody may read them, from any origin, and poll them with `If-None-Match`.',
    'Every other operation needs `Authorization: Bearer <token>`. The token is an access token of a signed-in ' +
      'user or an API key.',
    '',
    '- **Money** is an integer in minor units with an ISO 4217 currency code. Null means unknown, never zero.',
    '- **Times** are RFC 3339 in UTC with `Z`.',
    '- **Collections** come in pages. Pass `nextCursor` of one page as `cursor` of the next, until it is null.',
    '- **Files**: a public resource of JSON whose path has no extension is also served at its path with `.json` at the ' +
      'end, without query. `page.next` links from the file of a page to the file of the next one.',
    '- **Ranges**: every public read takes one `Range` of bytes. It is meant for files; a part of a JSON body is no JSON.',
    '- **Every write** needs an `Idempotency-Key`. A write that is sent again gets the stored answer. A refused ' +
      'write changes nothing.',
    '- **Owners**: a resource belongs to the subject of the credential that created it: a user, or the account of ' +
      'an API key. Every credential of that subject can read and change it. For any other subject it is 404 ' +
      '`not-found`.',
    '- **Generations**: accepted changes become public together, in the next generation. A resource that waits ' +
      'for publication shows the number of its generation; so does `GET /api/v1/snapshot`.',
    '- **Rates**: every answer to a recognised credential has `RateLimit` and `RateLimit-Policy`, also a refusal ' +
      'and a 304.',
    '- **Unknown fields** and unknown query parameters are refused, not ignored.',
    '- **Problems** are `application/problem+json` (RFC 9457) with a stable `code`. Any path may also be answered ' +
      'with 405 `method-not-allowed`, 408 `request-timeout`, 413 `content-too-large`, 414 `uri-too-long` or 431 ' +
      '`header-fields-too-large`, before the operation is known.',
  ].join('\n'),
  license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
};

const SCOPE_LIST = Object.entries(SCOPES).map(([scope, description]) => `- \`${scope}\`: ${description}`);

/** `components.securitySchemes`, with the meaning of each scope. */
export const SECURITY_SCHEMES: Json = {
  userToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: [
      'An access token of the configured OpenID Connect issuer, checked as RFC8725 asks. Its scopes:',
      '',
      ...SCOPE_LIST,
    ].join('\n'),
  },
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'tdm_<environment>_<key id>_<secret>',
    description: 'An API key, with the same scopes. `GET /api/v1/waitlist` says how to ask for one.',
  },
};
