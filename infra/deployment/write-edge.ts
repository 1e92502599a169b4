/**
 * The CloudFront Function of the write host, in the language of its runtime (a part of ECMAScript).
 *
 * - It sends the client's address to the origin. For API Gateway, the sender is an address of CloudFront, and the client
 *   can put anything at the beginning of `X-Forwarded-For`.
 * - Problem types are relative URLs, so this host too must redirect them to their pages.
 *
 * @param readBaseUrl without a slash at the end; may be a token of CDK
 */
import { VIEWER_ADDRESS_HEADER } from '../../storage/aws/names.ts';

export function writeEdgeCode(readBaseUrl: string): string {
  return `function handler(event) {
  var request = event.request;
  if (/^\\/problems\\/[a-z-]+$/.test(request.uri) && (request.method === 'GET' || request.method === 'HEAD')) {
    return {
      statusCode: 302,
      statusDescription: 'Found',
      headers: {
        location: { value: '${readBaseUrl}' + request.uri },
        'cache-control': { value: 'public, max-age=3600' },
        'access-control-allow-origin': { value: '*' },
      },
    };
  }
  request.headers['${VIEWER_ADDRESS_HEADER}'] = { value: event.viewer.ip };
  return request;
}
`;
}
