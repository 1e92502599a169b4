/** `tidemark exports make`: the server of the data folder makes the export of today, also if it is there. */
import type { ExportOutcome } from '../../publisher/projections/exports/make-export.ts';
import { askForExport } from '../backup/control.ts';
import { type Environment, readConfig } from '../config.ts';
import { StartError } from '../start-error.ts';

/** @throws StartError for a fault that an operator can correct */
export async function makeExportNow(environment: Environment): Promise<ExportOutcome> {
  const { dataFolder } = readConfig(environment);
  const outcome = await askForExport(dataFolder);
  if (outcome === null) {
    throw new StartError('The server makes no exports: start it with `exports` in TIDEMARK_PROJECTIONS, and `log`.');
  }
  if (outcome.kind === 'no-data') {
    throw new StartError('Nothing is published with a log yet, so there is nothing to export: ingest data first.');
  }
  return outcome;
}
