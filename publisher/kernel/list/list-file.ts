/**
 * A projection of one file that is made from the list. Each such projection defines the rows of a market and their format;
 * planning, checking and sweeping are shared. The file exists while the list has at most {@link LIST_FILE_MARKETS_MAX}
 * markets.
 */
import { LIST_FILE_MARKETS_MAX } from '../../../contract/files/limits.ts';
import type { PublicObjectName } from '../../../contract/files/public-objects.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Market } from '../../../contract/values/market.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { addFileIfChanged } from '../files/add-file.ts';
import { NO_PLAN, type PlanContext, type ProjectionPlan, type Projector } from '../projection.ts';
import type { ListFile } from './list-file-form.ts';

/**
 * SHA-256, in hex: `beside` of the facts that the list does not have, `digest` of the file. Without `digest`, there is no
 * file.
 */
interface State {
  readonly beside: string;
  readonly digest?: string;
}

const isThere = (state: Json | undefined): boolean => (state as State | undefined)?.digest !== undefined;

export function listFile<Row, Beside>(file: ListFile<Row, Beside>): Projector {
  const { kind, checkByLog } = file;
  return {
    name: kind,
    kinds: [kind],
    plan: async (context) =>
      context.dependencies.projections?.has('feeds') === true ? await planListFile(context, file) : NO_PLAN,
    check: async (context) =>
      context.log !== null && checkByLog !== undefined
        ? await checkByLog(context)
        : (await import('../../verify/check-list-file.ts')).checkListFile(context, file),
    ...(checkByLog && { isInLog: true }),
    reachable: {
      unreachable: async (_storage, objects, state) => (isThere(state) ? [] : objects.map(({ key }) => key)),
      async *published(_storage, state): AsyncGenerator<PublicObjectName> {
        if (isThere(state)) yield { kind };
      },
    },
  };
}

async function planListFile<Row, Beside>(
  context: PlanContext,
  { kind, load }: ListFile<Row, Beside>,
): Promise<ProjectionPlan> {
  const { before, isBehind, dependencies } = context;
  const known = context.state as State | undefined;
  const { rowsOf, text, beside: readBeside } = await load();
  const read = await readBeside(dependencies);
  const beside = sha256Hex(canonicalJson(read as Json));
  const isWanted = (markets: number) => markets <= LIST_FILE_MARKETS_MAX;
  const isRight = isWanted(before?.list.markets ?? 0) ? known?.beside === beside : known === undefined;
  let isRead = false;
  let isPlanned = false;
  let state = known;
  return {
    needsList: isBehind || !isRight,
    ofPage(markets) {
      isRead = isWanted(markets);
      return isRead ? (body) => rowsOf((JSON.parse(body) as { readonly data: readonly Market[] }).data) : null;
    },
    async list({ entries }) {
      isPlanned = true;
      const shown = isRead ? text(entries as readonly Row[], read) : null;
      const digest = shown === null ? null : await addFileIfChanged(context, { kind }, shown, known?.digest);
      state = isRead ? { beside, ...(digest !== null && { digest }) } : undefined;
    },
    finish: async () => ({ state: state && { ...state }, isCurrent: isPlanned || !isBehind }),
  };
}
