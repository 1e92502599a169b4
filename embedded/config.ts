/** What the embedded server is told by its environment. */

export interface EmbeddedConfig {
  readonly host: string;
  /** 0 picks a free port. */
  readonly port: number;
  /** Where the ledger and the objects are. */
  readonly dataFolder: string;
}

/** Told to the person who started the server, in one line and without a stack: what is wrong and how to mend it. */
export class StartError extends Error {
  override readonly name = 'StartError';
}

/** Reads `HOST`, `PORT` and `TIDEMARK_DATA`. Throws a {@link StartError} for a port that is none. */
export function readConfig(environment: { readonly [name: string]: string | undefined }): EmbeddedConfig {
  const port = environment.PORT || '8787';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new StartError(`PORT is ${JSON.stringify(port)}: give a number from 0 to 65535, where 0 picks a free port.`);
  }
  return {
    host: environment.HOST || '127.0.0.1',
    port: Number(port),
    dataFolder: environment.TIDEMARK_DATA || '.tidemark',
  };
}
