/** All test engines at once. */
import { AWS_CLI } from './aws-cli.ts';
import type { Engine, EngineStates, RunningEngine } from './engine.ts';
import { ENGINES } from './engines.ts';
import { installed } from './installation.ts';

export interface StartedEngines {
  /** Of all engines, those that are missing too. */
  readonly states: EngineStates;
  stop(): Promise<void>;
}

/** Installs what is not installed, and starts all. `say` receives, for each, the time or the missing tool. */
export async function startEngines(say: (line: string) => void): Promise<StartedEngines> {
  // Before the tests take the processors, beside which it takes minutes. The test that needs it says why it is missing.
  const installingCli = installed(AWS_CLI).catch(() => null);
  const running: RunningEngine[] = [];
  const states = await Promise.all(
    ENGINES.map(async (engine) => {
      try {
        const started = await startEngine(engine, say);
        running.push(started);
        const { stop: _, ...state } = started;
        return [engine.name, state] as const;
      } catch (error) {
        const missing = error instanceof Error ? error.message : String(error);
        say(`${labelOf(engine)}: missing: ${missing}`);
        return [engine.name, { missing, isOptional: engine.isOptional === true }] as const;
      }
    }),
  );
  await installingCli;
  return {
    states: Object.fromEntries(states),
    stop: async () => {
      await Promise.all(running.map((engine) => engine.stop()));
    },
  };
}

async function startEngine(engine: Engine, say: (line: string) => void): Promise<RunningEngine> {
  const startedAtMs = performance.now();
  const folder = await installed(engine);
  const installedAtMs = performance.now();
  const running = await engine.start(folder);
  const installing = seconds(installedAtMs - startedAtMs);
  say(`${labelOf(engine)}: installed in ${installing}, started in ${seconds(performance.now() - installedAtMs)}`);
  return running;
}

function labelOf({ name, version }: Engine): string {
  return `${name} ${version}`;
}

function seconds(durationMs: number): string {
  return `${(durationMs / 1000).toFixed(1)} s`;
}
