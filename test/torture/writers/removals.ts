/** Defines markets, removes them when they are public, and takes their entries out of the log. */
import { marketUrl } from '../../../contract/files/routes.ts';
import { sendBatch } from './batches.ts';
import type { Writer } from './writer.ts';

/** Below the quota of a day. */
const REMOVED_AT_MOST = 60;
const PAUSES = 10;

export async function removeMarkets(writer: Writer): Promise<void> {
  const { account, trial, stopping } = writer;
  for (let count = 0; !stopping.aborted && count < REMOVED_AT_MOST; count++) {
    const slug = `gone-${count}`;
    if (!(await sendBatch(writer, account.nextRows(slug, 2)))) continue;
    if (!(await isShown(writer, slug, 200))) return;
    const removal = { method: 'POST', path: `${marketUrl(slug)}/removal`, body: { reason: 'Its source has ended.' } };
    const answer = await writer.write(removal);
    if (answer === 'left') return;
    if (answer.status !== 200) return trial.broken('a good removal is refused', answer.text);
    account.removed.add(slug);
    if (!(await isShown(writer, slug, 410))) return;
    const takedown = await writer.write({
      method: 'POST',
      path: '/api/v1/takedowns',
      body: { market: slug, reason: 'A court has said so.' },
    });
    if (takedown === 'left') return;
    if (takedown.status !== 202) return trial.broken('a good takedown is refused', takedown.text);
    account.takedowns.add((JSON.parse(takedown.text) as { readonly id: string }).id);
    for (let pause = 0; pause < PAUSES && !stopping.aborted; pause++) await writer.pause();
  }
}

/** Waits until its URL is answered so; false if the load ends before. */
async function isShown(writer: Writer, slug: string, status: number): Promise<boolean> {
  for (;;) {
    const answer = await writer.ask(marketUrl(slug), { headers: { 'cache-control': 'no-cache' } });
    if (answer?.status === status) return true;
    if (writer.stopping.aborted) return false;
    await writer.pause();
  }
}
