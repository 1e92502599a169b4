/** One request to a server, whose body may be written later. */
import { type Agent, type ClientRequest, type IncomingHttpHeaders, request } from 'node:http';

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface AskOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export function ask(agent: Agent | undefined, method: string, url: string, options: AskOptions = {}): Promise<Reply> {
  const { promise, sent } = begin(agent, method, url, options.headers);
  sent.end(options.body);
  return promise;
}

/** A request whose body is yet to be written. */
export function begin(
  agent: Agent | undefined,
  method: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
): { readonly sent: ClientRequest; readonly promise: Promise<Reply> } {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>();
  const sent = request(url, { method, headers, ...(agent === undefined ? {} : { agent }) }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
    response.on('error', reject);
  });
  sent.on('error', reject);
  return { sent, promise };
}
