/** Sends files: announced, put, and put again until one answer says that the file is there. */
import { createHash } from 'node:crypto';
import type { SentRows } from '../account.ts';
import { recordsOf } from '../account.ts';
import type { Writer } from './writer.ts';

const UPLOADS = '/api/v1/ingest/uploads';
const ROWS = 12;
/** Files cost more than batches. */
const PAUSES = 12;
/** So that a long run stays below the quota of a day. */
const FILES_AT_MOST = 200;

interface Announced {
  readonly id: string;
  readonly put: { readonly url: string; readonly headers: Readonly<Record<string, string>> } | null;
}

export async function sendUploads(writer: Writer): Promise<void> {
  const { account, stopping } = writer;
  for (let count = 0; !stopping.aborted && count < FILES_AT_MOST; count++) {
    const market = `file-${count % 5}`;
    const sent: SentRows = { name: `upload ${count}`, rows: account.nextRows(market, ROWS), standing: 'unknown' };
    account.rows.push(sent);
    await sendFile(writer, sent);
    for (let pause = 0; pause < PAUSES && !stopping.aborted; pause++) await writer.pause();
  }
}

async function sendFile(writer: Writer, sent: SentRows): Promise<void> {
  const { account, trial } = writer;
  const records = recordsOf(sent.rows);
  const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const body = { sha256, bytes: bytes.length, records: records.length };
  const announced = await writer.write({ method: 'POST', path: UPLOADS, body });
  if (announced === 'left') return;
  if (announced.status !== 201) return trial.broken('a good upload is refused', announced.text);
  const { id } = JSON.parse(announced.text) as Announced;
  for (let tries = 0; ; tries++) {
    const read = await writer.read(`${UPLOADS}/${id}`);
    if (read === null) return;
    if (read.status !== 200) return trial.broken('an acknowledged write is lost', `upload ${id}: ${read.text}`);
    const { put } = JSON.parse(read.text) as Announced;
    // An earlier try has brought it, and its answer was lost.
    if (put === null) break;
    const url = new URL(put.url, `http://127.0.0.1:${writer.service.port()}${UPLOADS}`);
    const answer = await writer.ask(`${url.pathname}${url.search}`, {
      method: 'PUT',
      headers: put.headers,
      body: bytes,
    });
    if (answer?.status === 200 || answer?.status === 204) break;
    // 409: a connection that was cut off still seems to send it. 412: an earlier try has brought it.
    if (answer !== null && ![503, 409, 412].includes(answer.status)) {
      return trial.broken('a good file is refused', `${answer.status} ${answer.text}`);
    }
    trial.count(answer === null ? 'writes cut off' : `writes answered ${answer.status}`);
    await writer.pause();
    // A full disk may last until the scenario ends.
    if (writer.stopping.aborted && tries > 200) return;
  }
  trial.count('files acknowledged');
  account.uploads.set(id, records.length);
  sent.standing = 'acknowledged';
}
