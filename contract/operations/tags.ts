/** What operations are grouped by, in the order in which they are shown. */
export const TAGS = {
  'Public reads': 'Static files: no credential, any origin, cached for 15 seconds, validated by ETag.',
  Me: 'What a credential is and may do.',
  Watchlists: 'Markets that you want to see together. Only their owner can see them.',
  Claims: "Assertions about a market's record, with evidence; an accepted one changes what is published.",
  'Source verifications': 'What a source said when somebody compared it with what was published.',
  Entitlements: 'What a subject may have of a feature. None has any influence on what is published or who may read it.',
  Ingest: 'Batches of records, kept as they came and applied by a worker, which reports on each record.',
  Publications: 'Publishing again what has not changed, and purging caches.',
  Waitlist: 'Requests for API keys, and their decisions.',
  'API keys': 'Keys of accounts whose request was approved.',
  Audit: 'Who did what to what.',
  Erasure: "Erasing a person's data.",
} as const satisfies Record<string, string>;

export type Tag = keyof typeof TAGS;
