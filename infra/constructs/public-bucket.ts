/** The bucket of public objects, the same in both regions. */
import { Duration, RemovalPolicy } from 'aws-cdk-lib';
import { BlockPublicAccess, Bucket, BucketEncryption, ObjectOwnership } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';

export const PRIVATE_BUCKET = {
  blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
  objectOwnership: ObjectOwnership.BUCKET_OWNER_ENFORCED,
  removalPolicy: RemovalPolicy.RETAIN,
} as const;

/**
 * The ledger can make every object again. Versions restore a bucket that was emptied by mistake sooner; they are deleted
 * after a day. With SSE-S3, an ETag is the MD5 of the bytes.
 *
 * @param bucketName default: CloudFormation chooses one
 */
export function addPublicBucket(scope: Construct, bucketName?: string): Bucket {
  return new Bucket(scope, 'PublicObjects', {
    ...PRIVATE_BUCKET,
    ...(bucketName === undefined ? {} : { bucketName }),
    encryption: BucketEncryption.S3_MANAGED,
    versioned: true,
    lifecycleRules: [
      { id: 'unfinished-uploads', abortIncompleteMultipartUploadAfter: Duration.days(1) },
      { id: 'versions', noncurrentVersionExpiration: Duration.days(1), expiredObjectDeleteMarker: true },
    ],
  });
}
