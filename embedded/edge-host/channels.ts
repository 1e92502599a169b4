/** The two kinds of channels between the core and an edge. */
import type { ChildProcess } from 'node:child_process';
import type { MessagePort, Worker } from 'node:worker_threads';
import type { Channel } from './link.ts';

/** To a thread, or from it. */
export function channelOfPort(port: MessagePort | Worker): Channel {
  return {
    send: (message) => port.postMessage(message),
    listen(take, gone) {
      port.on('message', take);
      // A port is closed, a worker exits.
      port.on('close', gone);
      port.on('exit', gone);
    },
  };
}

/** To a child process, or from it to its parent. Its serialisation must be `advanced`. */
export function channelOfProcess(end: ChildProcess | NodeJS.Process): Channel {
  return {
    // An error means that the other end has gone, of which 'disconnect' tells.
    send: (message) => end.connected && end.send?.(message as object, undefined, undefined, () => undefined),
    listen(take, gone) {
      end.on('message', take);
      end.on('disconnect', gone);
      // A process that could not be started was never connected.
      end.on('error', gone);
    },
  };
}
