/**
 * The process that a function lives in, as Lambda's runtime makes one: imports the bundle, once, then hands its handler
 * one event at a time. Its environment variables are the function's and Lambda's own, and none of the parent process.
 * Argument: the bundle's path. Talks over IPC: {@link Imported}, then an {@link Answer} for each {@link Invocation}.
 */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

export interface Imported {
  /** CPU time of the process, user and system. */
  readonly importCpuMs: number;
}

export interface Invocation {
  readonly event: unknown;
  readonly requestId: string;
  /** Milliseconds since the epoch. */
  readonly deadlineMs: number;
}

export interface Answer {
  /** The handler's result, as JSON carries it. */
  readonly result?: unknown;
  /** The handler's error. */
  readonly fault?: { readonly name: string; readonly message: string };
  readonly cpuMs: number;
  /** The most memory that the process has held so far. */
  readonly maxMegabytes: number;
}

if (import.meta.main && process.send !== undefined) {
  const send = process.send.bind(process) as (message: Imported | Answer) => void;
  // A terminal's Ctrl-C is for the host, which ends us when it is done.
  process.on('SIGINT', () => undefined);
  process.on('disconnect', () => process.exit(0));
  const { handler } = await import(pathToFileURL(process.argv[2] ?? '').href);
  process.on('message', async ({ event, requestId, deadlineMs }: Invocation) => {
    const context = { awsRequestId: requestId, getRemainingTimeInMillis: () => deadlineMs - Date.now() };
    const before = process.cpuUsage();
    const outcome = await handler(event, context).then(
      (result: unknown) => ({ result }),
      ({ name, message }: Error) => ({ fault: { name, message } }),
    );
    send({ ...outcome, cpuMs: cpuMsSince(before), maxMegabytes: maxMegabytes() });
  });
  send({ importCpuMs: cpuMsSince() });
}

function cpuMsSince(before?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Not that of getrusage, which begins with the memory of the parent. Without /proc: the present memory. */
function maxMegabytes(): number {
  if (process.platform !== 'linux') return process.memoryUsage.rss() / 1024 / 1024;
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
