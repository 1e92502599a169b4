/** The calls between the core (ledger, writes, publishing) and the thread of the edge. */
import type { HttpEvent } from '../../lambdas/http/event.ts';
import type { Handled } from '../../lambdas/pipeline/handle.ts';
import type { PurgeTargets } from '../../publisher/notify/purge.ts';
import type { HealthReport } from '../edge/answer.ts';
import type { CountedReads } from '../edge/read-counts.ts';
import type { Proxies } from '../http/sender.ts';
import type { LoopDelays } from '../service/loop-delays.ts';

/** Where the edge listens, and the folders that it shares with the core. */
export interface EdgeSettings {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly dataFolder: string;
  readonly uploadsFolder: string;
  readonly proxies: Proxies;
  /** Whether to measure the delay of the edge's event loop. */
  readonly isMeasured: boolean;
}

export interface EdgeMeasured {
  /** The delays of the edge's event loop since the last call. */
  readonly delays: LoopDelays;
  /** Counts since the edge started. */
  readonly reads: CountedReads;
}

/** Calls from the core to the edge. */
export type EdgeCalls = {
  /** Binds the port, and returns the base URL. Until `ready`, every request but the health check is answered 503. @throws StartError */
  open(settings: EdgeSettings): Promise<string>;
  /** Something is published, and the core accepts writes. @param uploadKey verifies the targets of uploads */
  ready(uploadKey: Uint8Array): void;
  purge(targets: PurgeTargets): void;
  /** The core has put or deleted the object with this key. */
  invalidate(key: string): void;
  /**
   * Reads the body of a write that the core handles, after the core has checked that its sender may send it. Rejects with
   * RefusedRequest if the body is too large, or did not arrive.
   */
  receiveBody(write: number, actor: string, maxBytes: number): Promise<Uint8Array>;
  measure(): EdgeMeasured;
  /** Closes the port, and each connection after its current answer. Takes at most `stopGraceMs`. */
  stop(): Promise<void>;
};

/** Calls from the edge to the core. */
export type CoreCalls = {
  health(): Promise<HealthReport>;
  /** One request of the write API, without its body. @param write the number of this write, for `receiveBody` */
  write(write: number, head: HttpEvent): Promise<Handled>;
  /** Whether the sender of an upload may still write. */
  mayReceive(id: string): Promise<boolean>;
  /** The file of an upload is stored. @throws StorageUnavailable */
  onStored(id: string): Promise<void>;
  /** An object of the store is damaged. */
  damaged(key: string): void;
  /** Reports a fault for the log. */
  fault(what: string, cause: string): void;
};
