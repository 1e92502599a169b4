/** The errors of all ports of storage, named by what the caller must do. */

/** Storage did not answer. Retry later. A write may have happened or not. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable';
}

/** Storage answered with an impossible result: damaged bytes, an unreadable file. Page a human. */
export class StorageCorrupt extends Error {
  override readonly name: string = 'StorageCorrupt';
}

/**
 * The stored data has a later format than this version of the code knows. Run the version that wrote it, or a later
 * one.
 */
export class FormatTooNew extends Error {
  override readonly name = 'FormatTooNew';
}

/** The stored data has a format before the first release. This version does not read it. */
export class FormatTooOld extends Error {
  override readonly name = 'FormatTooOld';
}
