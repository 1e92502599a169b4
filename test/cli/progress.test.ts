/** A command that takes longer than two seconds says on a terminal how far it is. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { stubServer } from './stub-server.ts';
import { tidemarkOnTerminal } from './tidemark.ts';

const ENVIRONMENT = { TIDEMARK_KEY: 'tdm_dev_test' };

/** The server never answers: Ctrl-C is typed as soon as progress is shown, and nothing else ends the command in time. */
test.each<[command: string, shown: string]>([['ingest FILE --url URL', 'Sending [']])('%s', async (command, shown) => {
  const { url } = await stubServer(() => {});
  const path = join(await temporaryFolder(), 'records.ndjson');
  await writeFile(path, '{"type":"observation"}\n');
  const words = command.replace('URL', url).replace('FILE', path).split(' ');
  const { output } = await tidemarkOnTerminal([...words, '--timeout', '600'], {
    environment: ENVIRONMENT,
    keys: [shown, '\u0003'],
  });
  expect(output).toContain(shown);
});
