/** The bodies that depend on no record: they change with a deployment or its configuration. */
import { STATIC_KINDS, type StaticKind } from '../../../contract/files/public-object-names.ts';
import { publicKey } from '../../../contract/files/public-objects.ts';
import type { Projector } from '../../kernel/projection.ts';

/** The SHA-256 of each body, in hex. A body whose published bytes are unknown is left out. */
type State = { readonly [Kind in StaticKind]?: string };

export const statics: Projector = {
  name: 'statics',
  kinds: STATIC_KINDS,
  check: async ({ reader, findings }) => ({
    end: async () => await (await import('./check-documents.ts')).checkDocuments(reader, findings),
  }),
  plan: async ({ dependencies: { staticBodies }, state, files }) => ({
    async finish() {
      const known = (state ?? {}) as State;
      for (const kind of STATIC_KINDS) {
        const { body, digest } = staticBodies[kind];
        if (digest === known[kind]) continue;
        await files.add({ kind: 'put', key: publicKey({ kind }), body, nextCursor: null });
      }
      return { state: Object.fromEntries(STATIC_KINDS.map((kind) => [kind, staticBodies[kind].digest])) };
    },
  }),
  reachable: {
    unreachable: async () => [],
    async *published() {
      for (const kind of STATIC_KINDS) yield { kind };
    },
  },
};
