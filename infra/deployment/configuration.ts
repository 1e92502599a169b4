/**
 * The configuration of a deployment: the object `tidemark` of cdk.json's context. docs/deploy.md explains each value.
 */
import * as z from 'zod';
import { DEFAULT_PROJECTIONS, PROJECTIONS } from '../../contract/files/projections.ts';
import { isLogOrigin } from '../../contract/log/origin.ts';
import { operatorSchema } from '../../contract/values/operator.ts';
import { waitlistEmailSchema } from '../../contract/values/waitlist.ts';

/** A fault of the configuration, printed without a stack. Each fault has its place, its reason and its remedy. */
export class ConfigurationError extends Error {
  override readonly name = 'ConfigurationError';
}

/** Cognito refuses these in the domain of a user pool. */
const RESERVED_IN_DOMAINS = /aws|amazon|cognito/;

/** Regions in other partitions of AWS: China, governments and the like. */
const OTHER_PARTITIONS = /^(cn|us-gov|us-iso[a-z]*|eu-iso[a-z]*)-/;

/** CloudFront accepts certificates only from this region. */
const GLOBAL_REGION = 'us-east-1';

const region = z
  .string()
  .regex(/^[a-z]{2}(-[a-z]+)+-[0-9]$/, 'must be an AWS region such as eu-west-1')
  .refine((name) => !OTHER_PARTITIONS.test(name), {
    error: `must be a region of the public partition, such as eu-west-1: the public reads need CloudFront with its functions, and its metrics in ${GLOBAL_REGION}`,
  });

const httpsUrl = z.url({ protocol: /^https$/, error: 'must be an https URL' });

const hostName = z
  .string()
  .regex(
    /^(?=.{4,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,}$/,
    'must be a host name such as api.example.com',
  );

const hostedZone = z.strictObject({
  id: z.string().regex(/^Z[A-Z0-9]{1,31}$/, 'must be the id of a Route 53 hosted zone, such as Z0123456789ABC'),
  name: hostName,
});

/** The host of one of the two distributions. */
const domain = z
  .strictObject({
    host: hostName,
    certificateArn: z
      .string()
      .regex(
        new RegExp(`^arn:aws[a-z-]*:acm:${GLOBAL_REGION}:[0-9]{12}:certificate/[0-9a-f-]+$`),
        `must be the ARN of a certificate in ${GLOBAL_REGION}: request it in Certificate Manager there`,
      ),
    hostedZone: hostedZone.optional(),
  })
  .refine(({ host, hostedZone: zone }) => zone === undefined || `.${host}`.endsWith(`.${zone.name}`), {
    path: ['hostedZone', 'name'],
    error: 'must be the end of the host name',
  });

/** The retentions of CloudWatch Logs, up to a year, in days. */
const LOG_RETENTION_DAYS = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365] as const;

