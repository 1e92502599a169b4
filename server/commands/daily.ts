/** Asks the server of the data folder to make today's files of a projection, or to keep the files of a day. */
import { json } from 'node:stream/consumers';
import { type AskDaily, type AskedOutcome, DAILY_URL_PATH, type DailyAnswer } from '../backup/control.ts';
import { askControl } from '../backup/control-socket.ts';
import { StartError } from '../service/start-error.ts';
import { type Environment, readConfig } from '../settings/config.ts';

/** @throws StartError if no process answers, or if it fails or ends before it has answered; and for a refusal */
export async function askDaily(environment: Environment, ...ask: AskDaily): Promise<{ readonly date: string }> {
  const { dataFolder } = readConfig(environment);
  const [projection] = ask;
  const asked = await askControl(dataFolder, DAILY_URL_PATH, JSON.stringify(ask));
  const answer = asked && ((await json(asked.answer).catch(() => null)) as DailyAnswer | null);
  if (answer === null) throw new StartError(`No server answers for ${dataFolder}: start it, then repeat this command.`);
  if ('error' in answer) throw new StartError(`The server could not make the ${projection}: ${answer.error}`);
  const { outcome } = answer;
  if (outcome === null) {
    throw new StartError(
      `The server makes no ${projection}: start it with \`${projection}\` in TIDEMARK_PROJECTIONS, and \`log\`.`,
    );
  }
  const fault = FAULTS[outcome.kind]?.(projection, outcome.date);
  if (fault !== undefined) throw new StartError(fault);
  return outcome;
}

const FAULTS: { readonly [Kind in AskedOutcome]?: (projection: string, date: string) => string } = {
  'no-data': (projection) => `Nothing is published with a log yet, so there are no ${projection}: ingest data first.`,
  present: (projection, date) =>
    `The ${projection} of ${date} are kept, so they stay as they are. To make them again, first run: tidemark ${projection} unkeep ${date}`,
  absent: (projection, date) =>
    `There are no ${projection} of ${date}. GET /api/v1/${projection}/latest names the newest ones.`,
  'of-an-earlier-version': (projection, date) =>
    `An earlier version made the ${projection} of ${date}, and did not record what is needed to make them again. Keep those of today or later.`,
};
