/** Where the code of an edge's own thread or process begins. */
import { existsSync } from 'node:fs';

const SOURCE = new URL('./main.ts', import.meta.url);
/** In the package there are no sources: scripts/build-package.ts builds it to this place. */
const BUILT = new URL('../../dist/edge-host.mjs', import.meta.url);

export function edgeHostEntry(): URL {
  return existsSync(SOURCE) ? SOURCE : BUILT;
}
