/** Checks the documents that explain the use of the API. They exist in every generation. */
import * as z from 'zod';
import { PROBLEMS_PATH } from '../../../contract/files/object-paths.ts';
import { OPENAPI_URL, WAITLIST_URL } from '../../../contract/files/routes.ts';
import { PROBLEM_CONTENT_TYPE } from '../../../contract/problems/edge-problems.ts';
import type { Json } from '../../../contract/values/canonical-json.ts';
import { waitlistSchema } from '../../../contract/values/waitlist.ts';
import { checkBody, type Excuse, type Findings } from '../../verify/check-body.ts';
import type { PublicReader } from '../../verify/reading/reader.ts';

/** The members that every reader of OpenAPI 3.1 relies on. The rest is validated where the document is made. */
const openapiSchema = z.looseObject({
  openapi: z.string().regex(/^3\.1\.\d+$/),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(z.string().startsWith('/'), z.looseObject({})),
});

/** Reserved domains for examples (RFC 2606, RFC 6761). */
const RESERVED_DOMAIN = /[@.](example|invalid|test|example\.(com|net|org))$/i;

/** The waitlist document may show its own contact address, and no other. */
const ownAddress: Excuse = (what, found, json) => {
  if (what === 'an internal field') return found === '"email":';
  return what === 'an e-mail address' && found === (json as { readonly [name: string]: Json } | null)?.email;
};

/** The OpenAPI document names the fields of the write API, and shows invented keys and addresses. */
const examples: Excuse = (what, found) => {
  if (what === 'an e-mail address') return RESERVED_DOMAIN.test(found);
  return what === 'an internal field' || what === 'an API key';
};

const catalogueSchema = z.strictObject({
  mediaType: z.literal(PROBLEM_CONTENT_TYPE),
  problems: z.array(z.strictObject({ code: z.string(), type: z.string(), title: z.string(), status: z.int() })),
});

/** All must exist and be consistent. */
export async function checkDocuments(reader: PublicReader, findings: Findings): Promise<void> {
  const waitlist = await checkBody(reader, findings, WAITLIST_URL, waitlistSchema, ownAddress);
  const { email = null, mailto = null } = waitlist?.value ?? {};
  if (mailto !== (email === null ? null : `mailto:${email}`)) {
    findings.add(WAITLIST_URL, 'link', 'sends requests to another address than the one in `email`');
  }
  await checkBody(reader, findings, OPENAPI_URL, openapiSchema, examples);
  await checkBody(reader, findings, PROBLEMS_PATH, catalogueSchema);
}
