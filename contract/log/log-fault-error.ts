/** The one error of this folder for input that came from elsewhere. */

/** A part of the log is not as its format says, or not what was signed. The caller must not use it. */
export class LogFaultError extends Error {
  override readonly name = 'LogFaultError';
}
