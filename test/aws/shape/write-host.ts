/**
 * The write host's distribution before the HTTP API: it runs the function that CloudFront is given, and adds the headers
 * that its origin is given. Without TLS, the web ACL, and CloudFront's own limits.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { runInNewContext } from 'node:vm';
import { type Physical, propertiesOf, resolved, type Templates } from './references.ts';

export interface WriteHost {
  /** Answers, or gives the header fields to add for the origin. */
  receive(request: IncomingMessage, response: ServerResponse): Readonly<Record<string, string>> | null;
}

/** In the terms of CloudFront Functions. */
interface EdgeAnswer {
  readonly statusCode?: number;
  readonly headers: Readonly<Record<string, { readonly value: string }>>;
}

/** @param secrets the texts of secrets by their ARN */
export function openWriteHost(
  templates: Templates,
  physical: Physical,
  secrets: ReadonlyMap<string, string>,
): WriteHost {
  const resolve = (value: unknown) => resolved(value, 'api', templates, physical) as string;
  const code = resolve(propertiesOf(templates, 'api', 'WriteEndpointViewerRequest').FunctionCode);
  const [origin] = propertiesOf(templates, 'api', 'WriteEndpointDistribution').DistributionConfig.Origins;
  const ofOrigin = origin.OriginCustomHeaders.map(({ HeaderName, HeaderValue }: Record<string, unknown>) => {
    const [, arn = ''] = /^\{\{resolve:secretsmanager:(.+):SecretString:::\}\}$/.exec(resolve(HeaderValue)) ?? [];
    const text = secrets.get(arn);
    if (text === undefined) throw new RangeError(`no secret stands for ${resolve(HeaderValue)}`);
    return [HeaderName, text];
  });
  const before = (event: object): EdgeAnswer => runInNewContext(`${code}; handler(event)`, { event });

  return {
    receive({ method, url = '', socket }, response) {
      const [uri] = url.split('?', 1);
      const event = { request: { method, uri, headers: {} }, viewer: { ip: socket.remoteAddress } };
      const { statusCode, headers } = before(event);
      const fields = Object.fromEntries(Object.entries(headers).map(([name, { value }]) => [name, value]));
      if (statusCode === undefined) return { ...fields, ...Object.fromEntries(ofOrigin) };
      response.writeHead(statusCode, fields).end();
      return null;
    },
  };
}
