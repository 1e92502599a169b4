/** Every scenario: one fault each, in a file of its own. */
import { diskFullScenario } from './disk-full.ts';
import { killScenario } from './kill.ts';
import type { Scenario } from './trial.ts';

export const SCENARIOS: readonly Scenario[] = [killScenario(), diskFullScenario];
