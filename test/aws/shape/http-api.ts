/**
 * API Gateway's HTTP API before the write API's function: a request becomes an event of payload format 2.0, and the
 * function's answer a response. Without TLS, throttling, and its limit of 30 seconds.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpResult } from '../../../lambdas/http/event.ts';
import { ACCOUNT } from './references.ts';

/** API Gateway's limit on a body. */
const BODY_BYTES = 10 * 1000 * 1000;
/** Media types that are passed on as text. Other bodies are passed on in Base64. */
const TEXT = /^(text\/|application\/(json|javascript|xml|x-www-form-urlencoded|[\w.+-]+\+(json|xml))\b)/;

/** @param added header fields of the distribution, for a request that came through it */
export async function serveHttpApi(
  invoke: (event: object) => Promise<unknown>,
  request: IncomingMessage,
  response: ServerResponse,
  added: Readonly<Record<string, string>> = {},
): Promise<void> {
  const body = await readBody(request);
  if (body === null) return answer(response, { statusCode: 413, ...message('Request Entity Too Large') });
  const result = await invoke(eventOf(request, body, added)).catch(() => null);
  answer(response, (result as HttpResult | null) ?? { statusCode: 500, ...message('Internal Server Error') });
}

async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES) chunks.push(chunk);
  }
  return bytes > BODY_BYTES ? null : Buffer.concat(chunks);
}

function eventOf(request: IncomingMessage, body: Buffer, added: Readonly<Record<string, string>>): object {
  const { method = '', url = '', headersDistinct, socket } = request;
  const [path = '', query = ''] = url.split(/\?(.*)/s, 2);
  const sourceIp = socket.remoteAddress ?? '';
  const fields = Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(',')] as const);
  const headers: Record<string, string> = {
    ...Object.fromEntries(fields.filter(([name]) => !HOP_BY_HOP.includes(name))),
    'content-length': String(body.length),
    'x-forwarded-for': sourceIp,
    'x-forwarded-proto': 'https',
    ...added,
  };
  const isText = TEXT.test(headers['content-type'] ?? 'text/plain');
  return {
    version: '2.0',
    routeKey: '$default',
    rawPath: path,
    rawQueryString: query,
    headers,
    requestContext: {
      accountId: ACCOUNT,
      http: { method, path, protocol: 'HTTP/1.1', sourceIp, userAgent: headers['user-agent'] ?? '' },
      requestId: randomUUID(),
      routeKey: '$default',
      stage: '$default',
      timeEpoch: Date.now(),
    },
    ...(body.length === 0 ? {} : { body: body.toString(isText ? 'utf8' : 'base64') }),
    isBase64Encoded: body.length > 0 && !isText,
  };
}

const HOP_BY_HOP = ['connection', 'expect', 'keep-alive', 'te', 'transfer-encoding', 'upgrade'];

/** API Gateway's own answers. */
function message(text: string): Pick<HttpResult, 'headers' | 'body'> {
  return { headers: { 'content-type': 'application/json' }, body: JSON.stringify({ message: text }) };
}

function answer(response: ServerResponse, { statusCode, headers, body = '' }: HttpResult): void {
  response.writeHead(statusCode, headers);
  response.end(body);
}
