/**
 * `npm run aws:local`: the deployment on AWS, on this machine and without an account. Installs (once, into the user's
 * cache) and starts engines that stand in for AWS, builds the Lambda functions, wires them to the engines as the stacks
 * would, and takes all of it through the scenario that every deployment must pass: a line for each step.
 *
 *     node scripts/aws-local.ts          ends with the scenario: exit code 0, or 1
 *     node scripts/aws-local.ts --keep   stays up afterwards, until Ctrl-C
 *
 * Nothing is left behind but the engines' installations. What this proves, and what it cannot, is in docs/aws-proofs.md.
 */
import { parseArgs } from 'node:util';
import { startEngines } from '../test/aws/engines/start-engines.ts';
import { type Engines, enginesOf, SHAPE_ENGINES } from '../test/aws/shape/resources.ts';
import { type Shape, startShape } from '../test/aws/shape/shape.ts';
import { STEPS } from '../test/scenario/scenario.ts';
import { openSession } from '../test/scenario/session.ts';

/** Of EventBridge, while the scenario runs: as long as this, a sweep need not be waited for. */
const MINUTE_MS = 5_000;

const { keep } = parseArgs({ options: { keep: { type: 'boolean', default: false } } }).values;
const interrupted = Promise.withResolvers<void>();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupted.resolve());

const startedMs = performance.now();
let hasPassed = false;
const engines = await startEngines((line) => console.log(line));
try {
  const places = enginesOf(engines.states);
  if (places === null)
    console.log(`This needs all of ${SHAPE_ENGINES.join(', ')}: install what is missing, and try again.`);
  else await runOn(places);
} finally {
  await engines.stop();
}
// Not left to the event loop: what was interrupted may still wait for something that has been stopped.
process.exit(hasPassed ? 0 : 1);

async function runOn(places: Engines): Promise<void> {
  const starting = startShape({ engines: places, minuteMs: MINUTE_MS });
  try {
    await Promise.race([starting.then(run), interrupted.promise]);
  } finally {
    // Also when it was interrupted while it started.
    await starting.then(
      (shape) => shape.stop(),
      () => undefined,
    );
  }
}

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
  await interrupted.promise;
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
