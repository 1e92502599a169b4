/** Checks every answer of a world against the table of operations. */
import { operationOf } from '../../contract/operations/operations.ts';
import { route } from '../../lambdas/pipeline/route.ts';
import type { ApiWorld } from './world.ts';

/** The same world. Its calls throw if the status, body or header fields of a success differ from its row. */
export function heldToSchemas(world: ApiWorld): ApiWorld {
  const { call } = world;
  return Object.assign(world, {
    async call(request) {
      const answer = await call(request);
      const routed = route(request.method ?? 'GET', request.path);
      if (answer.status >= 300 || routed.kind !== 'operation') return answer;
      const { success } = operationOf(routed.operation);
      const { status, body, headers = [] } = success;
      if (answer.status !== status) throw new Error(`${routed.operation}: ${answer.status} instead of ${status}`);
      if (body === null && answer.text !== '') throw new Error(`${routed.operation}: a body that it must not have`);
      body?.parse(answer.json);
      for (const name of headers) {
        if (answer.headers[name.toLowerCase()] === undefined) throw new Error(`${routed.operation}: no ${name}`);
      }
      return answer;
    },
  } satisfies Pick<ApiWorld, 'call'>);
}
