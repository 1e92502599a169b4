/**
 * The kinds of public files that a deployment can switch off. Markets, the pages of histories, lists and the snapshot are
 * always published.
 */

export const PROJECTIONS = [
  ...(['log', 'history-files', 'latest', 'recent', 'exports', 'compat'] as const),
  ...(['market-pages', 'feeds', 'market-feeds', 'badges', 'embeds'] as const),
] as const;

export type Projection = (typeof PROJECTIONS)[number];

export const ALL_PROJECTIONS: ReadonlySet<Projection> = new Set(PROJECTIONS);

/** Off by default: each of these adds one or two files for each changed market, and few markets need them. */
const NOT_BY_DEFAULT: readonly Projection[] = ['market-feeds', 'badges', 'embeds'];

export const DEFAULT_PROJECTIONS: ReadonlySet<Projection> = new Set(
  PROJECTIONS.filter((name) => !NOT_BY_DEFAULT.includes(name)),
);

/** The present name of a projection: HEAD and log of an earlier version use another one. */
export function projectionOf(name: string): string {
  return name === 'faces' ? 'compat' : name;
}

/** The accepted values, for messages about wrong ones. */
export const PROJECTIONS_EXPECTED = `all, none, or some of ${PROJECTIONS.join(', ')}, separated by commas`;

/** Reads `all`, `none`, or names separated by commas, e.g. `log,latest`. Null for anything else. */
export function parseProjections(text: string): ReadonlySet<Projection> | null {
  if (text === 'all') return ALL_PROJECTIONS;
  if (text === 'none') return new Set();
  const names = text.split(',').map((name) => name.trim());
  return names.every(isProjection) ? new Set(names) : null;
}

/** The inverse of {@link parseProjections}, in the order of {@link PROJECTIONS}. */
export function projectionsText(projections: ReadonlySet<Projection>): string {
  return PROJECTIONS.filter((name) => projections.has(name)).join(',') || 'none';
}

function isProjection(name: string): name is Projection {
  return (PROJECTIONS as readonly string[]).includes(name);
}
