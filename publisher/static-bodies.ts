/** The bodies that depend on no record, rendered once in the life of a publisher. */
import { canonicalJson, type Json } from '../contract/canonical-json.ts';
import { NOT_FOUND_PROBLEM } from '../contract/edge-problems.ts';
import { problemCatalogue } from '../contract/problems.ts';
import type { StaticKind } from '../contract/public-object-names.ts';
import { type Rendered, rendered } from './kernel/rendered.ts';

/** All of them: if a publisher left one out, readers would keep the body of another deployment. */
export type StaticBodies = { readonly [Kind in StaticKind]: Rendered };

/** Renders the documents of the deployment, and the body of the CDN's error page for 404. */
export function staticBodies(documents: { readonly waitlist: Json; readonly openapi: Json }): StaticBodies {
  return {
    'not-found': rendered(canonicalJson(NOT_FOUND_PROBLEM as unknown as Json)),
    problems: rendered(canonicalJson(problemCatalogue())),
    waitlist: rendered(canonicalJson(documents.waitlist)),
    openapi: rendered(canonicalJson(documents.openapi)),
  };
}
