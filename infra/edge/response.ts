/**
 * Gives pages their security headers, and the stored problem document of a removed market its status. The origin answers
 * 200 for every object that it has, so caching, revalidation and stale answers work as for every other object; only the
 * reader gets 410.
 *
 * It is a CloudFront function (runtime 2.0, viewer response), in the language of router.ts. It does not run for answers of
 * the router, nor for answers of the origin with 400 or above. A 304 is not changed: the reader already has the 410, or the
 * headers. The server's own edge uses the same contract directly.
 */

import { PAGE_CONTENT_TYPE, pageHeaders } from '../../contract/files/page-headers.ts';
import { statusOfObject } from '../../contract/problems/edge-problems.ts';

export interface ViewerResponse {
  statusCode: number;
  statusDescription?: string;
  readonly headers: { [name: string]: { readonly value: string } };
}

export interface ViewerResponseEvent {
  readonly request: { readonly uri: string };
  readonly response: ViewerResponse;
}

/** Changes the response in place and returns it. It reads a header that no response headers policy removes. */
export function handler(event: ViewerResponseEvent): ViewerResponse {
  const response = event.response;
  const contentType = response.headers['content-type'];
  if (contentType === undefined) return response;
  if (contentType.value === PAGE_CONTENT_TYPE) {
    const fields = pageHeaders(event.request.uri);
    Object.keys(fields).forEach((name) => {
      response.headers[name] = { value: fields[name] as string };
    });
  }
  if (response.statusCode === 200 && statusOfObject(contentType.value) === 410) {
    response.statusCode = 410;
    response.statusDescription = 'Gone';
  }
  return response;
}
