/**
 * Checks the audit: its chains, its seals, and the copies of each record. Reads everything since the first seal.
 * docs/decisions/025 states what this proves.
 */
import { type Item, type LedgerReader, MAX_GET_KEYS } from '../../storage/ports/ledger.ts';
import { inBatches, queryPages, readAll, readMany } from '../../storage/ports/paging.ts';
import {
  AUDIT_SEALS,
  type AuditValue,
  auditOfDay,
  auditSealPartsOf,
  type ChainEnds,
  dayOf,
  digestOfAudit,
  placesOfFound,
  type SealValue,
} from '../../storage/records/audit.ts';
import { dayAfter } from './seal-audit.ts';

export interface AuditFinding {
  readonly day: string;
  /** The id of the record, of the first record of the chain, or of the seal's day. */
  readonly id: string;
  readonly fault: 'altered' | 'removed' | 'inserted' | 'seal';
  readonly detail: string;
}

export interface AuditReport {
  readonly records: number;
  readonly chains: number;
  /** The first and last sealed days, and the digest of the last seal. Compare the digest with one that was stored elsewhere. */
  readonly sealed: { readonly from: string; readonly to: string; readonly digest: string } | null;
  readonly findings: readonly AuditFinding[];
}

/** @throws StorageUnavailable if storage fails */
export async function verifyAudit(ledger: LedgerReader, nowMs: number): Promise<AuditReport> {
  const today = dayOf(new Date(nowMs).toISOString());
  const seals = new Map((await readAll(ledger, AUDIT_SEALS)).map(({ sort, value }) => [sort, value]));
  const findings: AuditFinding[] = [];
  let records = 0;
  let chains = 0;
  let newest: SealValue | null = null;
  const last = [...seals.keys()].at(-1) ?? '';
  for (let day = [...seals.keys()][0] ?? dayAfter(today, -1); day <= today; day = dayAfter(day)) {
    const seal = seals.get(day);
    if (seal === undefined && day < last) {
      findings.push({ day, id: day, fault: 'seal', detail: 'the seal of this day is missing' });
    } else if (seal !== undefined && (seal.day !== day || seal.previous !== (newest && digestOfAudit(newest)))) {
      findings.push({ day, id: day, fault: 'seal', detail: 'this seal does not follow the seal before it' });
    }
    newest = seal ?? newest;
    const found = await readDay(ledger, day, findings);
    records += found.records;
    chains += found.chains.size;
    for (const [id, chain] of found.chains) checkChain(day, id, chain, findings);
    if (seal !== undefined) checkSeal(seal, await readEnds(ledger, seal, findings), found.chains, findings);
  }
  const [from] = seals.keys();
  const sealed = newest === null || from === undefined ? null : { from, to: newest.day, digest: digestOfAudit(newest) };
  return { records, chains, sealed, findings };
}

/** A record's places: see `placesOfFound`. */
const COPIES = 3;

/** The parts of a record that the check of its chain needs, in the order of places. */
interface Place {
  readonly id: string;
  readonly place: number;
  readonly previous: string | null;
  readonly digest: string;
}

type Chains = ReadonlyMap<string, readonly Place[]>;

async function readDay(
  ledger: LedgerReader,
  day: string,
  findings: AuditFinding[],
): Promise<{ readonly records: number; readonly chains: Chains }> {
  const chains = new Map<string, Place[]>();
  let records = 0;
  for await (const items of queryPages(ledger, auditOfDay(day))) {
    records += items.length;
    for (const item of items) {
      const { id, at, chain } = item.value;
      if (chain === undefined || id !== item.sort || dayOf(at) !== day) {
        const detail = chain === undefined ? 'it has no place in a chain' : 'it belongs to another place';
        findings.push({ day, id: item.sort, fault: 'inserted', detail });
        continue;
      }
      const place = { id, place: chain.place, previous: chain.previous, digest: digestOfAudit(item.value) };
      const places = chains.get(chain.id);
      if (places === undefined) chains.set(chain.id, [place]);
      else places.push(place);
    }
    for (const some of inBatches(items, Math.floor(MAX_GET_KEYS / COPIES)))
      await checkCopies(ledger, day, some, findings);
  }
  for (const places of chains.values()) places.sort((one, other) => one.place - other.place);
  return { records, chains };
}

