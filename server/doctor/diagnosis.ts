/** The outcome of one check of `tidemark doctor`. */
export interface Diagnosis {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'fault';
  readonly detail: string;
  /** The remedy; null if none is needed. */
  readonly hint: string | null;
}

export function ok(check: string, detail: string): Diagnosis {
  return { check, state: 'ok', detail, hint: null };
}

export function warning(check: string, detail: string, hint: string): Diagnosis {
  return { check, state: 'warning', detail, hint };
}

export function fault(check: string, detail: string, hint: string): Diagnosis {
  return { check, state: 'fault', detail, hint };
}

/** An error of a check becomes its finding. */
export async function diagnose(
  check: string,
  hint: string,
  work: () => Promise<Diagnosis | readonly Diagnosis[]>,
): Promise<readonly Diagnosis[]> {
  try {
    return [await work()].flat();
  } catch (error) {
    return [fault(check, (error as Error).message, hint)];
  }
}
