/** A large file is read from S3 in ranges, each whole before it is given out, and all of them of one object. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { StorageCorrupt, StorageUnavailable } from '../../storage/ports/errors.ts';
import type { UploadFiles } from '../../storage/ports/upload-store.ts';
import { createS3Client } from '../../storage/s3/s3-client.ts';
import { openS3Uploads, RANGE_BYTES } from '../../storage/s3/s3-uploads.ts';

const ID = 'upl_01JD8N5W5XQ6M4T0VZ8R2K7C3A';
const BUCKET = 'tidemark-uploads';

/** Two ranges and a half, no two pieces of which are alike. */
const FILE = Buffer.from(Uint32Array.from({ length: (RANGE_BYTES / 4) * 2.5 }, (_, index) => index).buffer);

/** The fate of one GET. */
type Answer = (response: ServerResponse, body: Buffer) => void;

const whole: Answer = (response, body) => response.end(body);
const breaksHalfWay: Answer = (response, body) => {
  response.write(body.subarray(0, body.length / 2), () => response.destroy());
};
const endsEarly: Answer = (response, body) => {
  response.removeHeader('content-length');
  response.end(body.subarray(0, body.length - 1));
};
const ignoresTheRange: Answer = (response) => {
  response.removeHeader('content-length');
  response.end(FILE);
};
const fails =
  (status: number, code: string): Answer =>
  (response) => {
    const xml = `<Error><Code>${code}</Code><Message>said by the test</Message></Error>`;
    response.writeHead(status, { 'content-length': xml.length, 'content-type': 'application/xml' }).end(xml);
  };

interface Bucket {
  readonly uploads: UploadFiles;
  /** For the next GETs, one each; those after them are answered whole. */
  readonly answers: Answer[];
  /** `GET bytes=0-1`, `HEAD`, every try. */
  readonly requests: string[];
  /** How long was waited before another try, in milliseconds. */
  readonly pauses: number[];
  /** The bodies of requests that set tags. */
  readonly tags: string[];
  object: { bytes: Buffer; etag: string } | null;
  /** Answers that have begun and not ended. */
  underWay: number;
}

let bucket: Bucket;

