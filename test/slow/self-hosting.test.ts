/** The commands of docs/self-hosting.md, run as root in their order, on a copy of this machine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, test } from 'vitest';
import { LEDGER_FORMAT } from '../../storage/records/formats.ts';
import { patternOf } from '../docs/transcripts.ts';
import { type Machine, startMachine } from '../hosting/machine.ts';
import { folderForAll } from '../storage/temporary-folder.ts';
import { packedService } from './users-machine.ts';

const ROOT = join(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'docs/self-hosting.md'), 'utf8');

interface Step {
  readonly section: string;
  readonly script: string;
  /** Lines that it prints, in this order, perhaps among others. */
  readonly shown: readonly string[];
}

/** Sections whose commands need what no test has: an engine; settings of a unit in a second file. */
const UNTRIED = ['Docker', 'nginx or Caddy on the folder'];

const steps = page.split(/^## /m).flatMap((part) => {
  const section = part.slice(0, part.indexOf('\n'));
  const blocks = [...part.matchAll(/```(sh|text)\n([\s\S]*?)```/g)];
  return blocks.flatMap(([, kind, script = ''], index): Step[] => {
    if (kind !== 'sh' || UNTRIED.includes(section)) return [];
    const next = blocks[index + 1];
    return [{ section, script, shown: next?.[1] === 'text' ? (next[2] ?? '').trimEnd().split('\n') : [] }];
  });
});

const reason = process.getuid?.() === 0 && process.platform === 'linux' ? null : 'only root may make the machine';
if (reason !== null) console.log(`Skipped: ${reason}`);

test('the page has commands', () => {
  expect(steps.length).toBeGreaterThan(10);
});

describe.skipIf(reason !== null)('docs/self-hosting.md', () => {
  const temporary = folderForAll();
  let machine: Machine;

  beforeAll(async () => {
    const packed = readFileSync((await packedService()).path);
    machine = await startMachine(join(temporary.folder, 'machine'));
    // The next version has other bytes; here it has the same ones.
    for (const version of ['0.1.0', '0.2.0']) machine.write(`/root/tidemark-${version}.tgz`, packed);
    return () => machine.stop();
  });

  it.each(steps)('$section: $script', async ({ section, script, shown }) => {
    // What a later version leaves: its number.
    if (section === 'Going back' && script.includes('ln -sfn')) {
      await machine.run(`echo ${LEDGER_FORMAT + 1} > /var/lib/tidemark/format`);
    }
    // npm needs the registry. Nothing else of its block needs a network.
    const blocks = script.includes('npm install') ? splitAfterInstall(script) : [['own', script] as const];
    let all = '';
    for (const [network, text] of blocks) {
      const { code, output } = await machine.run(text, network);
      all += output;
      expect(code, all).toBe(0);
    }
    const lines = all.split('\n');
    for (const expected of shown) {
      const place = lines.findIndex((line) => patternOf(expected).test(line));
      expect(place, `${JSON.stringify(expected)} is not in:\n${all}`).not.toBe(-1);
      lines.splice(0, place + 1);
    }
  });

  it('leaves the key of the feed to its owner alone, and doctor judges the settings of the service', async () => {
    expect(await machine.run('stat --format %a feed-key')).toEqual({ code: 0, output: '600\n' });
    expect(await machine.run('tidemark doctor')).toMatchObject({ code: 0 });
    const broken = await machine.run('echo PORT=http >> /etc/tidemark/tidemark.env; tidemark doctor');
    expect(broken).toMatchObject({ code: 1, output: expect.stringMatching(/^fault\tconfiguration\t/m) });
  });
});

function splitAfterInstall(script: string): readonly (readonly ['own' | 'outside', string])[] {
  const lines = script.trimEnd().split('\n');
  const last = lines.findLastIndex((line) => line.startsWith('npm install')) + 1;
  return [
    ['outside', lines.slice(0, last).join('\n')],
    ['own', lines.slice(last).join('\n')],
  ];
}
