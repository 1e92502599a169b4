/** Log lines about work that has ended: one for each batch and each upload. */
import type { Ledger } from '../../storage/ports/ledger.ts';
import { checkpointKey, uploadKey } from '../../storage/records/batches.ts';
import type { Log } from '../service/log.ts';

/** Says how a batch ended. */
export async function logBatch(log: Log['info'], ledger: Pick<Ledger, 'get'>, id: string): Promise<void> {
  const checkpoint = (await ledger.get(checkpointKey(id)))?.value;
  if (checkpoint === undefined) return;
  const { state, accepted, unchanged, refused, markets } = checkpoint;
  log('batch', { id, state, accepted, unchanged, refused, markets: markets.length });
}

/** Says how a large file ended. */
export async function logUpload(log: Log['info'], ledger: Pick<Ledger, 'get'>, id: string): Promise<void> {
  const upload = (await ledger.get(uploadKey(id)))?.value;
  if (upload === undefined) return;
  const { state, accepted, unchanged, refused, partsDone, bytes, stoppedBecause } = upload;
  const reason = stoppedBecause === undefined ? {} : { stoppedBecause };
  log('upload', { id, state, accepted, unchanged, refused, parts: partsDone, bytes, ...reason });
}
