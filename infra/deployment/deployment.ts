/** All stacks of a deployment, grouped by lifetime: docs/decisions/008. */
import { Annotations, type App } from 'aws-cdk-lib';
import { isUnreachable } from '../../contract/values/waitlist.ts';
import { ApiStack } from '../stacks/api.ts';
import { DataStack } from '../stacks/data.ts';
import { EdgeStack } from '../stacks/edge.ts';
import { IdentityStack, type IssuerSettings } from '../stacks/identity.ts';
import { EdgeAlarmsStack, OpsStack } from '../stacks/ops.ts';
import { SecondRegionStack } from '../stacks/second-region.ts';
import { WriteGuardStack } from '../stacks/write-guard.ts';
import { CLOUDFRONT_METRICS_REGION } from './alarms.ts';
import type { Configuration } from './configuration.ts';

export interface DeploymentProps {
  readonly configuration: Configuration;
  /** The folder with one subfolder for each function's bundle, with `index.mjs` in it. */
  readonly bundles: string;
}

export function addDeployment(app: App, { configuration, bundles }: DeploymentProps): void {
  const { name, region, waitlistEmail } = configuration;
  const inRegion = { env: { region }, tags: { deployment: name } };
  const kept = { ...inRegion, terminationProtection: true };
  const isElsewhere = region !== CLOUDFRONT_METRICS_REGION;

  const data = new DataStack(app, `${name}-data`, {
    ...kept,
    description: `${name}: data that must not be lost`,
    configuration,
  });
  const second = addSecondRegion();
  const edge = new EdgeStack(app, `${name}-edge`, {
    ...inRegion,
    description: `${name}: public reads`,
    crossRegionReferences: isElsewhere,
    configuration,
    publicBucket: data.publicBucket,
  });
  const issuer = issuerOf(configuration) ?? addIdentity();
  if (second !== null) edge.addStackDependency(second);
  const api = new ApiStack(app, `${name}-api`, {
    ...inRegion,
    description: `${name}: writes, publishing, upkeep`,
    crossRegionReferences: isElsewhere,
    webAclArn: addWriteGuard()?.webAclArn,
    configuration,
    bundles,
    data,
    edge,
    issuer,
  });
  // A warning, not an error, so that templates can be built with the repository's own configuration.
  if (isUnreachable(waitlistEmail)) {
    Annotations.of(api).addWarningV2(
      'tidemark:waitlistEmail',
      `Requests for API keys would go to ${waitlistEmail}. This address is published, and mail cannot arrive there, because its domain is reserved for examples. Write your own address into cdk.json, at context.tidemark.waitlistEmail, before you deploy.`,
    );
  }
  new OpsStack(app, `${name}-ops`, {
    ...inRegion,
    description: `${name}: alarms, dashboard, budget`,
    configuration,
    data,
    api,
    edge,
  });
  if (isElsewhere) {
    new EdgeAlarmsStack(app, `${name}-edge-alarms`, {
      env: { region: CLOUDFRONT_METRICS_REGION },
      tags: inRegion.tags,
      description: `${name}: alarms of the distributions`,
      crossRegionReferences: true,
      configuration,
      api,
      edge,
    });
  }

  function addSecondRegion(): SecondRegionStack | null {
    const { secondRegion } = configuration;
    if (secondRegion === undefined) return null;
    return new SecondRegionStack(app, `${name}-second-region`, {
      ...kept,
      env: { region: secondRegion },
      description: `${name}: a copy of the public objects`,
      configuration,
      secondRegion,
    });
  }

  function addWriteGuard(): WriteGuardStack | null {
    const { writeRateLimit: requestsPerMinute } = configuration;
    if (requestsPerMinute === undefined) return null;
    return new WriteGuardStack(app, `${name}-write-guard`, {
      env: { region: CLOUDFRONT_METRICS_REGION },
      tags: inRegion.tags,
      description: `${name}: the rate rule of the write host`,
      crossRegionReferences: isElsewhere,
      configuration,
      requestsPerMinute,
    });
  }

  function addIdentity(): IssuerSettings {
    const description = `${name}: sign-in of users`;
    return new IdentityStack(app, `${name}-identity`, { ...kept, description, configuration }).settings;
  }
}

function issuerOf({ issuer }: Configuration): IssuerSettings | null {
  if (issuer === undefined) return null;
  const { url, ...settings } = issuer;
  return { issuer: url, ...settings };
}
