/** Version and changelog agree, and the scripts that documents name exist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { LEDGER_FORMAT } from '../../storage/records/formats.ts';

const ROOT = join(import.meta.dirname, '../..');
const textOf = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const manifest = JSON.parse(textOf('package.json')) as {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
};

describe('CHANGELOG.md', () => {
  const versions = [...textOf('CHANGELOG.md').matchAll(/^## (.*)$/gm)].map(([, heading = '']) => heading);

  it('begins with the version of package.json and of the lock file', () => {
    const { version } = JSON.parse(textOf('package-lock.json')) as { readonly version: string };
    expect([version, versions[0]?.startsWith(`[${manifest.version}] - `)]).toEqual([manifest.version, true]);
  });

  it('gives each version a date, but for the newest, which may be unreleased', () => {
    expect(versions[0]).toMatch(/^\[\d+\.\d+\.\d+\] - (unreleased|\d{4}-\d\d-\d\d)$/);
    expect(versions.slice(1).filter((heading) => !/^\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d$/.test(heading))).toEqual([]);
  });

  it('names the format that the newest version writes', () => {
    const [, newest = ''] = textOf('CHANGELOG.md').split(/^## .*$/m);
    expect(newest).toContain(`Formats: ledger and data folder ${LEDGER_FORMAT}.`);
  });
});

test.each(['README.md', 'CONTRIBUTING.md', 'docs/releasing.md', 'docs/testing.md'])(
  '%s names only scripts that exist',
  (file) => {
    const named = [...textOf(file).matchAll(/npm run (?:--\w+ )*([a-z][a-z:-]*)/g)].map(([, name = '']) => name);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !(name in manifest.scripts))).toEqual([]);
  },
);

test('every script installs what it needs, as a fresh clone has nothing', () => {
  const unprepared = Object.keys(manifest.scripts).filter(
    (name) => !name.startsWith('pre') && !manifest.scripts[`pre${name}`]?.startsWith('node tools/install.mjs'),
  );
  expect(unprepared).toEqual([]);
});
