/**
 * Exports that an operator keeps, so that readers can cite them. The sweep skips a kept export and its files. It is never
 * made again with other rows, and one that the store has lost is made again from the log (remake-kept.ts). The manifest of
 * the newest export names all kept exports.
 */

import type { KeptExport } from '../../../contract/bodies/export-manifest.ts';
import { PUBLIC_PREFIX, publicKey } from '../../../contract/files/public-objects.ts';
import { EXPORT_ROOT } from '../../../contract/files/routes.ts';
import { readAll } from '../../../storage/ports/paging.ts';
import { dateOfExportDay, EXPORT_DAYS, type ExportDayValue, exportDayKey } from '../../../storage/records/exports.ts';
import { HEAD_KEY } from '../../../storage/records/publication.ts';
import type { PublisherStorage } from '../../dependencies.ts';
import { commit } from '../../kernel/change-many.ts';
import type { KeepOutcome, Kept } from '../../kernel/projection.ts';
import { ExportWriter } from './export-files.ts';
import { withKept } from './manifest.ts';

/** @param kept null: the sweep may remove it again */
export async function keepExport(storage: PublisherStorage, date: string, kept: Kept | null): Promise<KeepOutcome> {
  let outcome = 'absent' as KeepOutcome;
  await changeDay(storage, date, (day) => {
    if (day === null) return null;
    outcome = kept === null || day.source ? 'done' : 'of-an-earlier-version';
    const { kept: _, ...made } = day;
    if (kept === null) return made;
    return day.source ? { ...made, kept: { label: kept.label, checkedOn: date } } : null;
  });
  if (outcome === 'done') await nameKept(storage, date);
  return outcome;
}

/** @param change gives the new record from the present one; null: nothing is changed */
export async function changeDay(
  storage: Pick<PublisherStorage, 'ledger' | 'newAttemptId'>,
  date: string,
  change: (day: ExportDayValue | null) => ExportDayValue | null,
): Promise<void> {
  const key = exportDayKey(date);
  for (;;) {
    const day = await storage.ledger.get(key);
    const value = change(day?.value ?? null);
    if (value === null) return;
    const guard = day === null ? ABSENT : ({ kind: 'written-by', attemptId: day.attemptId } as const);
    if (await commit(storage, [{ kind: 'put', key, revision: 0, value, if: guard }])) return;
  }
}

const ABSENT = { kind: 'absent' } as const;

async function keptExports({ ledger }: Pick<PublisherStorage, 'ledger'>): Promise<readonly KeptExport[]> {
  return (await readAll(ledger, EXPORT_DAYS)).flatMap((day) =>
    day.value.kept ? [{ date: dateOfExportDay(day), label: day.value.kept.label }] : [],
  );
}

async function nameKept(storage: PublisherStorage, date: string): Promise<void> {
  const latest = await storage.objects.get(publicKey({ kind: 'export-latest' }));
  const head = await storage.ledger.get(HEAD_KEY);
  // The manifest of the newest export must name the kept ones now.
  if (latest.kind !== 'found' || head === null) return;
  await putLatest(storage, new ExportWriter(storage, date, head.revision), Buffer.from(latest.body).toString('utf8'));
}

/** Puts the manifest of the newest export, with the names of the kept ones. @param text the manifest of its day */
export async function putLatest(storage: PublisherStorage, writer: ExportWriter, text: string): Promise<void> {
  await writer.putHead({ kind: 'export-latest' }, withKept(text, await keptExports(storage)));
}

/** The keys of the files that the manifest of a day names. Null: the store does not have the manifest. */
export async function filesOfDay(
  { objects }: Pick<PublisherStorage, 'objects'>,
  date: string,
): Promise<ReadonlySet<string> | null> {
  const found = await objects.get(publicKey({ kind: 'export-package', date }));
  if (found.kind !== 'found') return null;
  const { resources } = JSON.parse(Buffer.from(found.body).toString('utf8')) as {
    readonly resources: readonly { readonly path: string; readonly schema: string }[];
  };
  return new Set(
    resources.flatMap(({ path, schema }) => [path, schema]).map((path) => PUBLIC_PREFIX + EXPORT_ROOT + path),
  );
}
