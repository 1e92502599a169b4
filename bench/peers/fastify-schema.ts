/** The answers of the Fastify peer, for its compiled serialiser: members in the order in which Tidemark writes them. */
const text = { type: 'string' } as const;
const textOrNull = { type: ['string', 'null'] } as const;

const metric = {
  type: ['object', 'null'],
  properties: {
    amountMinor: { type: ['integer', 'null'] },
    confidence: text,
    currency: text,
    decimal: textOrNull,
    decimalPerUnit: textOrNull,
    kind: text,
    minorDigits: { type: 'integer' },
    observedAt: text,
    releasedAt: textOrNull,
    rounded: { type: 'boolean' },
    sourceLabel: text,
    sourceUrl: text,
    sourceValue: textOrNull,
    status: text,
    unit: text,
    unknownReason: textOrNull,
    value: textOrNull,
  },
} as const;

const source = {
  type: 'object',
  properties: {
    attribution: textOrNull,
    cadence: { type: 'null' },
    expectedNextAt: { type: 'null' },
    label: text,
    licence: textOrNull,
    publisher: textOrNull,
    url: text,
    verification: { type: 'null' },
  },
} as const;

export const marketResponse = {
  type: 'object',
  properties: {
    bySource: { type: 'object' },
    disputed: { type: 'boolean' },
    disputedMetrics: { type: 'array', items: text },
    history: {
      type: 'object',
      properties: {
        count: { type: 'integer' },
        firstObservedAt: textOrNull,
        href: text,
        lastObservedAt: textOrNull,
      },
    },
    kind: text,
    metrics: { type: 'object', additionalProperties: metric },
    name: text,
    nativeCurrency: text,
    representedBy: { type: 'null' },
    representedBySalt: { type: 'null' },
    revision: { type: 'integer' },
    slug: text,
    sources: { type: 'array', items: source },
    status: text,
    unit: { type: 'object', properties: { of: text, quantity: { type: 'integer' } } },
    updatedAt: textOrNull,
  },
} as const;

export const listResponse = {
  type: 'object',
  properties: {
    data: { type: 'array', items: marketResponse },
    page: { type: 'object', properties: { nextCursor: textOrNull } },
  },
} as const;
