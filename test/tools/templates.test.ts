/** The templates of a deployment, judged by cfn-lint and checkov. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { appOf, MINIMAL } from '../infra/synthesised.ts';
import { temporaryFolder } from '../storage/temporary-folder.ts';
import { runTool } from './run-tool.ts';
import { toolFolder } from './tool-folder.ts';

const TOOLS = join(toolFolder('template-tools'), 'bin');

/** Accepted findings of checkov, each with its reason. test/infra/acknowledgements.ts says more about most of them. */
const ACCEPTED: Readonly<Record<string, string>> = {
  CKV_AWS_18: 'Everything public is read through the CDN; uploads are in the audit of the ledger.',
  CKV_AWS_26: 'CloudWatch cannot publish to a topic that the default key encrypts; messages name an alarm only.',
  CKV_AWS_27: 'The queue is encrypted by SQS, which the rule does not know.',
  CKV_AWS_68: 'A web ACL is a setting (readWebAclArn, writeRateLimit).',
  CKV_AWS_86: 'The log holds the addresses of readers: a setting (readAccessLogs).',
  CKV_AWS_115: 'Small accounts cannot reserve executions; the throttle leaves some to all functions.',
  CKV_AWS_116: 'Events that are given up go to the queue of failures; schedules come again.',
  CKV_AWS_117: 'The functions reach services of AWS and public sources only.',
  CKV_AWS_119: 'The key of AWS encrypts the table; with a key of our own, its loss would be the loss of the ledger.',
  CKV_AWS_149: 'The default key of Secrets Manager encrypts them, and roles decide who reads them.',
  CKV_AWS_158: 'CloudWatch encrypts logs by itself. They hold no credential and nothing that identifies a person.',
  CKV_AWS_173: 'The environment holds names and no secrets.',
  CKV_AWS_174: "Without a host of one's own the certificate is CloudFront's, whose protocols cannot be chosen.",
};

let synthesised: string;
beforeAll(() => {
  synthesised = appOf({ ...MINIMAL, secondRegion: 'eu-west-1' }).synth().directory;
});

/** A folder with all templates; or with a fault: those that have this text, which is replaced. */
async function templates(from = '', to = ''): Promise<string> {
  const folder = await temporaryFolder();
  for (const file of (await readdir(synthesised)).filter((name) => name.endsWith('.template.json'))) {
    const text = await readFile(join(synthesised, file), 'utf8');
    if (text.includes(from)) await writeFile(join(folder, file), text.replaceAll(from, to));
  }
  return folder;
}

describe('cfn-lint', () => {
  // Of CDK's own making: a dependency that is stated twice, an import in an output.
  const lint = async (cwd: string) =>
    await runTool(
      join(TOOLS, 'python'),
      [join(TOOLS, 'cfn-lint'), '--ignore-checks', 'W3005', 'W6001', '--', '*.template.json'],
      { cwd },
    );

  test('finds nothing in the templates', async () => {
    expect(await lint(await templates())).toMatchObject({ exitCode: 0, output: '' });
  });

  test('finds a property that does not exist', async () => {
    const { exitCode, output } = await lint(await templates('"BillingMode"', '"BillingModus"'));
    expect([exitCode, output]).toEqual([2, expect.stringContaining('E3002')]);
  });
});

describe('checkov', () => {
  const findings = async (cwd: string): Promise<readonly string[]> => {
    const options = ['-d', '.', '--framework', 'cloudformation', '--output', 'json', '--quiet', '--compact'];
    // It asks no service of its maker.
    const env = { BC_SKIP_MAPPING: 'TRUE' };
    const { stdout } = await runTool(join(TOOLS, 'python'), [join(TOOLS, 'checkov'), ...options], { cwd, env });
    const { failed_checks: failed } = JSON.parse(stdout).results;
    return [...new Set<string>(failed.map(({ check_id: id }: { check_id: string }) => id))].sort();
  };

  test('finds what is accepted, with reasons, and nothing else', async () => {
    expect(await findings(await templates())).toEqual(Object.keys(ACCEPTED).sort());
  });
});
