/** The groups of operations, in the order in which they are shown. */
export const TAGS = {
  'Public reads': 'Static files: no credential, any origin, cached for 15 seconds, validated by ETag.',
  Me: 'Your credential, its subject and its scopes.',
  Watchlists: 'Markets that you want to see together. Only their owner can see them.',
  Claims: "Assertions about a market's record, with evidence. An accepted claim changes the published record.",
  'Source verifications': 'Results of comparing a source with the published value.',
  Entitlements: "A subject's limit for each feature. No entitlement influences what is published or who may read it.",
  Ingest: 'Batches of records. The service keeps them as they came; a worker applies them and reports on each record.',
  Sources: 'Files of others that the service fetches on a schedule: their recipes, and the runs that fetch them.',
  Markets: 'Removing a market for good.',
  Publications: 'Publishing markets again, and purging caches.',
  Log: 'Taking entries out of the public log, for legal reasons.',
  Waitlist: 'Requests for API keys, and their decisions.',
  'API keys': 'Keys of accounts whose request was approved.',
  Audit: 'The actor, action and target of each write.',
  Erasure: "Erasing a person's data.",
} as const satisfies Record<string, string>;

export type Tag = keyof typeof TAGS;
