/** The configuration of a Lambda function, from its environment. Read and checked once, when the function starts. */

import { PROJECTIONS_EXPECTED, parseProjections } from '../../contract/files/projections.ts';
import { isLogOrigin } from '../../contract/log/origin.ts';
import { ENVIRONMENT } from './names.ts';

export type VariableName = keyof typeof ENVIRONMENT;

/** `process.env`, or the variables of a test. */
export type Variables = { readonly [name: string]: string | undefined };

interface Rule {
  readonly isValid: (value: string) => boolean;
  readonly expected: string;
}

const url: Rule = {
  isValid: (value) => URL.canParse(value) && /^https?:\/\//.test(value),
  expected: 'an absolute http or https URL',
};
const line: Rule = { isValid: (value) => /^\P{C}{1,2048}$/u.test(value), expected: 'one line of text' };
const bucket: Rule = {
  isValid: (value) => /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(value),
  expected: 'a bucket name',
};

/** The rules find a value in the wrong place, such as a name instead of an ARN. Whether the resource exists, only AWS knows. */
const RULES: { readonly [Name in VariableName]: Rule } = {
  tableName: { isValid: (value) => /^[\w.-]{3,255}$/.test(value), expected: 'the name of a DynamoDB table' },
  publicBucket: bucket,
  uploadsBucket: bucket,
  secondRegion: { isValid: (value) => /^[a-z]{2}(-[a-z]+)+-\d$/.test(value), expected: 'an AWS region' },
  secondBucket: bucket,
  secretArn: {
    isValid: (value) => /^arn:[\w-]+:secretsmanager:/.test(value),
    expected: 'the ARN of a secret in Secrets Manager',
  },
  originSecretArns: {
    isValid: (value) => /^arn:[\w-]+:secretsmanager:[^,]+(,arn:[\w-]+:secretsmanager:[^,]+)?$/.test(value),
    expected: 'the ARNs of one or two secrets in Secrets Manager, separated by a comma',
  },
  issuer: url,
  audience: { isValid: (value) => /^\S+$/.test(value), expected: 'the audience of the tokens, without spaces' },
  jwksUri: url,
  scopePrefix: { isValid: (value) => /^\S+$/.test(value), expected: 'a prefix of scopes, without spaces' },
  keyEnvironment: { isValid: (value) => /^(live|test|dev)$/.test(value), expected: 'live, test or dev' },
  waitlistEmail: { isValid: (value) => /^[^\s@]+@[^\s@]+$/.test(value), expected: 'one e-mail address' },
  operatorName: line,
  operatorContact: line,
  dataLicence: line,
  distributionId: {
    isValid: (value) => /^[A-Z0-9]{6,32}$/.test(value),
    expected: 'the id of a CloudFront distribution',
  },
  logOrigin: { isValid: isLogOrigin, expected: 'the name of the log, such as data.example.com/prices' },
  logKeyArns: {
    isValid: (value) => /^arn:[\w-]+:kms:[^,]+(,arn:[\w-]+:kms:[^,]+)?$/.test(value),
    expected: 'the ARNs of one or two keys of KMS, separated by a comma',
  },
  readBaseUrl: url,
  writeBaseUrl: url,
  verifyEveryHours: {
    isValid: (value) => /^([1-9]|1\d|2[0-4])$/.test(value),
    expected: 'a whole number of hours from 1 to 24',
  },
  projections: { isValid: (value) => parseProjections(value) !== null, expected: PROJECTIONS_EXPECTED },
};

/**
 * Reads the variables by the names of {@link ENVIRONMENT}. An empty variable counts as missing.
 *
 * @throws TypeError that names every missing and every malformed variable
 */
export function readLambdaEnvironment<Required extends VariableName, Optional extends VariableName = never>(
  variables: Variables,
  { required, optional = [] }: { readonly required: readonly Required[]; readonly optional?: readonly Optional[] },
): { readonly [Name in Required]: string } & { readonly [Name in Optional]?: string } {
  const values: { [name: string]: string } = {};
  const faults: string[] = [];
  for (const name of [...required, ...optional]) {
    const variable = ENVIRONMENT[name];
    const value = variables[variable];
    const { isValid, expected } = RULES[name];
    if (value) {
      values[name] = value;
      if (!isValid(value)) faults.push(`${variable} is ${JSON.stringify(value)}: give ${expected}`);
    } else if ((required as readonly VariableName[]).includes(name)) {
      faults.push(`${variable} is missing: give ${expected}`);
    }
  }
  if (faults.length > 0) throw new TypeError(`This function is not configured: ${faults.join('; ')}.`);
  return values as { [Name in Required]: string } & { [Name in Optional]?: string };
}
