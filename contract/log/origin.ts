/** The name of a log: the first line of its checkpoints, and the name of its keys. It never changes. */

const LENGTH_MAX = 200;
/** A host, with an optional path. C2SP's tlog-checkpoint recommends a URL without its scheme. */
const ORIGIN = /^[a-z0-9]+([.-][a-z0-9]+)*(\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*$/;

/** Whether a log of this service may have this origin, e.g. `data.example.com/prices`. No host needs to answer there. */
export function isLogOrigin(text: string): boolean {
  return text.length <= LENGTH_MAX && ORIGIN.test(text);
}
