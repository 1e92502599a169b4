/** A copy of the public objects in a second region, for readers when the first region does not answer (docs/decisions/108). */
import { Stack, type StackProps } from 'aws-cdk-lib';
import { CfnBucketPolicy } from 'aws-cdk-lib/aws-s3';
import type { Construct } from 'constructs';
import { addPublicBucket } from '../constructs/public-bucket.ts';
import type { Configuration } from '../deployment/configuration.ts';
import { secondBucketName } from '../deployment/names.ts';
import { publicBucketPolicy } from '../deployment/public-bucket-policy.ts';

export interface SecondRegionStackProps extends StackProps {
  readonly configuration: Configuration;
  readonly secondRegion: string;
}

export class SecondRegionStack extends Stack {
  constructor(scope: Construct, id: string, { configuration, secondRegion, ...props }: SecondRegionStackProps) {
    super(scope, id, props);
    const bucket = addPublicBucket(this, secondBucketName(configuration, secondRegion));
    // The distribution is made after the bucket, so that no other account can take the bucket's name in between. Its id is
    // unknown until then, so every distribution of the account may read; the objects are public anyway.
    const distributions = `arn:${this.partition}:cloudfront::${this.account}:distribution/*`;
    new CfnBucketPolicy(this, 'PublicObjectsPolicy', {
      bucket: bucket.bucketName,
      policyDocument: publicBucketPolicy(bucket.bucketArn, distributions),
    });
  }
}
