/** The scopes of credentials. Each operation of the write API names the scopes that it accepts. */

export const SCOPES = {
  'watchlists:read': 'Read your own watchlists',
  'watchlists:write': 'Create, change and delete your own watchlists',
  'claims:read': 'Read your own claims',
  'claims:write': 'File claims, add evidence, withdraw',
  'claims:review': "Read the review queue, review and decide other people's claims",
  'sources:read': 'Read source verifications',
  'sources:verify': 'Record source verifications',
  'entitlements:read': 'Read your own entitlements, with used and remaining amounts',
  'entitlements:admin': "Grant and withdraw anybody's entitlements",
  'ingest:write': 'Append observations to existing markets, read reports',
  'ingest:correct': 'Correct and retract observations, confirm outliers',
  'markets:write': 'Define and change markets',
  'recipes:read': 'Read source recipes and their runs',
  'recipes:write': 'Add, change, pause, run and remove source recipes, which can write to every market',
  'publications:write': 'Have markets published again, purge caches',
  'log:takedown': 'Take entries of removed markets out of the public log, for good',
  'waitlist:admin': 'Record and decide waitlist requests, erase personal data',
  'keys:admin': 'Issue, rotate and revoke API keys',
  'audit:read': 'Read audit records',
} as const satisfies Record<string, string>;

export type Scope = keyof typeof SCOPES;

/** The scopes of feeds. Each operation of ingest accepts any of them; each record of a batch needs a certain one. */
export const FEED_SCOPES = ['ingest:write', 'ingest:correct', 'markets:write'] as const satisfies readonly Scope[];

export type FeedScope = (typeof FEED_SCOPES)[number];

export const ALL_SCOPES = Object.keys(SCOPES) as readonly Scope[];

/**
 * The scopes that a signed-in user may request. They cover only the user's own resources, because anybody who can sign in
 * can have them.
 */
export const USER_SCOPES: readonly Scope[] = [
  'watchlists:read',
  'watchlists:write',
  'claims:read',
  'claims:write',
  'sources:read',
  'entitlements:read',
];
