/** Feeds in Atom (RFC 4287), as text. Pure. */
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { xmlText } from './xml-text.ts';

/** The name of a service without a log. */
export const NO_ORIGIN = 'Tidemark';

/** The time of a feed without entries. */
const EMPTY_SINCE = '1970-01-01T00:00:00Z';

export interface AtomFeed {
  /** The name of the service. */
  readonly origin: string;
  readonly title: string;
  /** Below the folder of all feeds, without its extension. */
  readonly path: string;
  /** The base of relative links. Null: the folder of the feed. */
  readonly base: string | null;
  /** RFC 3339. Null: the feed has no entry. */
  readonly updated: string | null;
}

/** @param entries one line each, newest first */
export function atomFeed({ origin, title, path, base, updated }: AtomFeed, entries: readonly string[]): string {
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    `<feed xmlns="http://www.w3.org/2005/Atom"${base === null ? '' : ` xml:base="${base}"`}>`,
    `<id>${uuidOf(origin, path)}</id>`,
    `<title>${title}</title>`,
    `<updated>${updated ?? EMPTY_SINCE}</updated>`,
    `<author><name>${xmlText(origin)}</name></author>`,
    `<link rel="self" type="application/atom+xml" href="${path}.atom"/>`,
    '<generator>Tidemark</generator>',
    ...entries,
    '</feed>\n',
  ].join('\n');
}

const ORIGIN = /\n<author><name>([^<\n]*)<\/name><\/author>\n/;

/** The name of the service in a feed, as it stands there. Undefined: it has none. */
export const originIn = (feed: string): string | undefined => ORIGIN.exec(feed)?.[1];

/** A UUID (version 8 of RFC 9562) from origin and name: ids of entries must be unique among all services. */
export function uuidOf(origin: string, name: string): string {
  const hex = sha256Hex(`${origin}\n${name}`);
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  const groups = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, variant + hex.slice(17, 20)];
  return `urn:uuid:${[...groups, hex.slice(20, 32)].join('-')}`;
}
