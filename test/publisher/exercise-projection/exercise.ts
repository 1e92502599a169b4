/** A new projection, as an exercise: the names of all markets as one text file. It is this folder and one line in a list. */

import { rendered } from '../../../publisher/kernel/files/rendered.ts';
import type { PlanContext, Projector } from '../../../publisher/kernel/projection.ts';

export const NAMES_URL = '/api/v1/names.txt';
const KEY = `public${NAMES_URL}`;
const HEADERS = { contentType: 'text/plain; charset=utf-8', cacheControl: 'public, max-age=15', cacheTag: 'markets' };

export const exercise: Projector = {
  name: 'exercise',
  kinds: [],
  keys: [KEY],
  plan,
  reachable: {
    unreachable: async (_storage, objects, state) => (state === undefined ? objects.map(({ key }) => key) : []),
  },
  check: async ({ reader, findings }) => ({
    async end({ entries }) {
      const { status, body } = await reader(NAMES_URL);
      const isRight = status === 200 && Buffer.from(body).toString() === textOf(entries.map(({ name }) => name));
      if (!isRight) findings.add(NAMES_URL, 'file', 'has other names than the list');
    },
  }),
  describe: { [NAMES_URL]: { get: { operationId: 'getNames', responses: { 200: { description: 'Names' } } } } },
};

const textOf = (names: readonly string[]) => names.map((name) => `${name}\n`).join('');

async function plan({ state, isBehind, files }: PlanContext): ReturnType<NonNullable<Projector['plan']>> {
  let digest = state;
  return {
    needsList: state === undefined || isBehind,
    ofPage: () => (body) => (JSON.parse(body) as { readonly data: readonly { readonly name: string }[] }).data,
    async list({ entries }) {
      const text = rendered(textOf((entries as readonly { readonly name: string }[]).map(({ name }) => name)));
      if (text.digest !== state) {
        await files.add({ kind: 'put', key: KEY, body: text.body, nextCursor: null, own: HEADERS });
      }
      digest = text.digest;
    },
    finish: async () => ({ state: digest }),
  };
}
