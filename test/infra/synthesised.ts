/** Deployments with bundles that hold nothing, and what is in their templates. */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, type Stack } from 'aws-cdk-lib';
import type { Template } from 'aws-cdk-lib/assertions';
import { readConfiguration } from '../../infra/deployment/configuration.ts';
import { addDeployment } from '../../infra/deployment/deployment.ts';
import { ALL_FUNCTION_NAMES } from '../../infra/deployment/permissions.ts';

export type StackName = 'data' | 'edge' | 'api' | 'identity' | 'ops' | 'edge-alarms' | 'write-guard' | 'second-region';

export const MINIMAL = { waitlistEmail: 'keys@tidemark.test' } as const;

const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f';
const hostedZone = { id: 'Z0123456789ABC', name: 'example.com' };

/** Away from the region of the edge, with the rule whose stack must be there. */
export const ELSEWHERE = { ...MINIMAL, region: 'eu-west-1', writeRateLimit: 600 } as const;

export const SECOND_REGION = { ...MINIMAL, secondRegion: 'eu-west-1' } as const;

/** Options that do not depend on each other, in one deployment: each deployment takes a second of a processor. */
export const WITH_OPTIONS = {
  waitlistEmail: 'keys@tidemark.io',
  alarmEmail: 'ops@example.com',
  backupVaultArn: 'arn:aws:backup:eu-west-1:210987654321:backup-vault:tidemark',
  canary: false,
  monthlyBudgetUsd: 123,
  originSecretNumber: 3,
  readAccessLogs: true,
  readDomain: { host: 'api.example.com', certificateArn, hostedZone },
  readWebAclArn: 'arn:aws:wafv2:us-east-1:123456789012:global/webacl/readers/0a1b2c3d',
  reservePublisherConcurrency: true,
  throttle: { requestsPerSecond: 7, burst: 9 },
  uploadsKeptDays: 400,
  userPool: { selfSignUp: true },
  verifyEveryHours: 6,
  writeDomain: { host: 'write.example.com', certificateArn, hostedZone },
  writeRateLimit: 600,
} as const;

const made: string[] = [];

/** By a process that outlives this one, which is killed when it has not ended in half a second. */
function removeMade(): void {
  if (made.length > 0) spawn('rm', ['-rf', ...made.splice(0)], { detached: true, stdio: 'ignore' }).unref();
}

process.once('exit', removeMade);
// Vitest ends the process of a file by SIGTERM. The listener is gone when the signal comes again.
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    removeMade();
    process.kill(process.pid, signal);
  });
}

/** Removed when the process ends. */
function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `tidemark-${name}-`));
  made.push(folder);
  return folder;
}

/** A folder like that of the build, for an app that is only synthesised. */
export function standInBundles(): string {
  const folder = temporaryFolder('bundles');
  for (const name of ALL_FUNCTION_NAMES) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, 'index.mjs'), `export const handler = async () => ${JSON.stringify(name)};\n`);
  }
  return folder;
}

export function appOf(context: object = MINIMAL, bundles: string = standInBundles()): App {
  const app = new App({ analyticsReporting: false, outdir: temporaryFolder('cdk') });
  addDeployment(app, { configuration: readConfiguration(context), bundles });
  return app;
}

export function stackOf(app: App, name: StackName): Stack {
  return app.node.findChild(`tidemark-${name}`) as Stack;
}

const apps = new Map<string, App>();

/** One deployment. Made once in a process: tests only read it. */
export function deployed(context: object = MINIMAL): App {
  const key = JSON.stringify(context);
  const app = apps.get(key) ?? appOf(context);
  apps.set(key, app);
  return app;
}

// biome-ignore lint/suspicious/noExplicitAny: templates are plain JSON.
export type Properties = any;

/** The properties of the only resource of this type. */
export function onlyOf(template: Template, type: string): Properties {
  const found = Object.values(template.findResources(type));
  if (found.length !== 1) throw new Error(`${found.length} resources of ${type}, not one`);
  return found[0]?.Properties;
}

/** The whole resource with this beginning of its logical id. */
export function resourceOf(template: Template, type: string, id: string): Properties {
  const found = Object.entries(template.findResources(type)).filter(([name]) => name.startsWith(id));
  if (found.length !== 1) throw new Error(`${found.length} resources of ${type} with the id ${id}, not one`);
  return found[0]?.[1];
}
