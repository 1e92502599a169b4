/** Sends batches. Each is refused or applied as a whole, whatever happens in between. */
import type { Row, SentRows } from '../account.ts';
import { recordsOf } from '../account.ts';
import type { Writer } from './writer.ts';

const BATCHES = '/api/v1/ingest/batches';
const MARKETS_AT_MOST = 3;
const ROWS_AT_MOST = 4;

export async function writeBatches(writer: Writer): Promise<void> {
  const { account, random, stopping } = writer;
  for (; !stopping.aborted; await writer.pause()) {
    const markets = new Set(Array.from({ length: random.int(1, MARKETS_AT_MOST) }, () => random.pick(account.markets)));
    await sendBatch(
      writer,
      [...markets].flatMap((market) => account.nextRows(market, random.int(1, ROWS_AT_MOST))),
    );
  }
}

/** @returns whether it was acknowledged */
export async function sendBatch(writer: Writer, rows: readonly Row[]): Promise<boolean> {
  const { account, trial } = writer;
  const sent: SentRows = { name: `batch ${account.rows.length}`, rows, standing: 'unknown' };
  account.rows.push(sent);
  const answer = await writer.write({
    method: 'POST',
    path: BATCHES,
    body: { records: recordsOf(rows) },
    mayBeLeft: true,
  });
  if (answer === 'left') {
    trial.count('writes left unknown');
    return false;
  }
  if (answer.status !== 202) {
    trial.broken('a good batch is refused', `${answer.status} ${answer.text}`);
    return false;
  }
  sent.standing = 'acknowledged';
  return true;
}
