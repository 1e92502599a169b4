/** The bodies that depend on no record, rendered once when a publisher starts. */

import { NOT_FOUND_PROBLEM } from '../contract/problems/edge-problems.ts';
import { problemCatalogue } from '../contract/problems/problems.ts';
import { canonicalJson, type Json } from '../contract/values/canonical-json.ts';
import { RENDERER_VERSION } from './core/bodies/render.ts';
import type { StaticBodies } from './dependencies.ts';
import { rendered } from './kernel/files/rendered.ts';

/** The member of the OpenAPI document that says by which version of the code the public files are rendered. */
export const RENDERER_MEMBER = 'x-tidemark-renderer';

/** Renders the documents of the deployment, and the body of the CDN's error page for 404. */
export function staticBodies({ waitlist, openapi }: { readonly waitlist: Json; readonly openapi: Json }): StaticBodies {
  const withRenderer = { ...(openapi as { readonly [name: string]: Json }), [RENDERER_MEMBER]: RENDERER_VERSION };
  return {
    'not-found': rendered(canonicalJson(NOT_FOUND_PROBLEM as unknown as Json)),
    problems: rendered(canonicalJson(problemCatalogue())),
    waitlist: rendered(canonicalJson(waitlist)),
    openapi: rendered(canonicalJson(withRenderer)),
  };
}

/** The same document without the operations that need a credential, for a service that has no write API. */
export function withoutCredentials(openapi: Json): Json {
  const { paths, tags, ...rest } = openapi as unknown as OpenApi;
  const isPublic = ({ security }: Operation) => security?.length === 0;
  const open = Object.entries(paths).flatMap(([path, item]) => {
    const operations = Object.entries(item).filter(([, operation]) => isPublic(operation));
    return operations.length === 0 ? [] : [[path, Object.fromEntries(operations)] as const];
  });
  const used = new Set(open.flatMap(([, item]) => Object.values(item).flatMap((operation) => operation.tags)));
  return {
    ...rest,
    tags: tags.filter(({ name }) => used.has(name)),
    paths: Object.fromEntries(open),
  } as unknown as Json;
}

interface Operation {
  readonly security?: readonly Json[];
  readonly tags: readonly string[];
}

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags: readonly { readonly name: string }[];
}
