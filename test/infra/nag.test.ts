/** The rules of three packs of cdk-nag: no findings except the accepted ones. */
import type { App } from 'aws-cdk-lib';
import { AwsSolutionsChecks, HIPAASecurityChecks, NIST80053R5Checks } from 'cdk-nag';
import { describe, expect, it } from 'vitest';
import { ACKNOWLEDGEMENTS, type Acknowledgement } from './acknowledgements.ts';
import { appOf, MINIMAL } from './synthesised.ts';

/** Everything that can be there. */
const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/0a1b2c3d-0a1b-2c3d-4e5f-0a1b2c3d4e5f';
const FULL = {
  ...MINIMAL,
  readDomain: { host: 'api.example.com', certificateArn },
  writeDomain: { host: 'write.example.com', certificateArn },
  writeRateLimit: 600,
  originSecretNumber: 2,
  logKeys: [2, 1],
  readAccessLogs: true,
  uploadsKeptDays: 400,
  secondRegion: 'eu-west-1',
  backupVaultArn: 'arn:aws:backup:us-east-1:210987654321:backup-vault:tidemark',
  alarmEmail: 'ops@example.com',
};

interface Finding {
  readonly id: string;
  readonly path: string;
}

/** Asked directly and not as a plugin of the synthesis, where findings are named after exports and their hashes. */
function findingsOf(app: App): Finding[] {
  const packs = [new AwsSolutionsChecks(app), new HIPAASecurityChecks(app), new NIST80053R5Checks(app)];
  const violations = packs.flatMap((pack) => pack.validateScope(app).violations);
  return violations.flatMap(({ ruleName, violatingResources }) =>
    violatingResources.map(({ constructPath }) => ({ id: ruleName, path: constructPath ?? '' })),
  );
}

const covers = ([id, path]: Acknowledgement, finding: Finding) => finding.id === id && path.test(finding.path);

describe('the deployment', () => {
  const findings = [MINIMAL, FULL].flatMap((context) => findingsOf(appOf(context)));

  it('breaks no rule that is not acknowledged', () => {
    const open = findings.filter((finding) => !ACKNOWLEDGEMENTS.some((entry) => covers(entry, finding)));
    expect(open).toEqual([]);
  });

  it.each(ACKNOWLEDGEMENTS)('needs the acknowledgement of %s at %s', (...entry) => {
    expect(findings.some((finding) => covers(entry, finding))).toBe(true);
    expect(entry[2].length).toBeGreaterThan(20);
  });

  it('is checked, resource by resource', () => {
    expect(findings.length).toBeGreaterThan(10);
  });
});
