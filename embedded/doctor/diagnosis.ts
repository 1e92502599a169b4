/** The outcome of one check of `tidemark doctor`. */
export interface Diagnosis {
  readonly check: string;
  readonly state: 'ok' | 'warning' | 'fault';
  readonly detail: string;
  /** What to do about it; null if nothing is to be done. */
  readonly mend: string | null;
}

export function ok(check: string, detail: string): Diagnosis {
  return { check, state: 'ok', detail, mend: null };
}

export function warning(check: string, detail: string, mend: string): Diagnosis {
  return { check, state: 'warning', detail, mend };
}

export function fault(check: string, detail: string, mend: string): Diagnosis {
  return { check, state: 'fault', detail, mend };
}

/** An error of a check becomes its finding. */
export async function diagnose(
  check: string,
  mend: string,
  work: () => Promise<Diagnosis | readonly Diagnosis[]>,
): Promise<readonly Diagnosis[]> {
  try {
    return [await work()].flat();
  } catch (error) {
    return [fault(check, (error as Error).message, mend)];
  }
}
