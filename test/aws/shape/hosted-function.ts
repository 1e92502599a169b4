/**
 * A function as Lambda runs it: invoked in an execution environment that is made for the first event and kept for those
 * that follow. A crash, a timeout, or too much memory ends the environment, and the next event is given a new one.
 *
 * Not as in Lambda: there is one environment, and other events wait for it; between events it is not frozen.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Answer, Imported, Invocation } from './execution-environment.ts';

export interface FunctionSettings {
  readonly variables: Readonly<Record<string, string>>;
  readonly memoryMegabytes: number;
  readonly timeoutSeconds: number;
}

/** The error of an invocation: its name, or Lambda's own name if the handler did not fail. */
export class FunctionError extends Error {
  constructor(name: string, message: string) {
    super(message);
    this.name = name;
  }
}

/** The figures that Lambda would report and bill. */
export interface Report {
  /** From 1 on. */
  readonly environment: number;
  readonly durationMs: number;
  /** The answer of the environment; null if it ended first. */
  readonly spent: Pick<Answer, 'cpuMs' | 'maxMegabytes'> | null;
}

export interface HostedFunction {
  /** Of the first environment; CPU time. Null before that. */
  readonly importCpuMs: number | null;
  /** Of every invocation that has ended, failed ones included. */
  readonly reports: readonly Report[];
  /** @throws FunctionError */
  invoke(event: unknown): Promise<unknown>;
  /** As `aws lambda put-function-concurrency` with 0: it takes no events. */
  isThrottled: boolean;
  /** As `aws lambda update-function-configuration`: of the events that come later. */
  update(changed: Pick<FunctionSettings, 'timeoutSeconds'>): void;
  /** As `aws lambda update-function-code`. @param bundle the path of its index.mjs */
  deploy(bundle: string): void;
  /** Ends the environment at once, even during an invocation. */
  kill(): void;
  /** Ends it permanently. Waiting invocations never run. */
  stop(): void;
}

/** The share of a function's memory for the heap. The runtime and buffers need the rest. */
const HEAP_SHARE = 0.9;
/** Lambda's limit on the event of one invocation, and on its answer. */
const PAYLOAD_BYTES = 6 * 1024 * 1024;

export interface HostOptions {
  readonly name: string;
  /** The path of its index.mjs. */
  readonly bundle: string;
  readonly settings: FunctionSettings;
  /** The variables of Lambda itself: region, credentials, and here the addresses of the engines. */
  readonly lambdaVariables: Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
}

/** Of a throttled function: the event is kept, and tried again. */
export const THROTTLED = 'TooManyRequestsException';

export function hostFunction(options: HostOptions): HostedFunction {
  const { name, lambdaVariables, log } = options;
  let { bundle, settings } = options;
  let environment: ChildProcess | null = null;
  let imported: Promise<Imported> = Promise.reject();
  imported.catch(() => undefined);
  let turn: Promise<unknown> = Promise.resolve();
  let environments = 0;
  let isStopped = false;
  let firstImportCpuMs: number | null = null;
  const reports: Report[] = [];

  function start(): ChildProcess {
    const { memoryMegabytes, variables } = settings;
    const child = fork(join(import.meta.dirname, 'execution-environment.ts'), [bundle], {
      cwd: dirname(bundle),
      env: {
        ...lambdaVariables,
        TZ: ':UTC',
        AWS_LAMBDA_FUNCTION_NAME: name,
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(memoryMegabytes),
        LAMBDA_TASK_ROOT: dirname(bundle),
        ...variables,
      },
      execArgv: [`--max-old-space-size=${Math.floor(memoryMegabytes * HEAP_SHARE)}`],
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const input of [child.stdout, child.stderr]) if (input) createInterface({ input }).on('line', log);
    child.on('error', (error) => log(`the environment failed: ${error.message}`));
    child.on('exit', () => {
      if (environment === child) environment = null;
    });
    environments++;
    imported = nextMessage<Imported>(child);
    return child;
  }

  async function invokeNow(event: unknown): Promise<unknown> {
    if (isStopped) throw new FunctionError('ResourceNotFoundException', 'the function is no more');
    environment ??= start();
    const child = environment;
    const { importCpuMs } = await imported;
    firstImportCpuMs ??= importCpuMs;
    const startedMs = Date.now();
    const deadlineMs = startedMs + settings.timeoutSeconds * 1000;
    const timer = setTimeout(() => child.kill('SIGKILL'), deadlineMs - startedMs);
    let spent: Report['spent'] = null;
    try {
      const answered = nextMessage<Answer>(child);
      child.send({ event, requestId: randomUUID(), deadlineMs } satisfies Invocation);
      const answer = await answered;
      spent = answer;
      return resultOf(answer);
    } catch (error) {
      const { name, message } = error as FunctionError;
      log(`ERROR Invoke Error ${name}: ${message}${Date.now() >= deadlineMs ? ': timed out' : ''}`);
      throw error;
    } finally {
      clearTimeout(timer);
      reports.push({ environment: environments, durationMs: Date.now() - startedMs, spent });
    }
  }

  function resultOf({ result = null, fault, maxMegabytes }: Answer): unknown {
    const { memoryMegabytes } = settings;
    if (maxMegabytes > memoryMegabytes) {
      environment?.kill('SIGKILL');
      throw new FunctionError('Runtime.OutOfMemory', `held ${Math.ceil(maxMegabytes)} MB of ${memoryMegabytes}`);
    }
    if (fault !== undefined) throw new FunctionError(fault.name, fault.message);
    checkPayload(result);
    return result;
  }

  return {
    reports,
    get importCpuMs() {
      return firstImportCpuMs;
    },
    isThrottled: false,
    async invoke(event) {
      if (this.isThrottled) throw new FunctionError(THROTTLED, 'its concurrency is 0');
      checkPayload(event);
      const invoked = turn.then(() => invokeNow(event));
      turn = invoked.catch(() => undefined);
      return await invoked;
    },
    update(changed) {
      settings = { ...settings, ...changed };
    },
    deploy(changed) {
      bundle = changed;
      environment?.kill('SIGKILL');
    },
    kill() {
      environment?.kill('SIGKILL');
    },
    stop() {
      isStopped = true;
      environment?.kill('SIGKILL');
    },
  };
}

/** Rejects when the process ends first. */
function nextMessage<Message>(child: ChildProcess): Promise<Message> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown) => {
      child.off('exit', onExit);
      resolve(message as Message);
    };
    const onExit = (code: number | null, signal: string | null) => {
      child.off('message', onMessage);
      reject(new FunctionError('Runtime.ExitError', `the environment ended with ${code ?? signal}`));
    };
    child.once('message', onMessage);
    child.once('exit', onExit);
  });
}

function checkPayload(payload: unknown): void {
  const bytes = Buffer.byteLength(JSON.stringify(payload));
  if (bytes > PAYLOAD_BYTES) throw new FunctionError('RequestTooLargeException', `${bytes} bytes are too many`);
}
