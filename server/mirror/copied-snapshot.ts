/** The snapshot of the copy: the generation that it shows. */

import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { type Snapshot, snapshotSchema } from '../../contract/values/market.ts';
import type { MirrorCopy } from './copy.ts';

/** Null: the first round has not ended. */
export async function copiedSnapshot({
  reader,
}: MirrorCopy): Promise<{ readonly value: Snapshot; readonly text: string } | null> {
  const { status, body } = await reader(SNAPSHOT_URL);
  if (status !== 200) return null;
  const text = Buffer.from(body).toString('utf8');
  return { value: snapshotSchema.parse(JSON.parse(text)), text };
}
