/** The bucket of uploads sends an event for each put to EventBridge: versitygw's notifications, converted to S3's events. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import type { EventBus } from './event-bus.ts';

interface Notification {
  readonly Records?: readonly {
    readonly eventName: string;
    readonly s3: {
      readonly bucket: { readonly name: string };
      readonly object: {
        readonly key: string;
        readonly size: number;
        readonly eTag: string;
        readonly sequencer: string;
      };
    };
  }[];
}

/** @param isTelling whether the bucket has EventBridge switched on */
export async function serveBucketEvents(
  bus: EventBus,
  isTelling: (bucket: string) => boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { Records = [] } = (await json(request)) as Notification;
  response.writeHead(200, { connection: 'close' }).end();
  for (const { eventName, s3 } of Records) {
    const { bucket, object } = s3;
    if (!eventName.startsWith('s3:ObjectCreated:') || !isTelling(bucket.name)) continue;
    const { key, size, eTag: etag, sequencer } = object;
    bus.put('aws.s3', 'Object Created', [`arn:aws:s3:::${bucket.name}`], {
      version: '0',
      bucket: { name: bucket.name },
      object: { key, size, etag, sequencer },
      reason: 'PutObject',
    });
  }
}
