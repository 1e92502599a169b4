/** Every scenario: one fault each, in a file of its own. */
import { clockScenario } from './clock.ts';
import { descriptorsScenario } from './descriptors.ts';
import { diskFullScenario } from './disk-full.ts';
import { idleConnectionsScenario } from './idle-connections.ts';
import { killScenario } from './kill.ts';
import { readOnlyScenario } from './read-only.ts';
import { slowDiskScenario } from './slow-disk.ts';
import { slowReadersScenario } from './slow-readers.ts';
import type { Scenario } from './trial.ts';

export const SCENARIOS: readonly Scenario[] = [
  killScenario(),
  diskFullScenario,
  readOnlyScenario,
  slowDiskScenario,
  clockScenario,
  descriptorsScenario,
  idleConnectionsScenario,
  slowReadersScenario,
];
