/** Answers of a service with other markets than those of the sample, for the page of all markets. */
import { createHash } from 'node:crypto';
import type { Page } from 'playwright-core';

/** A line of the file of newest prices. */
export const entry = (fields: object) => ({
  ...{ slug: 'a', name: 'A market', decimal: '36690.00', decimalPerUnit: '366.9', quantity: 100, unit: 'EUR' },
  ...{ currency: 'HUF', observedAt: '2026-10-01T00:00:00Z', releasedAt: null, updatedAt: null, source: 'A source' },
  ...{ status: 'final', unknownReason: null, recordedAt: null, kind: 'fx', confidence: 'high', disputed: false },
  ...{ retired: false, expectedNextAt: null, graceSeconds: null, rounded: false, sourceValue: null, ...fields },
});

export const shown = (page: Page) => page.locator('#explorer[data-ready=true]').waitFor();
export const rows = (page: Page) => page.locator('tbody tr');
export const slugs = (page: Page): Promise<string[]> =>
  rows(page).evaluateAll((all) => all.map((row) => row.getAttribute('data-slug') ?? ''));

export async function answer(page: Page, file: 'latest' | 'recent', data: readonly object[]): Promise<void> {
  if (file === 'latest') return await answerLatest(page, data);
  await page.route(`**/api/v1/${file}.json`, (route) => route.fulfill({ json: { data } }));
}

/** In two parts, of which the later one has the first markets. */
async function answerLatest(page: Page, data: readonly object[]): Promise<void> {
  const middle = data.length >> 1;
  const texts = [data.slice(middle), data.slice(0, middle)].flatMap((some, part) => {
    const text = some.map((row) => `${JSON.stringify({ ...row, generation: 7 })}\n`).join('');
    return text === '' ? [] : [[`${part}`, text] as const];
  });
  const parts = texts.map(([part, text]) => ({
    part,
    ndjson: { path: `latest/${part}.ndjson`, digest: createHash('sha256').update(text).digest('hex'), generation: 7 },
  }));
  await page.route('**/api/v1/latest.json', (route) => route.fulfill({ json: { data: parts } }));
  for (const [part, body] of texts)
    await page.route(`**/api/v1/latest/${part}.ndjson`, (route) =>
      route.fulfill({ contentType: 'application/x-ndjson', body }),
    );
}
