/** What can go wrong while publishing, named by what the caller must do about it. */

/** Another publisher has moved HEAD, or a newer generation is in place. Stop quietly: the work is being done. */
export class Superseded extends Error {
  override readonly name = 'Superseded';
}

/** An immutable object does not hold the bytes that its name promises. Page a human: nothing may be overwritten. */
export class ImmutableMismatch extends Error {
  override readonly name = 'ImmutableMismatch';
}

/** A committed generation cannot be applied because its redo bundle is gone or damaged. Run a rebuild. */
export class BundleLost extends Error {
  override readonly name = 'BundleLost';
}
