/** Faults of a start that a person can correct. Apart from the configuration: every command loads it. */

/** Printed in one line and without a stack for the person who started the server: the fault and its remedy. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** An argument or a variable of the environment is wrong, and as wrong the next time. */
export class SettingError extends StartError {
  override readonly name = 'SettingError';
}

/** An argument of the command line is wrong. Nothing was asked or changed. */
export class WrongArgument extends StartError {
  override readonly name = 'WrongArgument';
}

/** Another process has the data folder. It may end soon. */
export class FolderInUse extends StartError {
  override readonly name = 'FolderInUse';
}

/** The error for a data folder that cannot be used. Always one line, even if its cause has several. */
export function unusable(folder: string, cause: Error): StartError {
  return new StartError(`The data folder ${folder} cannot be used: ${cause.message.replaceAll('\n', ' ')}`, { cause });
}

/** Does this with the folder. @throws StartError for each fault of the file system */
export function withFolder<Result>(folder: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof StartError ? error : unusable(folder, error as Error);
  }
}
