/** Checks a file that is made from the list. Rendered again from all items, it must be the same. */
import { LIST_FILE_MARKETS_MAX, MARKETS_PAGE_SIZE } from '../../contract/files/limits.ts';
import { PUBLIC_OBJECTS } from '../../contract/files/public-objects.ts';
import type { Market } from '../../contract/values/market.ts';
import type { ListFile } from '../kernel/list/list-file-form.ts';
import { bodyText } from './check-file.ts';
import type { CheckContext, ProjectionCheck } from './projection-check.ts';

export async function checkListFile<Row, Beside>(
  { rule, read }: CheckContext,
  { kind, url, load }: ListFile<Row, Beside>,
): Promise<ProjectionCheck> {
  const { rowsOf, text, besideIn } = await load();
  const rows: Row[] = [];
  let page: Market[] = [];
  let walked = 0;
  const take = () => {
    rows.push(...rowsOf(page));
    walked += page.length;
    page = [];
  };
  return {
    item(market) {
      page.push(market);
      if (page.length === MARKETS_PAGE_SIZE) take();
    },
    async ofList({ entries }, findings) {
      take();
      // A mirror has not walked the items here, so it checks only the form of the file.
      const isWhole = walked === entries.length;
      if (entries.length > LIST_FILE_MARKETS_MAX) return;
      const answer = await read('feeds', url, PUBLIC_OBJECTS[kind].contentType, isWhole && rows.length > 0);
      if (answer === null) return;
      const found = bodyText(answer);
      const beside = besideIn(found);
      const expected = isWhole && beside !== null ? text(rows, beside) : null;
      if (beside === null || (expected ?? found) !== found)
        findings.add(url, rule, 'shows something else than the list gives');
    },
  };
}
