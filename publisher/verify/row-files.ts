/**
 * Checks files with one row for each market. By the bodies: the rows must follow from the list. By the log: the files have
 * the list's cadence, so a row may show its market at an earlier revision, if the log had it then, and not too long ago.
 *
 * Rows are compared by digests, and read once: those of all markets would not fit in memory.
 */
import type { Projection } from '../../contract/files/projections.ts';
import { sha256Hex } from '../../storage/ports/sha256.ts';
import { bodyText } from './check-file.ts';
import type { CheckContext, CheckedMarket, ProjectionCheck } from './projection-check.ts';
import type { ShownMarket } from './shown-market.ts';

export interface RowFiles {
  /** Of a longer list there are no such files. */
  readonly marketsMax: number;
  /** Rows that there are at most. The others are left out. */
  readonly rowsMax: number;
  /** The row of a market in each format. */
  readonly rowOf: readonly ((market: ShownMarket) => string)[];
  /** Reads the files of each format. Null: they are not there, or have a finding. */
  readonly read: (context: RowContext, isDue: boolean) => Promise<readonly (ReadRows | null)[]>;
}

export type RowContext = Pick<CheckContext, 'findings' | 'rule' | 'read' | 'log' | 'snapshot'>;

export interface ReadRows {
  /** Of each row, by slug: see {@link digestOfRow}. */
  readonly rows: ReadonlyMap<string, string>;
  /** Where the row of a market is, or should be. Null: that file could not be read. */
  readonly urlOf: (slug: string) => string | null;
}

export interface RowFile extends Pick<RowFiles, 'marketsMax' | 'rowsMax'> {
  readonly kind: Projection;
  readonly url: string;
  readonly contentType: string;
  /** The rows by slug, as texts. Null, or an error: the file has another form or order. */
  readonly rowsIn: (text: string) => ReadonlyMap<string, string> | null;
  readonly rowOf: (market: ShownMarket) => string;
}

/** One file for all markets. */
export function oneFile(form: RowFile): RowFiles {
  const { marketsMax, rowsMax, rowOf, kind, url, contentType, rowsIn } = form;
  return {
    ...{ marketsMax, rowsMax, rowOf: [rowOf] },
    async read(context, isDue) {
      const answer = await context.read(kind, url, contentType, isDue);
      const rows = answer && digestsIn(context, url, bodyText(answer), rowsIn);
      return [rows && { rows, urlOf: () => url }];
    },
  };
}

/** Null: the text has another form, which is a finding. */
export function digestsIn(
  { findings, rule }: Pick<RowContext, 'findings' | 'rule'>,
  url: string,
  text: string,
  rowsIn: RowFile['rowsIn'],
): ReadonlyMap<string, string> | null {
  try {
    const rows = rowsIn(text);
    if (rows !== null) return new Map([...rows].map(([slug, row]) => [slug, digestOfRow(row)]));
  } catch {
    // Not JSON, or something else than rows.
  }
  findings.add(url, rule, 'has another form than rows of markets');
  return null;
}

const DIGEST_LENGTH = 32;

function digestOfRow(row: string): string {
  return copied(sha256Hex(row).slice(0, DIGEST_LENGTH));
}

/** A slice of a text keeps the whole text in memory; its copy does not. */
export function copied(slice: string): string {
  return Buffer.from(slice).toString();
}

export async function checkRowFiles(context: CheckContext, forms: readonly RowFiles[]): Promise<ProjectionCheck> {
  return context.log === null ? byList(context, forms) : await byLog(context, context.log, forms);
}

/** Compares with the list. A market whose body differs from its list item is not compared. */
function byList(context: CheckContext, forms: readonly RowFiles[]): ProjectionCheck {
  const expected = new Map<string, readonly (readonly string[])[]>();
  return {
    async market({ slug, listed }) {
      const [shown] = listed() ?? [];
      if (shown === undefined) return;
      const digests = forms.map(({ rowOf }) => rowOf.map((row) => digestOfRow(row(shown))));
      expected.set(slug, digests);
    },
    async ofList({ entries }, findings) {
      const listed = new Set(entries.map(({ slug }) => slug));
      for (const [index, form] of forms.entries()) {
        if (entries.length > form.marketsMax) continue;
        for (const [format, read] of (await form.read({ ...context, findings }, true)).entries()) {
          if (read === null) continue;
          const isRight = (slug: string) => {
            const row = read.rows.get(slug);
            return row !== undefined && listed.has(slug) && (expected.get(slug)?.[index]?.[format] ?? row) === row;
          };
          const wrong = [...new Set([...listed, ...read.rows.keys()])].filter((slug) => !isRight(slug));
          for (const url of new Set(wrong.map(read.urlOf)))
            if (url !== null) findings.add(url, context.rule, 'differs from the list or the histories');
        }
      }
    },
  };
}

async function byLog(
  context: CheckContext,
  { isKept, listed, lateness }: NonNullable<CheckContext['log']>,
  forms: readonly RowFiles[],
): Promise<ProjectionCheck> {
  const { findings } = context;
  const files: { readonly rowOf: RowFile['rowOf']; readonly rowsMax: number; readonly read: ReadRows }[] = [];
  for (const form of forms) {
    // When the list has become too long, the file stays until the sweep removes it, within the hour. A mirror does not copy
    // it.
    if (isKept && listed > form.marketsMax) continue;
    for (const [format, read] of (await form.read(context, listed <= form.marketsMax)).entries()) {
      const rowOf = form.rowOf[format];
      if (read !== null && rowOf !== undefined) files.push({ rowOf, rowsMax: form.rowsMax, read });
    }
  }
  const checked = new Set<string>();
  const check = (
    { slug, shown: current, listed: ofList, past }: CheckedMarket,
    { rowOf, rowsMax, read: { rows, urlOf } }: (typeof files)[number],
  ) => {
    const url = urlOf(slug);
    if (url === null) return;
    const row = rows.get(slug);
    const isShown = (market: ShownMarket) => row !== undefined && digestOfRow(rowOf(market)) === row;
    const isAll = rows.size < rowsMax;
    if (isKept) {
      const states = ofList() ?? [];
      const isRight = row === undefined ? !isAll || states.length === 0 : states.some(isShown);
      if (!isRight) findings.add(url, 'not-in-log', `${slug} differs from the list`);
    } else if (row === undefined) {
      if (isAll && current !== null && past?.isLateIfMissing(lateness)) findings.add(url, 'time', `lacks ${slug}`);
    } else if (!(current !== null && isShown(current)) && !past?.wasShown(lateness, isShown)) {
      findings.add(url, 'not-in-log', `${slug} differs from the log, or is too old`);
    }
  };
  return {
    shown: (slug) => files.map(({ read }) => read.rows.get(slug) ?? '').join(' '),
    skip: (slug) => checked.add(slug),
    async market(market) {
      checked.add(market.slug);
      for (const file of files) check(market, file);
    },
    async end() {
      for (const { read } of files)
        for (const slug of read.rows.keys())
          if (!checked.has(slug))
            findings.add(read.urlOf(slug) as string, 'not-in-log', `shows ${slug}, which the log lacks`);
    },
  };
}
