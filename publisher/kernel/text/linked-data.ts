/** Facts for search engines: schema.org's words in JSON-LD 1.1, as a data block of a page. Pure. */

import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Operator } from '../../../contract/values/operator.ts';

type Node = { readonly [name: string]: Json };

/**
 * A data block, not a script, so the Content-Security-Policy allows it. `<` is escaped: no text can end the block (HTML,
 * section 4.12.1.3).
 */
export function linkedData(thing: Node): string {
  const text = canonicalJson({ '@context': 'https://schema.org', isAccessibleForFree: true, ...thing });
  return `<script type="application/ld+json">${text.replaceAll('<', '\\u003c')}</script>`;
}

export const download = (encodingFormat: string, contentUrl: string): Node => ({
  '@type': 'DataDownload',
  contentUrl,
  encodingFormat,
});

export const organization = (name: string, url: string | null = null): Node => ({
  '@type': 'Organization',
  name,
  ...(url !== null && { url }),
});

export const publisherOf = ({ name }: Operator): Node => (name === undefined ? {} : { publisher: organization(name) });

/** @param licence a URL, or a name such as `CC-BY-4.0`. Undefined: not stated */
export const licenceOf = (licence: string | undefined): Node =>
  licence === undefined
    ? {}
    : { license: /^https?:\/\//.test(licence) ? licence : { '@type': 'CreativeWork', name: licence } };
