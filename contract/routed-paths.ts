/**
 * The paths of the objects that the edge router names. In a file of its own, because the router may have 10,240 bytes.
 * Constants and pure functions only.
 */

const ROOT = '/api/v1';

export const ROUTED_PATHS = {
  'market-list': () => `${ROOT}/markets.json`,
  'market-list-page': (name: { readonly cursor: string }) => `${ROOT}/market-pages/${name.cursor}.json`,
  market: (name: { readonly slug: string }) => `${ROOT}/markets/${name.slug}.json`,
  history: (name: { readonly slug: string }) => `${ROOT}/histories/${name.slug}.json`,
  'history-page': (name: { readonly slug: string; readonly cursor: string }) =>
    `${ROOT}/history-pages/${name.slug}/${name.cursor}.json`,
  snapshot: () => `${ROOT}/snapshot.json`,
  problems: () => '/problems.json',
  waitlist: () => `${ROOT}/waitlist.json`,
  openapi: () => `${ROOT}/openapi.json`,
} as const;

type Paths = typeof ROUTED_PATHS;

/** The name of an object whose URL is not its path. */
export type RoutedName = {
  readonly [Kind in keyof Paths]: { readonly kind: Kind } & (Parameters<Paths[Kind]>[0] extends undefined
    ? unknown
    : NonNullable<Parameters<Paths[Kind]>[0]>);
}[keyof Paths];

/** The path of the object as the origin knows it, e.g. `/api/v1/markets/gold-usd.json`. */
export function routedPath(name: RoutedName): string {
  return (ROUTED_PATHS[name.kind] as (name: RoutedName) => string)(name);
}
