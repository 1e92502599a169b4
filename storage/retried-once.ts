/** Makes something once for the life of a process, unless that fails. */

/** Gives the same promise to all callers; one that was rejected is forgotten, and the next caller tries again. */
export function retriedOnce<Result>(make: () => Promise<Result>): () => Promise<Result> {
  let made: Promise<Result> | null = null;
  return () => {
    made ??= make().catch((error: unknown) => {
      made = null;
      throw error;
    });
    return made;
  };
}