const configurationSchema = z
  .strictObject({
    name: z
      .string()
      .regex(/^[a-z][a-z0-9-]{0,18}[a-z0-9]$/, 'must be 2 to 20 lower-case letters, digits and hyphens')
      .default('tidemark'),
    region: region.default(GLOBAL_REGION),
    secondRegion: region.optional(),
    waitlistEmail: z.string('must be given: an address such as keys@example.com').pipe(waitlistEmailSchema),
    operatorName: operatorSchema.shape.name,
    operatorContact: operatorSchema.shape.contact,
    dataLicence: operatorSchema.shape.licence,
    projections: z
      .array(z.enum(PROJECTIONS, `must be some of ${PROJECTIONS.join(', ')}`), 'must be a list of names')
      .default([...DEFAULT_PROJECTIONS]),
    logOrigin: z
      .string()
      .refine(isLogOrigin, 'must be a name such as data.example.com/prices, in lower case, without https://')
      .optional(),
    logKeys: z
      .array(z.int('must be whole numbers').min(1))
      .min(1)
      .max(2, 'must be one number, or two during a rotation')
      .refine(([newest = 0, previous = 0]) => newest > previous, 'must begin with the greatest number: the newest key')
      .default([1]),
    logKeyArns: z
      .array(
        z
          .string()
          .regex(/^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key\/mrk-[0-9a-f]+$/, 'must be ARNs of multi-Region keys'),
      )
      .min(1)
      .max(2)
      .optional(),
    keyEnvironment: z.enum(['live', 'test', 'dev'], 'must be live, test or dev').default('live'),
    issuer: z
      .strictObject({
        url: httpsUrl,
        audience: z.string().min(1),
        jwksUri: httpsUrl.optional(),
        scopePrefix: z.string().default(''),
      })
      .optional(),
    userPool: z
      .strictObject({
        selfSignUp: z.boolean().default(false),
        callbackUrls: z
          .array(z.union([httpsUrl, z.url({ protocol: /^http$/, hostname: /^localhost$/ })], 'must be https URLs'))
          .min(1)
          .default(['http://localhost:8787/callback']),
      })
      .prefault({}),
    readDomain: domain.optional(),
    writeDomain: domain.optional(),
    writeRateLimit: z.int('must be a number of requests a minute').min(10).max(2_000_000_000).optional(),
    originSecretNumber: z.int('must be a whole number').min(1).default(1),
    readWebAclArn: z
      .string()
      .regex(/^arn:aws[a-z-]*:wafv2:us-east-1:[0-9]{12}:global\/webacl\//, 'must be a global web ACL of AWS WAF')
      .optional(),
    readAccessLogs: z.boolean().default(false),
    throttle: z
      .strictObject({
        requestsPerSecond: z.int().min(1).max(10_000),
        burst: z.int().min(1).max(5_000),
      })
      .optional(),
    accountConcurrency: z
      .int('must be the number of concurrent executions that Lambda allows the account')
      .min(10)
      .default(10),
    canary: z.boolean().default(true),
    reservePublisherConcurrency: z.boolean().default(false),
    verifyEveryHours: z.int().min(1).max(24).default(1),
    alarmEmail: z.email('must be an e-mail address').optional(),
    monthlyBudgetUsd: z.int().min(1).default(50),
    restoredTable: z
      .strictObject({
        name: z.string().regex(/^[\w.-]{3,255}$/, 'must be the name of a DynamoDB table'),
        streamArn: z
          .string()
          .regex(
            /^arn:aws[a-z-]*:dynamodb:.+\/stream\/.+$/,
            'must be the ARN of its stream: turn that on, with new and old images',
          ),
      })
      .optional(),
    backupVaultArn: z
      .string()
      .regex(
        /^arn:aws[a-z-]*:backup:[a-z0-9-]+:[0-9]{12}:backup-vault:[\w-]{2,50}$/,
        'must be the ARN of a vault of AWS Backup, in another account of your organization',
      )
      .optional(),
    uploadsKeptDays: z.int('must be a number of days').min(1).max(36_500).optional(),
    logRetentionDays: z.literal(LOG_RETENTION_DAYS, `must be one of ${LOG_RETENTION_DAYS.join(', ')}`).default(30),
  })
  .refine(({ region: first, secondRegion }) => secondRegion !== first, {
    path: ['secondRegion'],
    error: 'must be another region than region',
  })
  .superRefine(({ name, issuer }, context) => {
    const [reserved] = issuer === undefined ? (RESERVED_IN_DOMAINS.exec(name) ?? []) : [];
    if (reserved === undefined) return;
    const message = `must not contain "${reserved}", which Cognito refuses in the domain of a user pool: choose another name, or configure your own issuer`;
    context.addIssue({ code: 'custom', path: ['name'], message });
  })
  .transform(({ throttle, ...others }) => ({
    ...others,
    throttle: throttle ?? throttleWithin(others),
  }));

/**
 * Executions that the throttle leaves free: one each for publisher, worker, sources, verify, sweep and export. A second
 * region adds the copy.
 */
const OWN_EXECUTIONS = 6;

/**
 * In an account with ten executions, Lambda can reserve none. So the throttle keeps the write API from using the last ones:
 * a burst takes half of the rest, and requests of a tenth of a second at this rate take the other half.
 */
function throttleWithin({
  accountConcurrency,
  secondRegion,
}: {
  readonly accountConcurrency: number;
  readonly secondRegion?: string | undefined;
}): { readonly requestsPerSecond: number; readonly burst: number } {
  const half = (accountConcurrency - OWN_EXECUTIONS - (secondRegion === undefined ? 0 : 1)) / 2;
  return { requestsPerSecond: Math.min(50, half * 10), burst: Math.min(100, Math.floor(half)) };
}

export type Configuration = z.output<typeof configurationSchema>;

/** A host name with its certificate. With a hosted zone, the stack also makes the DNS records. */
export type DomainConfiguration = NonNullable<Configuration['readDomain']>;

/**
 * Reads the context value `tidemark`.
 *
 * @throws ConfigurationError that lists every fault.
 */
export function readConfiguration(context: unknown): Configuration {
  const parsed = configurationSchema.safeParse(context ?? {});
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => {
    return `  ${['context', 'tidemark', ...path].join('.')}: ${message}`;
  });
  throw new ConfigurationError(
    `cdk.json cannot be deployed as it is:\n${faults.join('\n')}\nCorrect these and try again; docs/deploy.md lists every value.`,
  );
}
