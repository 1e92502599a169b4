/**
 * A fresh process that does what Lambda does: imports a bundle and invokes its handler once. Prints one line of JSON, a
 * {@link Invoked}. Arguments: the bundle's path, and the event as JSON.
 */
import { pathToFileURL } from 'node:url';

export interface Invoked {
  /** The handler's result; undefined if it rejected. */
  readonly result?: unknown;
  /** The error of the import or the handler. */
  readonly fault?: { readonly when: 'import' | 'call'; readonly name: string; readonly message: string };
  /** Of the process, user and system. */
  readonly importCpuMs: number;
  readonly callCpuMs: number;
}

if (import.meta.main) {
  const [path = '', event = '{}'] = process.argv.slice(2);
  const context = { getRemainingTimeInMillis: () => 300_000, awsRequestId: '8f5a1c3e' };
  let importCpuMs = 0;
  let callCpuMs = 0;
  let when: 'import' | 'call' = 'import';
  let outcome: Pick<Invoked, 'result' | 'fault'>;
  try {
    const beforeImport = process.cpuUsage();
    const { handler } = await import(pathToFileURL(path).href);
    importCpuMs = cpuMsSince(beforeImport);
    when = 'call';
    const beforeCall = process.cpuUsage();
    const result = await handler(JSON.parse(event), context);
    callCpuMs = cpuMsSince(beforeCall);
    outcome = { result };
  } catch (error) {
    const { name, message } = error as Error;
    outcome = { fault: { when, name, message } };
  }
  console.log(JSON.stringify({ ...outcome, importCpuMs, callCpuMs } satisfies Invoked));
  process.exit(0);
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
