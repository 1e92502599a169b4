/** Commands for the data folder of a stopped server: the folder is opened, used, and closed again. */
import { DEFAULT_PAGE_SIZES, type PublisherStorage } from '../../publisher/dependencies.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { checkHasLedger, openDataFolder } from '../folder/data-folder.ts';
import { checkClock, type Environment, readConfig } from '../settings/config.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** Runs a command with the folder that the environment names. @throws StartError for a fault that the person can correct */
export async function useDataFolder(
  environment: Environment,
  use: (storage: PublisherStorage, terminal: Terminal) => Promise<void>,
): Promise<void> {
  process.umask(0o077);
  checkClock(Date.now());
  const { dataFolder } = readConfig(environment);
  checkHasLedger(dataFolder);
  const terminal = openTerminal(process.stdout);
  await openStopped(dataFolder, {}, (storage) => use(storage, terminal)).finally(terminal.clear);
}

/**
 * Opens the folder, and closes it after `use`. Errors as of {@link openDataFolder}.
 *
 * @param options.isRestoring see {@link openDataFolder}
 */
export async function openStopped<Result>(
  dataFolder: string,
  options: { readonly isRestoring?: boolean },
  use: (storage: PublisherStorage) => Promise<Result>,
): Promise<Result> {
  const data = await openDataFolder(dataFolder, options);
  try {
    const { ledger, objects } = data;
    return await use({ ...systemRuntime, ledger, objects, pageSizes: DEFAULT_PAGE_SIZES });
  } finally {
    await data.target.release();
    data.close();
  }
}
