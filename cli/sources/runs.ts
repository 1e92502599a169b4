/** Runs a source, shows its runs, and replays one. */
import type { Upload } from '../../contract/ingest/ingest-uploads.ts';
import type { SourceRun } from '../../contract/operations/sources.ts';
import type { Client } from '../http/client.ts';
import { poll } from '../http/poll.ts';
import { withheldNote } from '../ingest/ingest-run.ts';
import { CommandError, endWith } from '../program/exit-codes.ts';
import { type Cell, note, printFields, printItems, printJson } from '../program/output.ts';
import { walkList } from '../reads/walk.ts';
import { sourcePath } from './api.ts';

export interface RunOptions {
  /** Seconds to wait for the end; 0: no wait. */
  readonly wait: number;
  readonly unconditional: boolean;
}

export async function runSource(
  client: Client,
  name: string,
  { wait, unconditional }: RunOptions,
  asJson: boolean,
): Promise<void> {
  const body = JSON.stringify({ unconditional });
  const asked = await client.resource<SourceRun>({ method: 'POST', path: runsPath(name), body });
  await printEnd(client, asked, wait, asJson);
}

export async function listRuns(client: Client, name: string, limit: number, asJson: boolean): Promise<void> {
  const titles = ['RUN', 'BEGAN', 'CAUSE', 'OUTCOME', 'RECORDS', 'NEW', 'KNOWN', 'REFUSED', 'REASON'];
  await printItems(walkList<SourceRun>(client, runsPath(name), limit), asJson, titles, rowOf);
}

/** @param run null: the newest run with ingested records */
export async function replayRun(
  client: Client,
  name: string,
  run: string | null,
  wait: number,
  asJson: boolean,
): Promise<void> {
  const replayed = run ?? (await newestWithRecords(client, name));
  const path = runsPath(name, `/${encodeURIComponent(replayed)}/replay`);
  await printEnd(client, await client.resource<SourceRun>({ method: 'POST', path }), wait, asJson);
}

async function newestWithRecords(client: Client, name: string): Promise<string> {
  for await (const { id, upload, state } of walkList<SourceRun>(client, runsPath(name))) {
    if (upload !== null && state === 'ended') return id;
  }
  throw new CommandError('refused', `No run of ${name} has sent records.`, `See: tidemark sources runs ${name}`);
}

/** @throws CommandError `unfinished` if the run has not ended when the time is over */
async function printEnd(client: Client, asked: SourceRun, wait: number, asJson: boolean): Promise<void> {
  const { source, id } = asked;
  const read = () => client.resource<SourceRun>({ path: runsPath(source, `/${id}`) });
  const run = wait === 0 ? asked : await poll(read, ({ finishedAt }) => finishedAt !== null, wait);
  if (asJson) await printJson(run);
  else await printRun(client, run);
  if (run.state !== 'ended') {
    const hint = `Look again: tidemark sources runs ${source}`;
    if (wait > 0) throw new CommandError('unfinished', `The run ${id} has not ended within ${wait} s.`, hint);
    return note(hint);
  }
  if (run.outcome === 'failed' || run.outcome === 'different') endWith('findings');
  else if (run.outcome === 'taken-in' && refusedBy(run) > 0) endWith('set-aside');
}

async function printRun(client: Client, run: SourceRun): Promise<void> {
  const { id, source, cause, replayOf, state, outcome, reason, url, bytes, sha256, records, faults, upload } = run;
  const { refusedRows, counts, nextRunAt } = run;
  await printFields([
    ['run', id],
    ['cause', replayOf === null ? cause : `replay of ${replayOf}`],
    ['state', outcome ?? state],
    ...(reason === null ? [] : [['reason', `${reason.code}: ${reason.detail}`] as const]),
    ...(state !== 'ended'
      ? []
      : ([
          ['url', url],
          ['answer', bytes === null ? null : `${bytes} bytes, SHA-256 ${sha256}`],
          ['records', records],
          ['rows refused', refusedRows],
          ['stored', counts?.accepted],
          ['known already', counts?.unchanged],
          ['records refused', counts?.refused],
          ['upload', upload],
          ['next run', nextRunAt],
        ] satisfies readonly (readonly [string, Cell])[])),
  ]);
  for (const { line, code, detail } of faults) note(`line ${line}: ${code}: ${detail}`);
  if (refusedRows > faults.length && faults.length > 0) note(`… ${refusedRows} rows were refused in all.`);
  if (counts?.withheld && upload !== null) {
    const { firstWithheld } = await client.resource<Upload>({ path: `/api/v1/ingest/uploads/${upload}` });
    if (firstWithheld) note(withheldNote(source, counts.withheld, firstWithheld));
  }
  if ((counts?.refused ?? 0) > 0) note(`Why records were refused: tidemark uploads show ${upload}`);
}

function rowOf(run: SourceRun): readonly Cell[] {
  const { id, startedAt, createdAt, cause, state, outcome, records, counts, reason } = run;
  const refused = outcome === null ? null : refusedBy(run);
  const why = reason?.code;
  return [
    id,
    startedAt ?? createdAt,
    cause,
    outcome ?? state,
    records,
    counts?.accepted,
    counts?.unchanged,
    refused,
    why,
  ];
}

function refusedBy({ refusedRows, counts }: SourceRun): number {
  return refusedRows + (counts?.refused ?? 0);
}

function runsPath(name: string, rest = ''): string {
  return sourcePath(name, `/runs${rest}`);
}
