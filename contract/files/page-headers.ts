/**
 * The header fields of pages for people, besides those of every public object. Without imports of libraries: the functions
 * of the edge are built from this file.
 */
import { EMBEDS_URL } from './routes.ts';

export const PAGE_CONTENT_TYPE = 'text/html; charset=utf-8';

/**
 * A page loads scripts, styles and data from its own host only. It has no inline script and sends no form, and no other
 * site can show it in a frame. Names are in lower case, as CloudFront requires.
 */
export const PAGE_HEADERS: { readonly [name: string]: string } = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

/** A page for frames of other sites has no script and loads nothing. Only its inline style is allowed. */
export const EMBED_HEADERS: { readonly [name: string]: string } = {
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors *",
  'permissions-policy': PAGE_HEADERS['permissions-policy'] as string,
  'referrer-policy': PAGE_HEADERS['referrer-policy'] as string,
};

/** @param path the path of the file, or of its URL */
export function pageHeaders(path: string): { readonly [name: string]: string } {
  return path.startsWith(`${EMBEDS_URL}/`) ? EMBED_HEADERS : PAGE_HEADERS;
}
