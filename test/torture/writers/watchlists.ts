/** Makes a few watchlists and changes them. After each restart, each must be as it was last acknowledged. */
import type { SentWatchlist, WatchlistState } from '../account.ts';
import type { Writer } from './writer.ts';

const WATCHLISTS = '/api/v1/watchlists';
/** Below the quota of a customer. */
const LISTS = 8;

interface Shown extends WatchlistState {
  readonly id: string;
  readonly revision: number;
}

export async function changeWatchlists(writer: Writer): Promise<void> {
  const { account, random, service, stopping } = writer;
  let life = service.life;
  for (let count = 0; !stopping.aborted; count++, await writer.pause()) {
    if (life !== service.life) {
      life = service.life;
      await checkAll(writer);
    }
    const name = `List ${count}`;
    if (account.watchlists.size < LISTS) await make(writer, { name, markets: [] });
    else await change(writer, random.pick([...account.watchlists.values()]), { name, markets: [] });
  }
  await checkAll(writer);
}

async function make(writer: Writer, shown: WatchlistState): Promise<void> {
  const answer = await writer.write({
    method: 'POST',
    path: WATCHLISTS,
    body: shown,
    isThere: async () => {
      const listed = await writer.read(WATCHLISTS);
      if (listed === null) return null;
      return (JSON.parse(listed.text) as { data: Shown[] }).data.some(({ name }) => name === shown.name);
    },
  });
  if (answer === 'left') return;
  if (answer.status !== 201) return writer.trial.broken('a good watchlist is refused', answer.text);
  const { id, revision } = JSON.parse(answer.text) as Shown;
  writer.account.watchlists.set(id, { id, shown, revision });
}

async function change(writer: Writer, { id, revision }: SentWatchlist, shown: WatchlistState): Promise<void> {
  const path = `${WATCHLISTS}/${id}`;
  const answer = await writer.write({
    method: 'PUT',
    path,
    body: shown,
    headers: { 'if-match': `"${revision}"` },
    isThere: async () => {
      const read = await writer.read(path);
      return read === null ? null : (JSON.parse(read.text) as Shown).name === shown.name;
    },
  });
  if (answer === 'left') return;
  if (answer.status !== 200) return writer.trial.broken('a good change is refused', `${path}: ${answer.text}`);
  writer.account.watchlists.set(id, { id, shown, revision: (JSON.parse(answer.text) as Shown).revision });
}

async function checkAll(writer: Writer): Promise<void> {
  const { account, trial } = writer;
  for (const { id, shown, revision } of account.watchlists.values()) {
    const answer = await writer.read(`${WATCHLISTS}/${id}`);
    if (answer === null) return;
    trial.count('read back');
    const found = answer.status === 200 ? (JSON.parse(answer.text) as Shown) : null;
    if (found?.name === shown.name && found.revision === revision) continue;
    trial.broken('an acknowledged write is lost', `watchlist ${id} is no longer ${shown.name}: ${answer.text}`);
  }
}
