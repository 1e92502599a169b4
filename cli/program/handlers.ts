/** Handlers of commands, in the form that the parser calls. */
import type { Command } from 'commander';
import { type Client, openClient } from '../http/client.ts';
import type { GlobalOptions } from './profile.ts';

/** @param run takes the options of the command and those of every command, then its arguments */
export function withOptions<Flags extends object, Words extends readonly unknown[]>(
  run: (options: Flags, ...words: Words) => Promise<void>,
): (...given: unknown[]) => Promise<void> {
  return async (...given) => {
    const options = (given.at(-1) as Command).optsWithGlobals<Flags>();
    await run(options, ...(given.slice(0, -2) as unknown as Words));
  };
}

/** The same, on the service that the options name. */
export function withClient<Flags extends GlobalOptions, Words extends readonly unknown[]>(
  run: (client: Client, options: Flags, ...words: Words) => Promise<void>,
): (...given: unknown[]) => Promise<void> {
  return withOptions(
    async (options: Flags, ...words: Words) => await run(await openClient(options), options, ...words),
  );
}
