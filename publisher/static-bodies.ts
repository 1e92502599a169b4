/** The bodies that depend on no record, rendered once when a publisher starts. */

import { NOT_FOUND_PROBLEM } from '../contract/problems/edge-problems.ts';
import { problemCatalogue } from '../contract/problems/problems.ts';
import { canonicalJson, type Json } from '../contract/values/canonical-json.ts';
import { RENDERER_VERSION } from './core/bodies/render.ts';
import type { StaticBodies } from './dependencies.ts';
import { rendered } from './kernel/files/rendered.ts';
import type { Projector } from './kernel/projection.ts';
import { PROJECTORS } from './projections.ts';

/** The member of the OpenAPI document that says by which version of the code the public files are rendered. */
export const RENDERER_MEMBER = 'x-tidemark-renderer';

/** Renders the documents of the deployment, and the body of the CDN's error page for 404. */
export function staticBodies(
  documents: { readonly waitlist: Json; readonly openapi: Json },
  projectors: readonly Projector[] = PROJECTORS,
): StaticBodies {
  return {
    'not-found': rendered(canonicalJson(NOT_FOUND_PROBLEM as unknown as Json)),
    problems: rendered(canonicalJson(problemCatalogue())),
    waitlist: rendered(canonicalJson(documents.waitlist)),
    openapi: rendered(canonicalJson(withPathItems(documents.openapi, projectors))),
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

/** Adds the paths of projections that are not in the table of operations, and the version for `verify`. */
function withPathItems(openapi: Json, projectors: readonly Projector[]): Json {
  const { paths = {}, ...rest } = openapi as { readonly paths?: { readonly [path: string]: Json } };
  const added = projectors.map(({ describe }) => describe ?? {});
  return { ...rest, paths: Object.assign({}, paths, ...added), [RENDERER_MEMBER]: RENDERER_VERSION };
}
