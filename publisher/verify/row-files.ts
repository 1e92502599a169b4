/**
 * Checks files with one row for each market. By the bodies: the rows must follow from the list. By the log: the files have
 * the list's cadence, so a row may show its market at an earlier revision, if the log had it then, and not too long ago.
 */
import type { Projection } from '../../contract/files/projections.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { bodyText } from './check-file.ts';
import type { CheckContext, CheckedMarket, ProjectionCheck } from './projection-check.ts';
import type { ShownMarket } from './shown-market.ts';

export interface RowFile {
  readonly kind: Projection;
  readonly url: string;
  readonly contentType: string;
  /** If the list is longer, there is no such file. */
  readonly marketsMax: number;
  /** The most rows of the file. Further markets are left out. */
  readonly rowsMax: number;
  /** The rows by slug, as texts. Null, or an error: the file has another form or order. */
  readonly read: (text: string) => ReadonlyMap<string, string> | null;
  readonly rowOf: (market: ShownMarket) => string;
}

export async function checkRowFiles(context: CheckContext, forms: readonly RowFile[]): Promise<ProjectionCheck> {
  return context.log === null ? byList(context, forms) : await byLog(context, context.log, forms);
}

/** Compares with the list. A market whose body differs from its list item is not compared. */
function byList(context: CheckContext, forms: readonly RowFile[]): ProjectionCheck {
  const expected = new Map<string, readonly string[]>();
  return {
    async market({ slug, listed }) {
      const [shown] = listed() ?? [];
      if (shown !== undefined)
        expected.set(
          slug,
          forms.map((form) => form.rowOf(shown)),
        );
    },
    async ofList({ entries }, findings) {
      for (const [index, form] of forms.entries()) {
        if (entries.length > form.marketsMax) continue;
        const rows = await readRows({ ...context, findings }, form);
        if (rows === null) continue;
        const isListed = new Set(entries.map(({ slug }) => slug));
        const isRight = ([slug, row]: readonly [string, string]) =>
          isListed.has(slug) && (expected.get(slug)?.[index] ?? row) === row;
        if (rows.size !== entries.length || ![...rows].every(isRight))
          findings.add(form.url, context.rule, 'differs from the list or the histories');
      }
    },
  };
}

async function byLog(
  context: CheckContext,
  { isKept, listed, lateness }: NonNullable<CheckContext['log']>,
  forms: readonly RowFile[],
): Promise<ProjectionCheck> {
  const { findings } = context;
  const files: { readonly form: RowFile; readonly rows: ReadonlyMap<string, string> }[] = [];
  for (const form of forms) {
    // When the list has become too long, the file stays until the sweep removes it, within the hour. A mirror does not copy
    // it.
    if (isKept && listed > form.marketsMax) continue;
    const rows = await readRows(context, form, listed <= form.marketsMax);
    if (rows !== null) files.push({ form, rows });
  }
  const checked = new Set<string>();
  const check = (
    { slug, shown: current, listed: ofList, past }: CheckedMarket,
    { form, rows }: (typeof files)[number],
  ) => {
    const row = rows.get(slug);
    const isShown = (market: ShownMarket) => row !== undefined && form.rowOf(market) === row;
    const isAll = rows.size < form.rowsMax;
    if (isKept) {
      const states = ofList() ?? [];
      const isRight = row === undefined ? !isAll || states.length === 0 : states.some(isShown);
      if (!isRight) findings.add(form.url, 'not-in-log', `${slug} differs from the list`);
    } else if (row === undefined) {
      if (isAll && current !== null && past?.isLateIfMissing(lateness)) findings.add(form.url, 'time', `lacks ${slug}`);
    } else if (!(current !== null && isShown(current)) && !past?.wasShown(lateness, isShown)) {
      findings.add(form.url, 'not-in-log', `${slug} differs from the log, or is too old`);
    }
  };
  return {
    shown: (slug) => sha256Hex(files.map(({ rows }) => rows.get(slug) ?? '').join('\n')),
    skip: (slug) => checked.add(slug),
    async market(market) {
      checked.add(market.slug);
      for (const file of files) check(market, file);
    },
    async end() {
      for (const { form, rows } of files)
        for (const slug of rows.keys())
          if (!checked.has(slug)) findings.add(form.url, 'not-in-log', `shows ${slug}, which the log lacks`);
    },
  };
}

async function readRows(
  { findings, rule, read }: Pick<CheckContext, 'findings' | 'rule' | 'read'>,
  form: RowFile,
  isDue = true,
): Promise<ReadonlyMap<string, string> | null> {
  const answer = await read(form.kind, form.url, form.contentType, isDue);
  if (answer === null) return null;
  try {
    const rows = form.read(bodyText(answer));
    if (rows !== null) return rows;
  } catch {
    // The text is not JSON, or has no rows.
  }
  findings.add(form.url, rule, 'has another form than rows of markets');
  return null;
}
