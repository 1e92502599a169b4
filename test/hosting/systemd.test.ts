/** The units of infra/hosting/systemd, judged by systemd itself. */
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, globSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { missingProgram } from './proxy.ts';

const UNITS = globSync(join(import.meta.dirname, '../../infra/hosting/systemd/*'));
const SERVICES = UNITS.filter((file) => file.endsWith('.service'));

const reason = missingProgram('systemd-analyze');

/** A machine on which the units and the command are installed. */
async function installed(): Promise<string> {
  const root = await temporaryFolder();
  const [units, commands] = [join(root, 'etc/systemd/system'), join(root, 'opt/tidemark/current/node_modules/.bin')];
  for (const folder of [units, commands]) mkdirSync(folder, { recursive: true });
  for (const file of UNITS) copyFileSync(file, join(units, basename(file)));
  writeFileSync(join(commands, 'tidemark'), '#!/bin/sh\n');
  chmodSync(join(commands, 'tidemark'), 0o755);
  return root;
}

function analyze(root: string, ...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', [`--root=${root}`, '--man=no', ...words], {
    encoding: 'utf8',
  });
  return { status, output: stdout, errors: stderr };
}

const verify = (root: string) =>
  analyze(root, '--recursive-errors=no', 'verify', ...UNITS.map((file) => basename(file)));

describe.skipIf(reason !== null)('systemd', () => {
  it('has nothing to say against the units', async () => {
    expect(verify(await installed())).toEqual({ status: 0, output: '', errors: '' });
  });

  it.each(SERVICES.map((file) => basename(file)))('finds %s well protected', async (unit) => {
    // In tenths: 0 is best. Its own word below 2.0 is OK.
    const { status, output } = analyze(await installed(), 'security', '--offline=yes', '--threshold=15', unit);
    expect(status, output).toBe(0);
  });
});
