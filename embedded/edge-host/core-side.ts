/** The core's side of the link with one edge: what the edge may ask. */
import { problem } from '../../contract/problems.ts';
import { RefusedRequest } from '../../lambdas/pipeline/handler.ts';
import type { Reception } from '../../storage/directory-uploads.ts';
import type { HealthReport } from '../edge/answer.ts';
import type { ReadCounts } from '../edge/read-counts.ts';
import type { AnswerWrite } from '../write-server.ts';
import type { CoreCalls, EdgeCalls, WriteTerms } from './calls.ts';
import { type Channel, createLink, type Link, LinkGone } from './link.ts';

/** The core does this for edges as soon as the port is bound. */
export interface CoreDuties {
  readonly health: () => Promise<HealthReport>;
  /** Receives the keys of damaged objects. */
  readonly noteDamage: (key: string) => void;
  /** Receives what all edges have counted. */
  readonly reads: ReadCounts;
}

/** The core does this for edges as soon as there is something to read. */
export interface WriteDuties {
  readonly terms: WriteTerms;
  readonly answerWrite: AnswerWrite;
  /** Called after every request that has changed the ledger. */
  readonly onCommitted: () => void;
  readonly mayReceive: (id: string) => Promise<boolean>;
  /** @throws StorageUnavailable */
  readonly onStored: (id: string) => Promise<void>;
  /** As `DirectoryUploads.removePartial`. */
  readonly removePartial: (beginning: string) => Promise<void>;
}

export interface CoreSideOptions {
  /** Of the edge: see `EdgeSettings`. */
  readonly name: string;
  /** Not called before the edge is told to bind the port. */
  readonly duties: () => CoreDuties;
  /** Not called before the edge is told that it may serve. */
  readonly writeDuties: () => WriteDuties;
  /** Shared by all edges. */
  readonly reception: Reception;
  readonly report: (what: string, cause: unknown) => void;
}

export function linkToEdge(channel: Channel, options: CoreSideOptions): Link<EdgeCalls> {
  const { name, duties, writeDuties, reception, report } = options;
  const receiving = new Set<string>();

  const ours: CoreCalls = {
    health: () => duties().health(),
    async write(write, head) {
      const { answerWrite, onCommitted } = writeDuties();
      const handled = await answerWrite(head, (actor, maxBytes) =>
        link.ask('receiveBody', write, actor, maxBytes).catch(refuseIfGone),
      );
      // After the answer is on its way: background work begins in this loop.
      if (handled.committed) setImmediate(onCommitted);
      return handled;
    },
    mayReceive: (id) => writeDuties().mayReceive(id),
    async beginReceiving(id, bytes) {
      const announced = await reception.begin(id, bytes);
      if (announced !== null) receiving.add(id);
      return announced;
    },
    endReceiving(id) {
      receiving.delete(id);
      reception.end(id);
    },
    onStored: (id) => writeDuties().onStored(id),
    damaged: (key) => duties().noteDamage(key),
    counted: (reads) => duties().reads.addAll(reads),
    fault: report,
  };
  const link = createLink<EdgeCalls>(channel, ours, {
    onFault: (error) => report('a message of an edge failed', error),
    onGone: () => {
      if (receiving.size === 0) return;
      for (const id of receiving) reception.end(id);
      receiving.clear();
      const failed = (cause: unknown) => report('a file that came half could not be removed', cause);
      writeDuties().removePartial(name).catch(failed);
    },
  });
  return link;
}

/** Nobody will read the answer. */
function refuseIfGone(error: unknown): never {
  if (!(error instanceof LinkGone)) throw error;
  throw new RefusedRequest(problem('request-timeout', 'The body did not come.'));
}
