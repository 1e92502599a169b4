/** Step Functions' executions of the one state machine: each name once, told apart by whether it still runs. */
import type { Deployed } from './stacks.ts';
import { execute, type InvokeByArn } from './state-machine.ts';

interface Execution {
  readonly startedAtMs: number;
  /** Null when it succeeded; while it runs, it has no outcome. */
  outcome?: unknown;
}

export interface Executions {
  /**
   * Starts it; tells when it was started, if it runs already.
   *
   * @throws RangeError with the name of Step Functions' own error as message
   */
  start(stateMachineArn: string, name: string): { readonly executionArn: string; readonly startedAtMs: number };
  /** By name. */
  readonly all: ReadonlyMap<string, Execution>;
}

export function openExecutions({ stateMachineArn, definition }: Deployed, invoke: InvokeByArn): Executions {
  const all = new Map<string, Execution>();
  return {
    all,
    start(askedArn, name) {
      if (askedArn !== stateMachineArn) throw new RangeError('StateMachineDoesNotExist');
      const known = all.get(name);
      if (known?.outcome !== undefined) throw new RangeError('ExecutionAlreadyExists');
      const execution: Execution = known ?? { startedAtMs: Date.now() };
      if (known === undefined) {
        all.set(name, execution);
        execute(definition, {}, invoke).then(
          () => Object.assign(execution, { outcome: null }),
          (fault: unknown) => Object.assign(execution, { outcome: fault }),
        );
      }
      const executionArn = `${stateMachineArn.replace(':stateMachine:', ':execution:')}:${name}`;
      return { executionArn, startedAtMs: execution.startedAtMs };
    },
  };
}
