/**
 * Keeps what an edition needs while its bodies are being copied. Copy on write: before a generation may replace the
 * newest page of a history, that page is copied into the open edition. So the edition shows exactly its generation, and
 * publishing goes on meanwhile.
 *
 * Safety: a head carries the generation that wrote it. A head of the edition's generation or an earlier one is the
 * edition's body. A head of a later one was put by a publisher that has copied the earlier one first, because the swap
 * of HEAD checks that no edition was opened since its plan began. Pages need no copy: they are immutable, and the sweep
 * keeps those of editions.
 */
import { cursorGeneration, isCursorOf } from '../../contract/cursors.ts';
import type { PublicObjectName } from '../../contract/public-object-names.ts';
import { publicKey } from '../../contract/public-objects.ts';
import { replaced } from '../../storage/changes.ts';
import type { Change, Item } from '../../storage/ledger.ts';
import { readPage } from '../../storage/paging.ts';
import {
  DUE_EDITIONS,
  editionKey,
  endedEditionKey,
  nameOfWaiting,
  OPEN_EDITION_KEY,
  type OpenEditionValue,
} from '../../storage/records/editions.ts';
import type { PublishedHeads } from '../../storage/records/publication.ts';
import { idOfDueTakedown } from '../../storage/records/takedowns.ts';
import { sha256Hex } from '../../storage/sha256.ts';
import type { PublisherStorage } from '../dependencies.ts';
import { Superseded } from '../errors.ts';
import { publicMetadata } from '../kernel/put-immutable.ts';

/** A published head, and its copy in the edition. */
interface Copy {
  readonly from: PublicObjectName;
  readonly to: PublicObjectName;
  /** SHA-256 of the published body as the ledger knows it, in hex. Null: not known. */
  readonly digest: string | null;
}

/** The open edition, if there is one, as it was read before planning. */
export class EditionKeeper {
  readonly #storage: PublisherStorage;
  #open: Item<OpenEditionValue> | null;
  #failing: Promise<void> | null = null;
  /** The edition that is opened next; null if no edition waits. */
  readonly waiting: Item<unknown> | null;
  /** The id of a takedown that is due. It waits in the same partition. */
  readonly takedown: string | null;

  constructor(storage: PublisherStorage, due: readonly Item<OpenEditionValue | null>[]) {
    this.#storage = storage;
    this.#open = due.find(isOpen) ?? null;
    this.waiting = due.find((item) => nameOfWaiting(item) !== null) ?? null;
    this.takedown = due.map(idOfDueTakedown).find((id) => id !== null) ?? null;
  }

  /** Costs one request. */
  static async read(storage: PublisherStorage): Promise<EditionKeeper> {
    return new EditionKeeper(storage, (await readPage(storage.ledger, DUE_EDITIONS, { limit: 3 })).items);
  }

  /** Whether an edition is open, or waits. */
  get isDue(): boolean {
    return this.#open !== null || this.waiting !== null;
  }

  get open(): Item<OpenEditionValue> | null {
    return this.#open;
  }

  /** For the swap of HEAD: no edition was opened since this one, or none, was read. */
  get check(): Change {
    const condition = this.#open === null ? ABSENT : ({ kind: 'revision-is', revision: this.#open.revision } as const);
    return { kind: 'check', key: OPEN_EDITION_KEY, if: condition };
  }

