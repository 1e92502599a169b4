/**
 * Handlers whose code is loaded with their first request: those that few requests need. A start of the function then
 * does not read and compile it.
 */
import type { ReadOperationId, WriteOperationId } from '../../contract/operations/operations.ts';
import type { ConflictItems } from '../../storage/ports/conflict-items.ts';
import type { LedgerReader } from '../../storage/ports/ledger.ts';
import type { OperationRequest, ReadHandler, WriteHandler, WriteTools } from './handler.ts';

export function lazyRead<Id extends ReadOperationId>(load: () => Promise<ReadHandler<Id>>): ReadHandler<Id> {
  return { answer: async (request, tools) => (await load()).answer(request, tools) };
}

export function lazyWrite<Id extends WriteOperationId>(
  load: () => Promise<WriteHandler<Id, unknown>>,
): WriteHandler<Id, unknown> {
  type View = { readonly handler: WriteHandler<Id, unknown>; readonly view: unknown };
  const late = {
    async read(request: OperationRequest<Id>, reader: LedgerReader, tools: WriteTools): Promise<View> {
      const handler = await load();
      return { handler, view: await handler.read?.(request, reader, tools) };
    },
    markets: (request: OperationRequest<Id>, { handler, view }: View) => handler.markets?.(request, view) ?? [],
    decide: (request: OperationRequest<Id>, { handler, view }: View, found: ConflictItems) =>
      handler.decide(request, view, found),
  };
  return late as unknown as WriteHandler<Id, unknown>;
}
