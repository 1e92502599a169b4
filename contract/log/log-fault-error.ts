/** The only error of this folder for input from elsewhere. */

/** A part of the log has a wrong form, or was not signed. Do not use it. */
export class LogFaultError extends Error {
  override readonly name = 'LogFaultError';
}
