/**
 * The health document of a server. Hosts of plain files have none, and are not asked: a 404 would appear as an error in the
 * browser's console.
 */
import { addressOf } from '../base-url.ts';

export interface ServiceHealth {
  readonly status: 'ok' | 'starting' | 'failing';
  /** In sentences. */
  readonly faults: readonly string[];
  /** The status in words. */
  readonly detail: string;
  /** The state of a mirror, as `GET /api/v1/mirror` gives it. Null: this host is not a mirror. */
  readonly mirror: Readonly<Record<string, unknown>> | null;
}

const DETAILS = {
  ok: 'The service answers for itself.',
  starting: 'The service is starting.',
  failing: 'The service says that it fails.',
} as const;

/** `GET /healthz`. Null: no readable answer. Never rejects. */
export async function askHealth(): Promise<ServiceHealth | null> {
  try {
    const response = await fetch(addressOf('/healthz'), { cache: 'no-store', signal: AbortSignal.timeout(10_000) });
    return parseHealth(await response.json());
  } catch {
    return null;
  }
}

/** Null: not an answer to `GET /healthz`. */
export function parseHealth(body: unknown): ServiceHealth | null {
  if (typeof body !== 'object' || body === null) return null;
  const { status, faults, of } = body as Readonly<Record<string, unknown>>;
  if (status !== 'ok' && status !== 'starting' && status !== 'failing') return null;
  const details = (Array.isArray(faults) ? faults : []).map(
    (fault) => (fault as { readonly detail?: unknown } | null)?.detail,
  );
  return {
    status,
    faults: details.filter((detail) => typeof detail === 'string'),
    detail: DETAILS[status],
    mirror: typeof of === 'string' ? { ...body } : null,
  };
}