/** The copies in the listings by actor and by target. */
async function checkCopies(
  ledger: LedgerReader,
  day: string,
  items: readonly Item<AuditValue>[],
  findings: AuditFinding[],
): Promise<void> {
  const expected = items.flatMap((item) => placesOfFound(item).map((key) => ({ key, value: item.value })));
  const copies = await readMany(
    ledger,
    expected.map(({ key }) => key),
  );
  for (const [index, { key, value }] of expected.entries()) {
    const copy = copies[index]?.value;
    const where = `its copy in ${key.partition}`;
    if (copy === undefined) findings.push({ day, id: value.id, fault: 'removed', detail: `${where} is missing` });
    else if (digestOfAudit(copy) !== digestOfAudit(value)) {
      findings.push({ day, id: value.id, fault: 'altered', detail: `${where} differs` });
    }
  }
}

function checkChain(day: string, id: string, chain: readonly Place[], findings: AuditFinding[]): void {
  let before: Place | null = null;
  for (const place of withoutRivals(day, chain, findings)) {
    const expected: number = (before?.place ?? 0) + 1;
    if (place.place > expected) {
      const missing = place.place - expected;
      const detail = `the ${missing} before it in the chain ${id}, from place ${expected} on, ${missing === 1 ? 'is' : 'are'} missing`;
      findings.push({ day, id: place.id, fault: 'removed', detail });
    } else if (place.previous !== (before?.digest ?? null) || (before === null && place.id !== id)) {
      const detail = `the record after it, ${place.id}, has the digest of another`;
      findings.push({ day, id: before?.id ?? place.id, fault: 'altered', detail });
    }
    before = place;
  }
}

/** If several records have one place, the record stays whose digest the next record contains. */
function withoutRivals(day: string, chain: readonly Place[], findings: AuditFinding[]): readonly Place[] {
  const byPlace = Map.groupBy(chain, ({ place }) => place);
  return [...byPlace].map(([number, rivals]) => {
    const next = new Set(byPlace.get(number + 1)?.map(({ previous }) => previous));
    const genuine = rivals.find(({ digest }) => next.has(digest)) ?? (rivals[0] as Place);
    for (const { id } of rivals) {
      if (id !== genuine.id)
        findings.push({ day, id, fault: 'inserted', detail: `its place is taken by ${genuine.id}` });
    }
    return genuine;
  });
}

/** The ends of chains in the seal and its parts. */
async function readEnds(ledger: LedgerReader, seal: SealValue, findings: AuditFinding[]): Promise<ChainEnds> {
  const { day, parts = [] } = seal;
  const found = parts.length === 0 ? [] : (await readAll(ledger, auditSealPartsOf(day))).map(({ value }) => value);
  const isWhole = parts.every((digest, index) => found[index] && digestOfAudit(found[index]) === digest);
  if (!isWhole) findings.push({ day, id: day, fault: 'seal', detail: 'a part of this seal is missing, or another' });
  const ends: ChainEnds = {};
  for (const part of [...found.slice(0, parts.length), seal]) {
    for (const [id, end] of Object.entries(part.ends)) if (end.records > (ends[id]?.records ?? 0)) ends[id] = end;
  }
  return ends;
}

function checkSeal({ day }: SealValue, ends: ChainEnds, chains: Chains, findings: AuditFinding[]): void {
  for (const [id, { records, digest }] of Object.entries(ends)) {
    const end = chains.get(id)?.at(-1);
    if (end === undefined) {
      findings.push({
        day,
        id,
        fault: 'removed',
        detail: `the chain of ${records} records that begins with it is missing`,
      });
    } else if (end.place < records) {
      const detail = `the chain ${id} had ${records} records and ends with this one, place ${end.place}`;
      findings.push({ day, id: end.id, fault: 'removed', detail });
    } else if (end.place > records) {
      const detail = `the chain ${id} had ${records} records when the day was sealed, and this is place ${end.place}`;
      findings.push({ day, id: end.id, fault: 'inserted', detail });
    } else if (end.digest !== digest) {
      findings.push({ day, id: end.id, fault: 'altered', detail: 'it differs from the seal of its day' });
    }
  }
  for (const [id, chain] of chains) {
    if (Object.hasOwn(ends, id)) continue;
    const detail = `the chain of ${chain.length} records that begins with it is not in the seal of its day`;
    findings.push({ day, id, fault: 'inserted', detail });
  }
}
