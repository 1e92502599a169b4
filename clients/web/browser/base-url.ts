/**
 * The folder in which the pages lie, and the API beside them: scripts are in its `assets`. So pages read the files of their
 * own folder, also where that is no root of a host.
 */
export const BASE_URL = new URL('../', import.meta.url);

/** The address of a public file or a page, by its path from the root of a service. */
export function addressOf(path: string): string {
  return new URL(`.${path}`, BASE_URL).href;
}

/** A file, and not `/markets/{slug}`: every host has it. */
export function marketAddress(slug: string): string {
  return addressOf(`/market/index.html?slug=${encodeURIComponent(slug)}`);
}
