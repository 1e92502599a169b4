/**
 * Tells those who wait for it in which generation what they wrote became public, and purges caches for those who asked.
 *
 * Safety: who waits is read before the dirty marks are, so that what they marked is in the generation that is answered,
 * or was in an earlier one. That generation must still be the newest when the answer is written: where a rival has
 * taken the marks away from under a publisher that finds nothing to do, the answer is the rival's to give. An answer is put
 * only if there is none, in one transaction with the end of the waiting, so it stays, whoever else tries.
 *
 * Who asked for everything has set a mark of its own, and is not spoken for while that is left in place.
 */

import { type Change, type Item, type Ledger, MAX_GET_KEYS, MAX_TRANSACT_CHANGES } from '../storage/ledger.ts';
import { readAll } from '../storage/paging.ts';
import {
  AWAITING_GENERATION,
  awaitingGenerationKey,
  type GenerationOfValue,
  generationOfKey,
  HEAD_KEY,
  type PublicationValue,
  publicationKey,
} from '../storage/records/publication.ts';
import type { PublisherDependencies } from './dependencies.ts';
import type { PurgeTargets } from './purge.ts';

/**
 * Whom an answer speaks for: `marked-markets` where the mark of everything was found and left in place; `nobody` where
 * marks of markets were left, which may be anybody's.
 */
export type Coverage = 'nobody' | 'marked-markets' | 'everything';

const PUBLICATION_PREFIX = 'publication/';

/** Beside the check of HEAD, each takes two changes: its answer, and the end of its waiting. */
const ANSWERS_AT_ONCE = Math.floor((MAX_TRANSACT_CHANGES - 1) / 2);

/** Who waits now. To be read before the marks. */
export async function readAwaiting(ledger: Ledger): Promise<readonly Item[]> {
  return await readAll(ledger, AWAITING_GENERATION);
}

/**
 * Answers those that are covered with a generation that is applied. A publication that asked for a purge is answered after
 * the purge: dying in between repeats it. Rejects with what the purge rejects with; whoever was not answered goes on waiting.
 */
export async function answerAwaiting(
  dependencies: PublisherDependencies,
  awaiting: readonly Item[],
  { generation, publishedAt }: GenerationOfValue,
  coverage: Coverage,
): Promise<void> {
  if (coverage === 'nobody') return;
  const answer = { generation, publishedAt };
  const isPublication = ({ sort }: Item) => sort.startsWith(PUBLICATION_PREFIX);
  await answerAll(
    dependencies,
    awaiting.filter((item) => !isPublication(item)),
    answer,
  );
  const asked = await readPublications(dependencies.ledger, awaiting.filter(isPublication));
  const covered = asked.filter(({ publication }) => coverage === 'everything' || publication?.markets !== null);
  const targets = purgeTargets(covered);
  if (targets !== null) await dependencies.caches.purge(targets);
  await answerAll(
    dependencies,
    covered.map(({ item }) => item),
    answer,
  );
}

interface Asked {
  readonly item: Item;
  /** Undefined for one that nobody knows. */
  readonly publication: PublicationValue | undefined;
}

async function readPublications(ledger: Ledger, awaiting: readonly Item[]): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (let start = 0; start < awaiting.length; start += MAX_GET_KEYS) {
    const items = awaiting.slice(start, start + MAX_GET_KEYS);
    const found = await ledger.getMany(items.map(({ sort }) => publicationKey(sort.slice(PUBLICATION_PREFIX.length))));
    asked.push(
      ...items.map((item, index) => ({ item, publication: found[index]?.value as PublicationValue | undefined })),
    );
  }
  return asked;
}

/** What they ask to be purged, all at once; null for nothing. */
function purgeTargets(asked: readonly Asked[]): PurgeTargets | null {
  const tags = new Set<string>();
  for (const { publication } of asked) {
    if (!publication?.purge) continue;
    if (publication.markets === null) return 'everything';
    for (const tag of [...publication.markets, 'markets', 'snapshot']) tags.add(tag);
  }
  return tags.size === 0 ? null : { tags: [...tags].sort() };
}

async function answerAll(
  { ledger, newAttemptId }: PublisherDependencies,
  awaiting: readonly Item[],
  answer: GenerationOfValue,
): Promise<void> {
  const revision = answer.generation;
  const isNewest: Change = { kind: 'check', key: HEAD_KEY, if: { kind: 'revision-is', revision } };
  for (let start = 0; start < awaiting.length; start += ANSWERS_AT_ONCE) {
    let waiting = awaiting.slice(start, start + ANSWERS_AT_ONCE);
    const answered = new Set<Item>();
    while (waiting.length > 0) {
      const steps = waiting.flatMap((item) => stepsOf(item, answered.has(item) ? null : answer));
      const changes = [isNewest, ...steps.map(({ change }) => change)];
      const result = await ledger.transact(changes, { attemptId: newAttemptId() });
      if (result.committed) break;
      for (const { index } of result.refusals) {
        const refused = steps[index - 1];
        if (refused === undefined) return;
        // An answer that is there stays, and the waiting ends; who waits anew, or no more, is not waited for here.
        if (refused.change.kind === 'put') answered.add(refused.item);
        else waiting = waiting.filter((item) => item !== refused.item);
      }
    }
  }
}

function stepsOf(item: Item, answer: GenerationOfValue | null): readonly { item: Item; change: Change }[] {
  const { sort, attemptId } = item;
  const end: Change = { kind: 'delete', key: awaitingGenerationKey(sort), if: { kind: 'written-by', attemptId } };
  if (answer === null) return [{ item, change: end }];
  const key = generationOfKey(sort);
  const put: Change = { kind: 'put', key, revision: answer.generation, value: answer, if: { kind: 'absent' } };
  return [
    { item, change: put },
    { item, change: end },
  ];
}
