/**
 * `npm run aws:local`: the deployment on AWS, on this machine and without an account. Installs (once, into the user's
 * cache) and starts engines that stand in for AWS, builds the Lambda functions, wires them to the engines as the stacks
 * would, and runs the scenario that every deployment must pass: a line for each step.
 * Leaves only the engines' installations behind; everything else that it starts and makes ends with this process.
 * docs/aws-proofs.md says what this proves, and what it cannot prove.
 */

import { startEngines } from '../../test/aws/engines/start-engines.ts';
import { enginesOf, SHAPE_ENGINES } from '../../test/aws/shape/resources.ts';
import { type Shape, startShape } from '../../test/aws/shape/shape.ts';
import { STEPS } from '../../test/scenario/scenario.ts';
import { openSession } from '../../test/scenario/session.ts';
import { readCommandLine } from './command-line.ts';

/** The length of the schedule's minute during the scenario: shortened, because some steps wait for it. */
const MINUTE_MS = 5_000;

const USAGE = `usage:
  npm run aws:local             ends with the scenario: exit code 0, or 1
  npm run aws:local -- --keep   stays up afterwards, until Ctrl-C`;

const { keep } = readCommandLine(USAGE, { keep: { type: 'boolean', default: false } }, 'no words').values;
let hasPassed = false;
for (const [signal, exitCode] of Object.entries({ SIGINT: 130, SIGTERM: 143 })) {
  process.on(signal, () => {
    console.log('\nStopping …');
    process.exit(hasPassed ? 0 : exitCode);
  });
}

const startedMs = performance.now();
const places = enginesOf((await startEngines((line) => console.log(line))).states);
if (places === null)
  console.error(`This needs all of ${SHAPE_ENGINES.join(', ')}: install what is missing, and try again.`);
else await run(await startShape({ engines: places, minuteMs: MINUTE_MS }));
// The engines keep the event loop alive, so the process must end explicitly.
process.exit(hasPassed ? 0 : 1);

async function run(shape: Shape): Promise<void> {
  say(startedMs, 'the functions are built, wired and started, and the first operator key is made');
  const session = openSession(shape);
  for (const step of STEPS) {
    const stepStartedMs = performance.now();
    try {
      await step.run(session);
    } catch (error) {
      console.log(shape.log.join('\n'));
      console.error(error);
      say(stepStartedMs, `FAILED: ${step.says}`);
      return;
    }
    say(stepStartedMs, step.says);
  }
  console.log(`${STEPS.length} steps in ${seconds(startedMs)}.`);
  hasPassed = true;
  if (!keep) return;
  console.log(whereItIs(shape));
  await new Promise(() => undefined);
}

function whereItIs({ readBaseUrl, writeBaseUrl, operatorKey }: Shape): string {
  return `
reads         ${readBaseUrl}
writes        ${writeBaseUrl}
operator key  ${operatorKey}

  curl ${readBaseUrl}/api/v1/markets
  curl -H 'Authorization: Bearer ${operatorKey}' ${writeBaseUrl}/api/v1/me

Ctrl-C stops it, and removes everything.`;
}

function say(sinceMs: number, sentence: string): void {
  console.log(`${seconds(sinceMs).padStart(8)}  ${sentence}`);
}

function seconds(sinceMs: number): string {
  return `${((performance.now() - sinceMs) / 1000).toFixed(1)} s`;
}
