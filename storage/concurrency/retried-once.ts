/** Makes a value once in the life of a process. A failure is not remembered. */

/** All callers get the same promise. After a rejection, the next caller tries again. */
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