  /**
   * To be called before each plan, and before the copying: the next list replaces the first page. Does nothing once that
   * page is done.
   */
  async keepList(): Promise<void> {
    if (this.#open === null || this.#open.value.next?.cursor !== null) return;
    const { name, listDigest } = this.#open.value;
    await this.copy({ from: { kind: 'market-list' }, to: { kind: 'edition-list', edition: name }, digest: listDigest });
  }

  /** To be called before a generation may replace the market's bodies. @param published as the ledger knows them */
  async keep(slug: string, published: PublishedHeads | null): Promise<void> {
    if (this.#open === null || published === null || published.isRemoved || published.joined > this.#open.revision)
      return;
    await this.copyHistory(slug, published.historyDigest);
  }

  /** @param digest of the newest page of the history as the ledger knows it; null if it may be of a later generation */
  async copyHistory(slug: string, digest: string | null): Promise<void> {
    if (this.#open === null) return;
    const edition = this.#open.value.name;
    await this.copy({ from: { kind: 'history', slug }, to: { kind: 'edition-history', edition, slug }, digest });
  }

  private async copy({ from, to, digest }: Copy): Promise<void> {
    if (this.#open === null) return;
    const { revision: generation } = this.#open;
    const { objects } = this.#storage;
    const found = await objects.get(publicKey(from));
    if (found.kind === 'found' && found.metadata.generation <= generation) {
      const isDamaged = digest !== null && sha256Hex(found.body) !== digest;
      if (isDamaged) return await this.fail(`${publicKey(from)} does not hold what the ledger says`);
      return await this.put(to, found.body, found.metadata.nextCursor);
    }
    if ((await objects.stat(publicKey(to))) === null)
      await this.fail(`${publicKey(from)} was lost before it was copied`);
  }

  /** Puts a body of the edition, unless it is there. Nothing replaces it. */
  async put(name: PublicObjectName, body: Uint8Array, nextCursor: string | null): Promise<void> {
    if (this.#open === null) return;
    const { objects } = this.#storage;
    const metadata = publicMetadata(name, this.#open.revision, nextCursor);
    if ((await objects.put(publicKey(name), body, metadata, ABSENT)).kind === 'stored') return;
    const present = await objects.get(publicKey(name));
    const isSame = present.kind === 'found' && Buffer.compare(present.body, body) === 0;
    if (!isSame) await this.fail(`${publicKey(name)} holds other bytes than its generation`);
  }

  /** A page of the edition's list after the first; null, after the edition has failed, if it is lost or damaged. */
  async readPage(cursor: string): Promise<Buffer | null> {
    const key = publicKey({ kind: 'market-list-page', cursor });
    const found = await this.#storage.objects.get(key);
    if (found.kind === 'found' && isCursorOf(cursor, sha256Hex(found.body))) return Buffer.from(found.body);
    await this.fail(`${key}, of generation ${cursorGeneration(cursor)}, is lost or damaged`);
    return null;
  }

  /** Gives the edition up. Publishing goes on without it. @throws Superseded if another publisher has gone on with it */
  async fail(failure: string): Promise<void> {
    this.#failing ??= this.giveUp(failure);
    await this.#failing;
  }

  private async giveUp(failure: string): Promise<void> {
    if (this.#open === null) return;
    const { name } = this.#open.value;
    const edition = await this.#storage.ledger.get(editionKey(name));
    const isCopying = edition?.value.state === 'copying';
    await this.close([
      ...(isCopying ? [replaced(edition, { ...edition.value, state: 'failed', failure, layout: null })] : []),
      ...(isCopying ? [ended(name)] : []),
    ]);
  }

  /** Ends the copying, with these changes. @throws Superseded */
  async close(changes: readonly Change[]): Promise<void> {
    await this.transact([{ kind: 'delete', key: OPEN_EDITION_KEY, if: this.written }, ...changes]);
    this.#open = null;
  }

  /** Remembers how far the copying has come. @throws Superseded */
  async proceedTo(next: OpenEditionValue['next']): Promise<void> {
    if (this.#open === null) return;
    const { revision, value } = this.#open;
    const moved = { ...value, next };
    const attemptId = await this.transact([
      { kind: 'put', key: OPEN_EDITION_KEY, revision, value: moved, if: this.written },
    ]);
    this.#open = { ...this.#open, attemptId, value: moved };
  }

  private get written() {
    return { kind: 'written-by', attemptId: this.#open?.attemptId ?? '' } as const;
  }

  private async transact(changes: readonly Change[]): Promise<string> {
    const attemptId = this.#storage.newAttemptId();
    const { committed } = await this.#storage.ledger.transact(changes, { attemptId });
    if (!committed) throw new Superseded('another publisher, or an operator, has changed the open edition');
    return attemptId;
  }
}

function isOpen(item: Item<OpenEditionValue | null>): item is Item<OpenEditionValue> {
  return item.value !== null;
}

const ABSENT = { kind: 'absent' } as const;

/** The sweep removes the bodies of the edition. */
function ended(name: string): Change {
  return { kind: 'put', key: endedEditionKey(name), revision: 0, value: null, if: { kind: 'any' } };
}
