/** The progress of the copy: an object of the second store that no reader can reach. */
import { COPY_PREFIX } from '../../storage/aws/names.ts';
import type { ETag, ObjectMetadata, ObjectStore } from '../../storage/ports/object-store.ts';
import { ifStill } from '../../storage/ports/objects.ts';
import { Superseded } from '../errors.ts';

const STATE_KEY = `${COPY_PREFIX}state.json`;

export interface CopyState {
  /** The second store shows this generation, or is changing to the next one. 0: no copy was ever complete. */
  readonly generation: number;
  /** Everything is being copied (copy-all.ts). */
  readonly filling?: FillProgress | undefined;
  /** When the daily files were last compared, in milliseconds since the epoch. */
  readonly dailyAtMs: number;
  /**
   * Another round begins only after this moment. This only saves work: the condition of each put makes concurrent rounds
   * safe.
   */
  readonly leaseUntilMs: number;
}

export interface FillProgress {
  readonly generation: number;
  readonly startedAtMs: number;
  /** All keys up to this one are copied. */
  readonly after: string;
}

const NO_COPY: CopyState = { generation: 0, dailyAtMs: 0, leaseUntilMs: 0 };

export class StateFile {
  readonly #second: ObjectStore;
  #state: CopyState;
  #etag: ETag | null;

  private constructor(second: ObjectStore, state: CopyState, etag: ETag | null) {
    this.#second = second;
    this.#state = state;
    this.#etag = etag;
  }

  static async open(second: ObjectStore): Promise<StateFile> {
    const found = await second.get(STATE_KEY);
    return found.kind === 'found'
      ? new StateFile(second, JSON.parse(Buffer.from(found.body).toString('utf8')) as CopyState, found.etag)
      : new StateFile(second, NO_COPY, null);
  }

  get value(): CopyState {
    return this.#state;
  }

  /** @throws Superseded if another round has written the state since it was read */
  async save(change: Partial<CopyState>): Promise<void> {
    const state = { ...this.#state, ...change };
    const body = Buffer.from(JSON.stringify(state));
    const result = await this.#second.put(STATE_KEY, body, INTERNAL, ifStill(this.#etag));
    if (result.kind === 'refused') throw new Superseded('another round copies to the second region');
    this.#state = state;
    this.#etag = result.etag;
  }
}

const INTERNAL: ObjectMetadata = {
  contentType: 'application/json',
  cacheControl: 'no-store',
  cacheTag: null,
  generation: 0,
  nextCursor: null,
};
