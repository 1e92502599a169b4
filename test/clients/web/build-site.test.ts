import { execFile } from 'node:child_process';
import { readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { siteEncoding } from '../../../publisher/site.ts';
import { buildSite, SITE_FOLDER, siteFiles } from '../../../tools/build/build-site.ts';

/** Of the scripts of one page. With its data, the page of a market takes less than 90 KB, and that of all markets 60 KB. */
const SCRIPT_MAX_BYTES = 65_000;

/** It says on standard error that it builds. */
async function ensureSite(): Promise<string> {
  return (await promisify(execFile)(process.execPath, [join(SITE_FOLDER, '../../../tools/build/ensure-site.ts')]))
    .stderr;
}

it('the built site is that of the sources, and each build gives the same bytes', async () => {
  const built = await buildSite();
  expect(siteFiles()).toEqual([...built.keys()]);
  for (const [path, text] of built)
    expect(readFileSync(join(SITE_FOLDER, path), siteEncoding(path)) === text, path).toBe(true);
});

it('is built if it is older than a source, also by two processes at once, and then nothing is said or done', async () => {
  const newest = join(SITE_FOLDER, 'index.html');
  const before = siteFiles();
  utimesSync(newest, 0, 0);
  expect((await Promise.all([ensureSite(), ensureSite()])).join('')).not.toBe('');
  const { mtimeMs, ino } = statSync(newest);
  expect(siteFiles()).toEqual(before);
  expect(await ensureSite()).toBe('');
  expect(statSync(newest)).toMatchObject({ mtimeMs, ino });
});

it('each script has less than 65 KB, compressed', () => {
  const scripts = siteFiles().filter((path) => path.endsWith('.js'));
  expect(scripts).not.toEqual([]);
  for (const path of scripts) {
    expect(brotliCompressSync(readFileSync(join(SITE_FOLDER, path))).length, path).toBeLessThan(SCRIPT_MAX_BYTES);
  }
});

it('no page has an inline script or style, and none names another host', () => {
  for (const path of siteFiles().filter((path) => path.endsWith('.html'))) {
    const text = readFileSync(join(SITE_FOLDER, path), 'utf8');
    expect(text, path).not.toMatch(/<script(?![^>]* src="(?:\.\.\/)*assets\/)|<style|<[^>]+ (?:style|on[a-z]+)=/);
    expect(text, path).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)="(?!(?:\/|(?:\.\.\/)*)[a-z]+[/.])/);
  }
});
