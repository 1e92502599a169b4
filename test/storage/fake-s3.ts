/**
 * S3 below the SDK, in memory: a transport for the real client, so that signing, checksums, retries and the reading of
 * errors are the SDK's own. It answers as S3 documents, fails as it is told, and is stricter than S3: a write without a
 * condition, a checksum, a signature or the encryption that makes an ETag an MD5 ends the test.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import { createS3Client } from '../../storage/s3/s3-client.ts';

/** The fault of one request. */
export interface Fault {
  /** Whether the request is carried out nevertheless. */
  readonly isDone: boolean;
  /** The error that is answered; null where the connection breaks without an answer. */
  readonly answer: { readonly status: number; readonly code: string } | null;
}

export const LOST_REQUEST: Fault = { isDone: false, answer: null };
export const LOST_ANSWER: Fault = { isDone: true, answer: null };
export const SLOW_DOWN: Fault = { isDone: false, answer: { status: 503, code: 'SlowDown' } };
export const CONFLICT: Fault = { isDone: false, answer: { status: 409, code: 'ConditionalRequestConflict' } };
export const internalError = (isDone: boolean): Fault => ({ isDone, answer: { status: 500, code: 'InternalError' } });
export const refusal = (status: number, code: string): Fault => ({ isDone: false, answer: { status, code } });

export interface FakeObject {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

export interface FakeS3 {
  readonly client: S3Client;
  readonly bucket: string;
  readonly objects: Map<string, FakeObject>;
  /** For the next requests, one each, in order; undefined for one that goes well. */
  readonly faults: (Fault | undefined)[];
  /** `PUT heads/a.json` and so on, every try. */
  readonly requests: string[];
  /** The keys of the puts that were carried out. */
  readonly effects: string[];
  /** Runs before a request is carried out; gives its place in `requests`. */
  onRequest: (index: number) => void | Promise<void>;
  /** Changes the next answers that carry a body. */
  onAnswer: (answer: Answer) => Answer;
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer | Readable;
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string | undefined>>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

export const etagOfBytes = (body: Uint8Array): string => `"${createHash('md5').update(body).digest('hex')}"`;
const checksum = (body: Uint8Array): string => {
  const value = Buffer.alloc(4);
  value.writeUInt32BE(crc32(body));
  return value.toString('base64');
};

export function openFakeS3(): FakeS3 {
  const bucket = 'public';
  const fake: FakeS3 = {
    bucket,
    objects: new Map(),
    faults: [],
    requests: [],
    effects: [],
    onRequest: () => undefined,
    onAnswer: (answer) => answer,
    client: createS3Client({
      region: 'eu-central-1',
      endpoint: 'http://s3.test',
      forcePathStyle: true,
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    }),
  };
  const handle = async (request: Request) => {
    const key = decodeURIComponent(request.path.slice(`/${bucket}/`.length));
    if (!request.headers.authorization) throw new Error(`${request.method} ${key} is not signed`);
    fake.requests.push(`${request.method} ${key}`);
    const fault = fake.faults.shift();
    await fake.onRequest(fake.requests.length - 1);
    const answer = fault && !fault.isDone ? null : carryOut(fake, key, request);
    if (fault) {
      if (fault.answer === null) throw Object.assign(new Error('the connection broke'), { code: 'ECONNRESET' });
      return responseOf(errorAnswer(fault.answer.status, fault.answer.code));
    }
    return responseOf(fake.onAnswer(answer as Answer));
  };
  fake.client.config.requestHandler = {
    handle,
    destroy: () => undefined,
    metadata: { handlerProtocol: 'http/1.1' },
    updateHttpClientConfig: () => undefined,
    httpHandlerConfigs: () => ({}),
  } as unknown as typeof fake.client.config.requestHandler;
  return fake;
}

function responseOf({ status, headers, body }: Answer) {
  const stream = body instanceof Readable ? body : Readable.from(body.length === 0 ? [] : [body]);
  return { response: { statusCode: status, headers, body: stream } };
}

function carryOut(fake: FakeS3, key: string, request: Request): Answer {
  if (request.method === 'PUT') return put(fake, key, request);
  if (request.method === 'DELETE') return remove(fake, key, request);
  if (request.query['list-type'] === '2') return list(fake, request.query);
  const object = fake.objects.get(key);
  if (object === undefined) return errorAnswer(404, request.method === 'HEAD' ? '' : 'NoSuchKey');
  if (request.headers['if-none-match'] === object.headers.etag) return { status: 304, headers: {}, body: Buffer.of() };
  return { status: 200, headers: object.headers, body: request.method === 'HEAD' ? Buffer.of() : object.body };
}

function put(fake: FakeS3, key: string, { headers, body }: Request): Answer {
  const bytes = Buffer.from(body as Uint8Array);
  const { 'if-none-match': absent, 'if-match': expected } = headers;
  if ((absent === undefined) === (expected === undefined)) throw new Error(`${key} is put without one condition`);
  if (absent !== undefined && absent !== '*') throw new Error('S3 knows no other If-None-Match of a write than *');
  if (headers['x-amz-checksum-crc32'] !== checksum(bytes)) throw new Error(`${key} is put without its checksum`);
  if (headers['x-amz-server-side-encryption'] !== 'AES256') throw new Error(`${key} is put without SSE-S3`);
  const present = fake.objects.get(key);
  if (expected !== undefined && present === undefined) return errorAnswer(404, 'NoSuchKey');
  if (absent === '*' ? present !== undefined : present?.headers.etag !== expected) {
    return errorAnswer(412, 'PreconditionFailed');
  }
  store(fake, key, bytes, headers);
  fake.effects.push(key);
  return { status: 200, headers: { etag: etagOfBytes(bytes) }, body: Buffer.of() };
}

/** Puts an object past every condition, as some other writer would. */
export function store(fake: FakeS3, key: string, body: Buffer, headers: Readonly<Record<string, unknown>>): void {
  const kept = Object.entries(headers).filter(([name]) => /^(content-type|cache-control|x-amz-meta-.*)$/.test(name));
  fake.objects.set(key, {
    body,
    headers: {
      ...(Object.fromEntries(kept) as Record<string, string>),
      etag: etagOfBytes(body),
      'content-length': String(body.length),
      'x-amz-checksum-crc32': checksum(body),
    },
  });
}

function remove(fake: FakeS3, key: string, { headers }: Request): Answer {
  if (headers['if-match'] === undefined) throw new Error(`${key} is deleted without a condition`);
  const present = fake.objects.get(key);
  if (present === undefined) return errorAnswer(404, 'NoSuchKey');
  if (present.headers.etag !== headers['if-match']) return errorAnswer(412, 'PreconditionFailed');
  fake.objects.delete(key);
  return { status: 204, headers: {}, body: Buffer.of() };
}

function list(fake: FakeS3, query: Request['query']): Answer {
  const { prefix = '', 'start-after': after = '', 'max-keys': most } = query;
  const keys = [...fake.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
  const page = keys.slice(0, Number(most));
  const contents = page.map((key) => `<Contents><Key>${key}</Key></Contents>`).join('');
  const xml = `<ListBucketResult><IsTruncated>${keys.length > page.length}</IsTruncated>${contents}</ListBucketResult>`;
  return { status: 200, headers: { 'content-type': 'application/xml' }, body: Buffer.from(xml) };
}

function errorAnswer(status: number, code: string): Answer {
  const xml = code === '' ? '' : `<Error><Code>${code}</Code><Message>said by the fake</Message></Error>`;
  return { status, headers: { 'content-type': 'application/xml' }, body: Buffer.from(xml) };
}
