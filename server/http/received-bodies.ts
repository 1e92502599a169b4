/**
 * The bodies of the write API that are in memory at one moment. A byte counts when it has arrived, not when it is announced,
 * because an announcement costs its sender nothing. Each credential and each network has a bound of its own, so that others can
 * still send.
 */
import type { IncomingMessage } from 'node:http';
import { problem } from '../../contract/problems/problems.ts';
import { networkOf } from '../../lambdas/http/network.ts';
import { RefusedRequest } from '../../lambdas/http/refused-request.ts';
import { withTimeout } from '../../storage/concurrency/with-timeout.ts';

export interface BodyLimits {
  /** The bound of all bodies together. */
  readonly totalBytes: number;
  /** The bound of one network, which several customers may share behind a proxy. */
  readonly networkBytes: number;
  readonly credentialBytes: number;
  /** The time from the beginning of `read` to the end of the body. */
  readonly receiveMs: number;
}

const MIB = 1024 * 1024;
export const BODY_LIMITS: BodyLimits = {
  totalBytes: 64 * MIB,
  networkBytes: 32 * MIB,
  credentialBytes: 8 * MIB,
  receiveMs: 10_000,
};

export interface ReceivedBodies {
  /** Bytes in memory. */
  readonly bytes: number;
  /** Opens a body before its first byte has arrived. @param address the address of the sender */
  open(request: IncomingMessage, address: string): ReceivedBody;
}

export interface ReceivedBody {
  /**
   * Reads the body to its end. Rejects with the error of an incomplete body.
   *
   * @throws RefusedRequest if it is larger than `maxBytes`, late, or above a bound: the rest is not read
   */
  read(actor: string, maxBytes: number): Promise<Buffer>;
  /** Its bytes no longer count. Call it once, when the request is answered. */
  release(): void;
}

export function createReceivedBodies(limits: BodyLimits = BODY_LIMITS): ReceivedBodies {
  let bytes = 0;
  const bySender = new Map<string, number>();

  function count(sender: string, added: number): number {
    const sum = (bySender.get(sender) ?? 0) + added;
    if (sum === 0) bySender.delete(sender);
    else bySender.set(sender, sum);
    return sum;
  }

  function open(request: IncomingMessage, address: string): ReceivedBody {
    let [own, isReleased] = [0, false];
    let senders: readonly (readonly [name: string, most: number])[] = [];

    function add(added: number): void {
      own += added;
      bytes += added;
      const over = senders.filter(([name, most]) => count(name, added) > most);
      if (over.length > 0) throw busy('rate-limited', 'Too many bodies of this sender are on their way');
      if (bytes > limits.totalBytes) throw busy('service-unavailable', 'Too many bodies are being received');
    }

    async function receive(maxBytes: number): Promise<Buffer> {
      const chunks: Buffer[] = [];
      for await (const chunk of request as AsyncIterable<Buffer>) {
        if (own + chunk.length > maxBytes) throw tooLarge(maxBytes);
        // The body was late, and the answer is waiting for the client to read it.
        if (isReleased) break;
        add(chunk.length);
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    }

    return {
      async read(actor, maxBytes) {
        if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
        senders = [
          [`credential ${actor}`, limits.credentialBytes],
          [`network ${networkOf(address)}`, limits.networkBytes],
        ];
        return await withTimeout(receive(maxBytes), limits.receiveMs, tooLate);
      },
      release() {
        isReleased = true;
        bytes -= own;
        for (const [name] of senders) count(name, -own);
      },
    };
  }

  return {
    open,
    get bytes() {
      return bytes;
    },
  };
}

const tooLate = () =>
  new RefusedRequest(problem('request-timeout', 'The body did not arrive in time: send it at once.'));

function tooLarge(maxBytes: number): RefusedRequest {
  const detail = `The body may have at most ${maxBytes} bytes: send less, or in parts.`;
  return new RefusedRequest(problem('content-too-large', detail));
}

function busy(code: 'rate-limited' | 'service-unavailable', why: string): RefusedRequest {
  const document = problem(code, `${why}: send it again, with the same Idempotency-Key.`);
  return new RefusedRequest(document, { 'retry-after': '1' });
}
