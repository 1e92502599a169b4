/** The settings of a deployment, read from the templates that CloudFormation would get. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FUNCTION_NAMES, type FunctionName } from '../../../infra/deployment/permissions.ts';
import type { Properties } from '../../infra/synthesised.ts';
import type { EventPattern } from './event-pattern.ts';
import type { FunctionSettings } from './hosted-function.ts';
import { type Physical, resolved, type Templates } from './references.ts';

export interface DeployedFunction extends FunctionSettings {
  /** After an asynchronous invocation failed. */
  readonly asyncRetries: number;
}

export interface StreamMapping {
  readonly functionName: FunctionName;
  readonly streamArn: string;
  readonly patterns: readonly EventPattern[];
  readonly batchSize: number;
  readonly windowSeconds: number;
  readonly retries: number;
}

export interface Deployed {
  readonly functions: ReadonlyMap<FunctionName, DeployedFunction>;
  readonly mappings: readonly StreamMapping[];
  readonly schedules: readonly { readonly functionName: FunctionName; readonly everyMinutes: number }[];
  readonly rules: readonly { readonly functionName: FunctionName; readonly pattern: EventPattern }[];
}

/** More than all templates together: CloudFormation takes 1 MB of each. */
const TEMPLATES_BYTES = 64 * 1024 * 1024;

/** @param bundles the folder with a folder for each function's bundle */
export async function synthesise(bundles: string): Promise<Templates> {
  const script = join(import.meta.dirname, 'synthesise.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [script, bundles], { maxBuffer: TEMPLATES_BYTES });
  const templates = JSON.parse(stdout) as [string, Properties][];
  return new Map(templates.map(([stackName, template]) => [stackName.replace(/^tidemark-/, ''), template]));
}

/** @throws RangeError for a reference to something that nothing stands for: the stacks are wired to more than is here. */
export function readDeployed(templates: Templates, physical: Physical): Deployed {
  const resolve = (value: unknown) => resolved(value, 'api', templates, physical);
  const resources = Object.values<Properties>(templates.get('api').Resources);
  const propertiesOfAll = (type: string): Properties[] =>
    resources.filter(({ Type }) => Type === `AWS::${type}`).map(({ Properties }) => Properties);
  const nameOf = (reference: unknown): FunctionName => functionOf(resolve(reference) as string);

  const retries = new Map(
    propertiesOfAll('Lambda::EventInvokeConfig').map((config) => {
      return [nameOf(config.FunctionName), config.MaximumRetryAttempts as number];
    }),
  );
  const functions = propertiesOfAll('Lambda::Function').map(({ FunctionName, ...properties }) => {
    const name = functionOf(FunctionName);
    const settings: DeployedFunction = {
      variables: resolve(properties.Environment.Variables) as Record<string, string>,
      memoryMegabytes: properties.MemorySize,
      timeoutSeconds: properties.Timeout,
      asyncRetries: retries.get(name) ?? 2,
    };
    return [name, settings] as const;
  });
  const mappings = propertiesOfAll('Lambda::EventSourceMapping').map((mapping) => ({
    functionName: nameOf(mapping.FunctionName),
    streamArn: resolve(mapping.EventSourceArn) as string,
    patterns: mapping.FilterCriteria.Filters.map(({ Pattern }: { Pattern: string }) => JSON.parse(Pattern)),
    batchSize: mapping.BatchSize,
    windowSeconds: mapping.MaximumBatchingWindowInSeconds,
    retries: mapping.MaximumRetryAttempts,
  }));
  const rules = propertiesOfAll('Events::Rule').flatMap((rule) =>
    rule.Targets.map(({ Arn }: { Arn: unknown }) => ({ functionName: nameOf(Arn), ...rule })),
  );
  return {
    functions: new Map(functions),
    mappings,
    schedules: rules.flatMap(({ functionName, ScheduleExpression }) =>
      ScheduleExpression === undefined ? [] : { functionName, everyMinutes: minutesOf(ScheduleExpression) },
    ),
    rules: rules.flatMap(({ functionName, EventPattern }) =>
      EventPattern === undefined ? [] : { functionName, pattern: resolve(EventPattern) as EventPattern },
    ),
  };
}

/** From its name or its ARN, perhaps with the alias at its end: here each function has one version, which has all calls. */
export function functionOf(reference: string): FunctionName {
  const name = FUNCTION_NAMES.find((each) => reference.split(':').includes(`tidemark-${each}`));
  if (name === undefined) throw new RangeError(`${reference} is no function of ours`);
  return name;
}

const MINUTES = { minute: 1, hour: 60, day: 24 * 60 };

function minutesOf(expression: string): number {
  const [, count, unit] = /^rate\((\d+) (minute|hour|day)s?\)$/.exec(expression) ?? [];
  if (unit === undefined) throw new RangeError(`no such schedule: ${expression}`);
  return Number(count) * MINUTES[unit as keyof typeof MINUTES];
}
