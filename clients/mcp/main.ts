/** `tidemark-mcp --url https://data.example`: a server on standard input and output, without stored state. */
import { parseArgs } from 'node:util';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { baseUrl } from '../typescript/public-files.ts';
import manifest from './package.json' with { type: 'json' };
import { createMcpServer } from './server.ts';

const USAGE = `usage: tidemark-mcp --url https://data.example [--vkey KEY]…

  --url   the address of the service; or the variable TIDEMARK_URL
  --vkey  a verifier key of its log, as its operator tells it; again for each further key

It is a server of the Model Context Protocol over standard input and output, for a program that starts it.`;

function settings(): { readonly url: string; readonly vkeys: readonly string[] } | null {
  try {
    const { values } = parseArgs({
      options: { url: { type: 'string' }, vkey: { type: 'string', multiple: true }, help: { type: 'boolean' } },
    });
    if (values.help) return null;
    const url = baseUrl(values.url ?? process.env.TIDEMARK_URL ?? '', '--url');
    return { url: url.href, vkeys: values.vkey ?? [] };
  } catch (error) {
    // On standard error, because standard output belongs to the protocol.
    console.error(`Cannot start: ${(error as Error).message}. Give the address of a service with --url.`);
    return null;
  }
}

const given = settings();
if (given === null) {
  console.error(USAGE);
  process.exitCode = 2;
} else {
  await createMcpServer({ ...given, nowMs: Date.now }, manifest.version).connect(new StdioServerTransport());
}
