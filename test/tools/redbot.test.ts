/** REDbot asks for public objects with conditions, ranges and codings, and judges the answers by the standards of HTTP. */
import { createServer } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listeningForTest } from '../listening.ts';
import { type Edge, startEdge } from '../server/edge/edge-fixture.ts';
import { BODIES, putObjects } from '../server/edge/edge-objects.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const PYTHON = join(toolFolder('python-tools'), 'bin', 'python');

/** In an HTTP Archive, as REDbot writes it. */
interface Note {
  readonly note_id: string;
  readonly level: 'GOOD' | 'INFO' | 'WARN' | 'BAD';
}
interface Archive {
  readonly log: { readonly entries: readonly { readonly _red_messages: readonly Note[] }[] };
}

/** REDbot says this of most servers, and we stay with it. */
const CHOSEN = new Set([
  // `public` is in the contract: a cache may then keep an answer also where the request had a credential.
  'STORE_PUBLIC_UNNECESSARY',
  // Keep-Alive: Node sends it, and clients learn from it when an idle connection ends.
  'FIELD_DEPRECATED',
]);

/** Smaller bodies are inside of the range that REDbot asks for. */
const MIN_BYTES = 100;

async function notesOf(
  url: string,
): Promise<{ readonly faults: readonly string[]; readonly praise: readonly string[] }> {
  const { stdout, output } = await runTool(PYTHON, ['-m', 'redbot.cli', '-o', 'har', url], {
    cwd: await temporaryFolder(),
  });
  expect(stdout, output).toMatch(/^\{/);
  const notes = (JSON.parse(stdout) as Archive).log.entries.flatMap(({ _red_messages }) => _red_messages);
  const ids = (...levels: Note['level'][]) =>
    notes.filter(({ level, note_id }) => levels.includes(level) && !CHOSEN.has(note_id)).map(({ note_id }) => note_id);
  return { faults: ids('BAD', 'WARN'), praise: ids('GOOD') };
}

describe('the edge', () => {
  let edge: Edge;
  beforeEach(async () => {
    edge = await startEdge({});
    edge.clock.nowMs = Date.now();
    putObjects(edge);
  });
  afterEach(() => edge.close());

  const urls = Object.entries(BODIES).filter(([, body]) => body.length >= MIN_BYTES);
  test.each([...urls.map(([url]) => url), '/api/v1/markets/removed'])('REDbot finds no fault in %s', async (url) => {
    const { faults, praise } = await notesOf(`http://127.0.0.1:${edge.port}${url}`);
    expect(faults).toEqual([]);
    const ranges = url.endsWith('/removed') ? [] : ['RANGE_CORRECT'];
    expect(praise).toEqual(expect.arrayContaining(['CL_CORRECT', 'INM_304', 'FRESHNESS_FRESH', ...ranges]));
  });
});

test('REDbot finds planted faults: a wrong part, one ETag for two codings, no Vary, no 304', async () => {
  const body = Buffer.from('All that is in this text could be compressed well. '.repeat(40));
  const server = createServer(({ headers: { range, ...headers } }, response) => {
    response.setHeader('ETag', '"planted"').setHeader('Content-Type', 'text/plain').setHeader('Accept-Ranges', 'bytes');
    const [, first, last] = /bytes=(\d+)-(\d+)/.exec(range ?? '') ?? [];
    if (first !== undefined) {
      response.writeHead(206, { 'Content-Range': `bytes ${first}-${last}/${body.length}` });
      response.end(body.subarray(Number(first) + 1, Number(last) + 2));
    } else if (/gzip/.test(headers['accept-encoding'] ?? '')) {
      response.setHeader('Content-Encoding', 'gzip').end(gzipSync(body));
    } else response.end(body);
  });
  const { faults } = await notesOf(`${await listeningForTest(server)}/`);
  expect(faults).toEqual(
    expect.arrayContaining(['RANGE_INCORRECT', 'VARY_ETAG_DOESNT_CHANGE', 'CONNEG_NO_VARY', 'INM_FULL']),
  );
});
