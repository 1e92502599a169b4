/** What one round of a mirror works with. */
import type { PageSizes } from '../../publisher/dependencies.ts';
import type { PublicReader } from '../../publisher/verify/reader.ts';
import type { Runtime } from '../../storage/aws/runtime.ts';
import type { MirrorCopy } from './copy.ts';
import type { KnownMarkets } from './known-markets.ts';
import type { MirrorLog } from './mirror-log.ts';
import type { MirrorProgress } from './step-progress.ts';

/** The state of a round before it asks whether the service publishes files of histories. */
export type ListWorld = Omit<MirrorWorld, 'hasFiles'>;

export interface MirrorWorld extends Pick<Runtime, 'nowMs' | 'pause'> {
  /** The service that is mirrored. */
  readonly upstream: PublicReader;
  readonly copy: MirrorCopy;
  readonly pageSizes: PageSizes;
  /** Null: the service has no log. */
  readonly log: MirrorLog | null;
  readonly known: KnownMarkets;
  readonly progress: MirrorProgress;
  /** Markets with a gap in their copied history: taken over again, also if they did not change. */
  readonly broken: ReadonlySet<string>;
  /** Whether the service publishes the files of histories. */
  readonly hasFiles: boolean;
  /** Digests of a page and its files, by slug: of markets whose files differed from their pages when last read. */
  readonly doubts: Map<string, string>;
  /** Of the snapshot that this round has read. */
  readonly generation: number;
}
