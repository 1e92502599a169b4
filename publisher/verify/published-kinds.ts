/**
 * Which kinds of files there are to check. The snapshot names them, but nobody signs it. So a file that answers is checked
 * in any case, and one of a kind that the snapshot does not name is a finding.
 */

import type { Projection } from '../../contract/files/projections.ts';
import type { Snapshot } from '../../contract/values/market.ts';
import type { Findings } from './check-body.ts';
import type { PublicReader } from './reader.ts';

export class PublishedKinds {
  readonly #reader: PublicReader;
  readonly #findings: Findings;
  readonly #isKept: boolean;
  readonly #named: readonly Projection[] | null;
  /** Kinds that the snapshot does not name. One finding of each is enough. */
  readonly #unnamed = new Set<Projection>();

  /**
   * @param snapshot null: it cannot be read, which is a finding of its own
   * @param isKept what is read is kept as a copy: then files that the snapshot does not name are left alone. The service may
   *   just have switched them off
   */
  constructor(reader: PublicReader, findings: Findings, snapshot: Snapshot | null, isKept = false) {
    this.#isKept = isKept;
    this.#reader = reader;
    this.#findings = findings;
    this.#named = snapshot === null ? null : (snapshot.projections ?? []);
  }

  /** Whether the snapshot names the kind, or this file of it answers. */
  async has(kind: Projection, url: string): Promise<boolean> {
    if (this.#named?.includes(kind)) return true;
    if (this.#isKept) return false;
    const { status } = await this.#reader(url);
    if (status !== 200) return false;
    if (this.#named !== null && !this.#unnamed.has(kind))
      this.#findings.add(url, 'status', `answered 200, and the snapshot does not name ${kind}`);
    this.#unnamed.add(kind);
    return true;
  }
}
