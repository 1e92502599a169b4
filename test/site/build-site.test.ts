import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { buildSite, SITE_FOLDER, siteFiles } from '../../scripts/build-site.ts';

/** Of the scripts of one page. */
const SCRIPT_MAX_BYTES = 100_000;

it('the built site is that of the sources: if not, `npm run build:site` builds it', async () => {
  const built = await buildSite();
  expect(siteFiles()).toEqual([...built.keys()]);
  for (const [path, text] of built) expect(readFileSync(join(SITE_FOLDER, path), 'utf8') === text, path).toBe(true);
});

it('each script has less than 100 KB, compressed', () => {
  const scripts = siteFiles().filter((path) => path.endsWith('.js'));
  expect(scripts).not.toEqual([]);
  for (const path of scripts) {
    expect(brotliCompressSync(readFileSync(join(SITE_FOLDER, path))).length, path).toBeLessThan(SCRIPT_MAX_BYTES);
  }
});

it('no page has an inline script or style, and none names another host', () => {
  for (const path of siteFiles().filter((path) => path.endsWith('.html'))) {
    const text = readFileSync(join(SITE_FOLDER, path), 'utf8');
    expect(text, path).not.toMatch(/<script(?![^>]* src="\/assets\/)|<style|<[^>]+ (?:style|on[a-z]+)=/);
    expect(text, path).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)="(?!\/)/);
  }
});
