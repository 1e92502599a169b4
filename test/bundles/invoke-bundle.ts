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
}

if (import.meta.main) {
  const [path = '', event = '{}'] = process.argv.slice(2);
  const context = { getRemainingTimeInMillis: () => 300_000, awsRequestId: '8f5a1c3e' };
  let when: 'import' | 'call' = 'import';
  let outcome: Invoked;
  try {
    const { handler } = await import(pathToFileURL(path).href);
    when = 'call';
    outcome = { result: await handler(JSON.parse(event), context) };
  } catch (error) {
    const { name, message } = error as Error;
    outcome = { fault: { when, name, message } };
  }
  console.log(JSON.stringify(outcome));
  process.exit(0);
}
