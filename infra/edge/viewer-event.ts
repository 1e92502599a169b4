import type { QueryValue, ViewerRequestEvent } from './router.ts';

/**
 * Makes CloudFront's event from a request, for hosts that run the router themselves. Nothing is decoded; headers and
 * cookies are left out.
 *
 * @param target path and query, e.g. `/api/v1/markets?cursor=…`
 */
export function viewerEvent(method: string, target: string): ViewerRequestEvent {
  const [uri = '', ...query] = target.split('?');
  const values = new Map<string, { readonly value: string }[]>();
  for (const part of query.join('?').split('&')) {
    const [name = '', ...rest] = part.split('=');
    if (part === '') continue;
    const all = values.get(name) ?? [];
    // A copy of the array for each part would take time that is quadratic in the length of the query.
    all.push({ value: rest.join('=') });
    values.set(name, all);
  }
  // `fromEntries` defines properties, so a parameter named __proto__ is an ordinary parameter.
  const querystring = Object.fromEntries(
    [...values].map(([name, all]) => [name, all.length === 1 ? all[0] : { ...all[0], multiValue: all }]),
  ) as { [name: string]: QueryValue };
  const request = { method, uri, querystring, headers: {}, cookies: {} };
  return { version: '1.0', context: { eventType: 'viewer-request' }, viewer: { ip: '127.0.0.1' }, request };
}
