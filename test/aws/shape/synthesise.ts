/**
 * Prints the templates of a deployment: JSON, each with its stack's name. A process of its own, since CDK is at it for
 * seconds, in which the thread is blocked. Argument: the folder with a folder for each function's bundle.
 */
import { appOf, MINIMAL } from '../../infra/synthesised.ts';

const [bundles = ''] = process.argv.slice(2);
const { stacks } = appOf(MINIMAL, bundles).synth();
console.log(JSON.stringify(stacks.map(({ stackName, template }) => [stackName, template])));
