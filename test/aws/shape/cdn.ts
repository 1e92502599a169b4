/**
 * CloudFront before the public bucket: the embedded edge, which runs the function that CloudFront is given, and keeps to
 * the cache rules that its policies are given. Not as in CloudFront: one edge instead of hundreds with caches of their own
 * and in two tiers, a purge that is done at once, HTTP without TLS, and its own answers to malformed requests.
 */
import { createEdgeServer } from '../../../server/edge/server.ts';
import { createS3Client } from '../../../storage/s3/s3-client.ts';
import { openS3Objects } from '../../../storage/s3/s3-objects.ts';
import { type LocalServer, listenLocally } from './local-server.ts';
import { REGION } from './references.ts';
import { CREDENTIALS } from './resources.ts';

export interface CdnOptions {
  readonly endpoint: string;
  readonly bucket: string;
  readonly report: (fault: string) => void;
}

export interface Cdn extends LocalServer {
  /** Of an invalidation: a `#` and a tag, or a path, of which only the one that is everything is known. */
  forget(items: readonly string[]): void;
}

export async function openCdn({ endpoint, bucket, report }: CdnOptions): Promise<Cdn> {
  const client = createS3Client({ endpoint, region: REGION, credentials: CREDENTIALS });
  const edge = createEdgeServer({
    objects: openS3Objects({ client, bucket }),
    nowMs: Date.now,
    // CloudFront has no health check, and no test uses one.
    health: () => ({ healthy: true, body: { status: 'ok' } }),
    report: (what, cause) => report(`edge: ${what}: ${String(cause)}`),
  });
  const { url, stop } = await listenLocally(edge.server, 0);
  return {
    url,
    stop() {
      stop();
      client.destroy();
    },
    forget(items) {
      const others = items.filter((item) => !item.startsWith('#') && item !== '/*');
      if (others.length > 0) throw new RangeError(`no such path to forget: ${others.join(', ')}`);
      if (items.includes('/*')) edge.purge('everything');
      else edge.purge({ tags: items.map((item) => item.slice(1)) });
    },
  };
}
