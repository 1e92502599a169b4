/** What Spectral's own rules and the OWASP rules find in the OpenAPI document, and why it stays. */

export interface Exception {
  readonly rule: string;
  /** The places, as JSON Pointers without escapes; or all that can be reached from answers alone. */
  readonly at: RegExp | 'answers';
  readonly because: string;
}

/** Public reads have no credential. Every operation without scopes is one of these. */
const PUBLIC_READS = new RegExp(
  [
    '^/paths//((badges|embed|feeds)/.*|api/v1/(snapshot|waitlist|openapi\\.json|latest(/\\{part\\}\\.(csv|ndjson))?|recent|modified\\.csv|(incidents|sources)\\.json',
    'markets(/\\{slug\\}(/history)?)?',
    'log/(checkpoint|vkey|tile/.*|ndjson/.*)|exports/.*|compat/.*',
    'markets/\\{slug\\}/history(/index|(/\\{year\\})?\\.(csv|ndjson))))/get/',
  ].join('|'),
);

const CONDITIONS = /^\/components\/parameters\/(If|Range)/;
const LINES = /\/requestBody\/content\/application\/x-ndjson\/schema$/;
const SCHEMAS = /^\/components\/schemas\//;

export const EXCEPTIONS: readonly Exception[] = [
  {
    rule: 'owasp:api2:2023-read-restricted',
    at: PUBLIC_READS,
    because: 'public reads are for everybody, without a credential',
  },
  {
    rule: 'owasp:api8:2023-define-error-responses-401',
    at: PUBLIC_READS,
    because: 'without a credential there is none to refuse',
  },
  {
    rule: 'owasp:api8:2023-define-error-validation',
    at: /^\/paths\/\/(badges|embed)\//,
    because: 'they have no input but their path: a query is ignored, because those who embed them append parameters',
  },
  {
    rule: 'owasp:api8:2023-define-error-responses-500',
    at: PUBLIC_READS,
    because: 'they are static files: a failing store is 503, and no code of ours runs that could fail with 500',
  },
  {
    rule: 'owasp:api4:2023-rate-limit-responses-429',
    at: PUBLIC_READS,
    because: 'a shared cache answers them, and nothing counts their readers',
  },
  {
    rule: 'owasp:api4:2023-rate-limit',
    at: PUBLIC_READS,
    because: 'as above: without a rate there are no header fields of a rate',
  },
  {
    rule: 'owasp:api4:2023-rate-limit',
    at: /^\/components\/responses\/(public\.|401\.)/,
    because: 'as above; and a rate belongs to a credential that was recognised',
  },
  {
    rule: 'owasp:api4:2023-string-limit',
    at: 'answers',
    because: 'a limit would be a promise for good; a client is not attacked by the length of our texts',
  },
  {
    rule: 'owasp:api4:2023-string-limit',
    at: CONDITIONS,
    because: 'all header fields of a request together are limited (431), not each',
  },
  {
    rule: 'owasp:api4:2023-string-limit',
    at: LINES,
    because: 'a body of lines is limited in bytes (413), and the rule counts characters',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    at: 'answers',
    because: 'texts for people, and opaque names that may change their form',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    at: SCHEMAS,
    because:
      'texts that people write, in every script: the service refuses control characters, look-alikes and addresses ' +
      'in them, which no portable pattern says',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    at: /\/get\/parameters\/\d+\/schema$/,
    because: 'a cursor of the write API is opaque: a changed one is refused because it does not decrypt',
  },
  {
    rule: 'owasp:api4:2023-string-restricted',
    at: CONDITIONS,
    because: 'entity tags are opaque: one of another form matches no version; a range of another form is ignored',
  },
  { rule: 'owasp:api4:2023-string-restricted', at: LINES, because: 'contentSchema says what a line is' },
  {
    rule: 'owasp:api8:2023-define-cors-origin',
    at: /\/put\/headers$|\/put\/anyOf\/0\/properties\/headers$/,
    because: 'this is a property of an upload with the name `headers`, not the header fields of an answer',
  },
  {
    rule: 'oas3-operation-security-defined',
    at: /^\/paths\/.*\/security\/\d+\/(userToken|apiKey)\/0$/,
    because: 'OpenAPI 3.1 allows scopes with every kind of scheme; the rule knows those of OAuth 2 alone',
  },
  { rule: 'info-contact', at: /^\/info$/, because: 'each deployment has an address of its own, at /api/v1/waitlist' },
  {
    rule: 'license-url',
    at: /^\/info\/license$/,
    because: 'the licence has its SPDX identifier, and OpenAPI 3.1 allows no URL beside it',
  },
  { rule: 'openapi-tags-alphabetical', at: /^\/tags$/, because: 'the order is the one in which to read about them' },
];
