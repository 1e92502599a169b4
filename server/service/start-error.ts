/** Faults of a start that a person can correct. In a file of its own, because every command loads it. */

/** A fault and its remedy, for the person who started the server: one line, without a stack. */
export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** An argument or an environment variable is wrong. Nothing was changed, and another attempt would fail in the same way. */
export class SettingError extends StartError {
  override readonly name = 'SettingError';
}

/** Another process has the data folder open. It may end soon. */
export class FolderInUse extends StartError {
  override readonly name = 'FolderInUse';
}

/** The error for a data folder that cannot be used. Always one line, even if its cause has several. */
export function unusable(folder: string, cause: Error): StartError {
  return new StartError(`The data folder ${folder} cannot be used: ${cause.message.replaceAll('\n', ' ')}`, { cause });
}

/** Runs `work`. @throws StartError for each fault of the file system */
export function withFolder<Result>(folder: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw error instanceof StartError ? error : unusable(folder, error as Error);
  }
}