beforeEach(async () => {
  const pauses: number[] = [];
  const server = createServer((request, response) => {
    const { object } = bucket;
    const { range = '', 'if-match': expected } = request.headers;
    const isTagging = request.url?.includes('?tagging');
    bucket.requests.push(`${request.method} ${isTagging ? 'tagging' : range}`.trim());
    bucket.underWay++;
    response.on('close', () => bucket.underWay--);
    if (request.url?.split('?', 1)[0] !== `/${BUCKET}/uploads/${ID}` || object === null) {
      return fails(404, request.method === 'HEAD' ? '' : 'NoSuchKey')(response, FILE);
    }
    response.setHeader('etag', object.etag);
    if (isTagging) {
      request.on('data', (chunk) => bucket.tags.push(String(chunk)));
      return request.on('end', () => (bucket.answers.shift() ?? whole)(response, Buffer.alloc(0)));
    }
    if (request.method === 'HEAD') return response.setHeader('content-length', object.bytes.length).end();
    if (expected !== object.etag) return fails(412, 'PreconditionFailed')(response, FILE);
    const [, first = '', last = ''] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? [];
    const body = object.bytes.subarray(Number(first), Number(last) + 1);
    response.statusCode = 206;
    response.setHeader('content-length', body.length);
    return (bucket.answers.shift() ?? whole)(response, body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = createS3Client({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'eu-west-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  });
  onTestFinished(() => {
    client.destroy();
    server.close();
    server.closeAllConnections();
  });
  const pause = async (milliseconds: number) => void pauses.push(milliseconds);
  bucket = {
    uploads: openS3Uploads({ client, bucket: BUCKET, pause }),
    answers: [],
    tags: [],
    requests: [],
    pauses,
    object: { bytes: FILE, etag: '"first"' },
    underWay: 0,
  };
});

async function read(fromByte = 0): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bucket.uploads.read(ID, fromByte)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const [FIRST, SECOND, THIRD] = [
  `GET bytes=0-${RANGE_BYTES - 1}`,
  `GET bytes=${RANGE_BYTES}-${2 * RANGE_BYTES - 1}`,
  `GET bytes=${2 * RANGE_BYTES}-${FILE.length - 1}`,
];

describe('a file', () => {
  test('has the length of its object', async () => {
    expect(await bucket.uploads.head(ID)).toEqual({ bytes: FILE.length });
    bucket.object = null;
    expect(await bucket.uploads.head(ID)).toBeNull();
  });

  test('is marked as ended by a tag, without being read or put again', async () => {
    await bucket.uploads.markEnded(ID);
    expect(bucket.requests).toEqual(['PUT tagging']);
    expect(bucket.tags.join('')).toContain('<Tag><Key>upload</Key><Value>ended</Value></Tag>');
  });

  test('that has expired needs no mark', async () => {
    bucket.object = null;
    await expect(bucket.uploads.markEnded(ID)).resolves.toBeUndefined();
  });

  test('that cannot be marked is an error, so that it is tried again', async () => {
    bucket.answers.push(fails(403, 'AccessDenied'));
    await expect(bucket.uploads.markEnded(ID)).rejects.toThrow(StorageUnavailable);
  });

  test('is read in ranges, with one request for each', async () => {
    expect((await read()).equals(FILE)).toBe(true);
    expect(bucket.requests).toEqual(['HEAD', FIRST, SECOND, THIRD]);
  });

  test.each([1, RANGE_BYTES, RANGE_BYTES + 1, FILE.length - 1, FILE.length])(
    'is read from byte %i on',
    async (from) => {
      expect((await read(from)).equals(FILE.subarray(from))).toBe(true);
    },
  );

  test('keeps no connection open while its reader pauses, and is not read ahead', async () => {
    let ranges = 0;
    for await (const chunk of bucket.uploads.read(ID, 0)) {
      ranges++;
      expect(chunk.length).toBeLessThanOrEqual(RANGE_BYTES);
      expect(bucket.requests).toHaveLength(1 + ranges);
      await expect.poll(() => bucket.underWay).toBe(0);
    }
    expect(ranges).toBe(3);
  });

  test('that is not there cannot be read', async () => {
    bucket.object = null;
    await expect(read()).rejects.toThrow(StorageUnavailable);
  });
});

describe('a range', () => {
  test.each<[string, Answer]>([
    ['breaks off half-way', breaksHalfWay],
    ['ends early', endsEarly],
    ['is more than was asked for', ignoresTheRange],
  ])('that %s is read again, and nothing else', async (_, answer) => {
    bucket.answers.push(whole, answer, answer);
    expect((await read()).equals(FILE)).toBe(true);
    expect(bucket.requests).toEqual(['HEAD', FIRST, SECOND, SECOND, SECOND, THIRD]);
    expect(bucket.pauses).toEqual([200, 400]);
  });

  test('that fails each time fails the reading, and nothing of it is given out', async () => {
    bucket.answers.push(whole, breaksHalfWay, breaksHalfWay, breaksHalfWay);
    let bytes = 0;
    const reading = async () => {
      for await (const chunk of bucket.uploads.read(ID, 0)) bytes += chunk.length;
    };
    await expect(reading()).rejects.toThrow(StorageUnavailable);
    expect(bytes).toBe(RANGE_BYTES);
    expect(bucket.requests).toEqual(['HEAD', FIRST, SECOND, SECOND, SECOND]);
  });

  test('that may not be read fails the reading', async () => {
    bucket.answers.push(...Array.from({ length: 3 }, () => fails(403, 'AccessDenied')));
    await expect(read()).rejects.toThrow(StorageUnavailable);
  });

  test('of another object than the first one is reported to an operator', async () => {
    const reading = async () => {
      for await (const _ of bucket.uploads.read(ID, 0)) bucket.object = { bytes: FILE, etag: '"second"' };
    };
    await expect(reading()).rejects.toThrow(StorageCorrupt);
    expect(bucket.pauses).toEqual([]);
    // A new reader gets the new object.
    expect((await read()).equals(FILE)).toBe(true);
  });
});
