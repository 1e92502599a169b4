/**
 * The folder in which the pages lie, and the API beside them: scripts are in its `assets`. So pages read the files of their
 * own folder, also where that is no root of a host.
 */
export const BASE_URL = new URL('../', import.meta.url);
