/** `tidemark exports`: the server of the data folder makes the export of today, or keeps one. */
import { askForExport } from '../backup/control.ts';
import type { ToKeep } from '../loops/export-loop.ts';
import { StartError } from '../service/start-error.ts';
import { type Environment, readConfig } from '../settings/config.ts';

/** @throws StartError for a fault that an operator can correct */
export async function makeExportNow(environment: Environment): Promise<{ readonly date: string }> {
  const { kind, date } = await ask(environment, null);
  if (kind === 'no-data') {
    throw new StartError('Nothing is published with a log yet, so there is nothing to export: ingest data first.');
  }
  if (kind === 'present') {
    throw new StartError(
      `The export of ${date} is kept, so it stays as it is. To make it again, first run: tidemark exports unkeep ${date}`,
    );
  }
  return { date };
}

/** @throws StartError for a fault that an operator can correct */
export async function keepExportNow(environment: Environment, ...toKeep: ToKeep): Promise<void> {
  const { kind, date } = await ask(environment, toKeep);
  if (kind === 'absent') {
    throw new StartError(`There is no export of ${date}. GET /api/v1/exports/latest names the newest one.`);
  }
  if (kind === 'of-an-earlier-version') {
    throw new StartError(
      `An earlier version made the export of ${date}, and did not record what is needed to make it again. Keep one of today or later.`,
    );
  }
}

async function ask(environment: Environment, toKeep: ToKeep | null) {
  const { dataFolder } = readConfig(environment);
  const outcome = await askForExport(dataFolder, toKeep);
  if (outcome !== null) return outcome;
  throw new StartError('The server makes no exports: start it with `exports` in TIDEMARK_PROJECTIONS, and `log`.');
}
