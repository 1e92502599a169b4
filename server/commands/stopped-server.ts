/** Commands for the data folder of a stopped server: the folder is opened, used, and closed again. */
import { inspect } from 'node:util';
import { DEFAULT_PAGE_SIZES, type PublisherStorage } from '../../publisher/dependencies.ts';
import { systemRuntime } from '../../storage/aws/runtime.ts';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import { checkHasLedger, openDataFolder } from '../folder/data-folder.ts';
import { StartError } from '../service/start-error.ts';
import { checkClock, type Environment, readConfig } from '../settings/config.ts';
import { printable } from '../terminal/printable.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/**
 * Runs a command with the folder that the environment names. Sets the exit code. A fault that the person can
 * correct is printed in one line.
 */
export async function useDataFolder(
  environment: Environment,
  use: (storage: PublisherStorage, terminal: Terminal) => Promise<void>,
): Promise<void> {
  const terminal = openTerminal(process.stdout);
  try {
    process.umask(0o077);
    checkClock(Date.now());
    const { dataFolder } = readConfig(environment);
    checkHasLedger(dataFolder);
    await openStopped(dataFolder, {}, (storage) => use(storage, terminal));
  } catch (error) {
    terminal.clear();
    const isExpected = EXPECTED.some((expected) => error instanceof expected);
    console.error(printable(isExpected ? (error as Error).message : inspect(error)));
    process.exitCode = 1;
  }
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
    data.close();
  }
}

const EXPECTED = [StartError, StorageUnavailable, StorageCorrupt];
