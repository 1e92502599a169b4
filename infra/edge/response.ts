/**
 * Gives the stored problem document of a removed market its status. The origin answers 200 for every object that it has,
 * so caching, revalidation and stale answers work as for every other object; only the reader sees 410.
 *
 * A CloudFront function (runtime 2.0, viewer response), in the language of router.ts. It does not run for answers of the
 * router and of the origin with 400 and above. A 304 stays: the reader has the 410 already. The embedded edge uses
 * `statusOfObject` itself.
 */
import { statusOfObject } from '../../contract/edge-problems.ts';

export interface ViewerResponse {
  statusCode: number;
  statusDescription?: string;
  readonly headers: { readonly [name: string]: { readonly value: string } };
}

export interface ViewerResponseEvent {
  readonly response: ViewerResponse;
}

/** Gives the response, changed in place. It reads a field that no response headers policy removes. */
export function handler(event: ViewerResponseEvent): ViewerResponse {
  const response = event.response;
  const contentType = response.headers['content-type'];
  if (response.statusCode === 200 && contentType !== undefined && statusOfObject(contentType.value) === 410) {
    response.statusCode = 410;
    response.statusDescription = 'Gone';
  }
  return response;
}
