/**
 * Handlers whose code is loaded with their first request: those that few requests need. A start of the function then
 * does not read and compile it.
 */
import type { ReadOperationId, WriteOperationId } from '../../contract/operations.ts';
import type { ReadHandler, WriteHandler } from './handler.ts';

export function lateRead<Id extends ReadOperationId>(load: () => Promise<ReadHandler<Id>>): ReadHandler<Id> {
  return { answer: async (request, tools) => (await load()).answer(request, tools) };
}

export function lateWrite<Id extends WriteOperationId>(
  load: () => Promise<WriteHandler<Id, unknown>>,
): WriteHandler<Id, unknown> {
  type View = { readonly handler: WriteHandler<Id, unknown>; readonly view: unknown };
  const late: WriteHandler<Id, View> = {
    async read(request, reader, tools) {
      const handler = await load();
      return { handler, view: await handler.read?.(request, reader, tools) };
    },
    decide: (request, { handler, view }, found) => handler.decide(request, view, found),
  };
  return late as WriteHandler<Id, unknown>;
}
