/** AWS's prices: USD of us-east-1, autumn 2026. docs/deploy.md shows the result for a month. */
import type { OperationCounts } from '../operations.ts';

export const PRICES = {
  /** The price of a PUT or a LIST. */
  objectPut: 0.005 / 1_000,
  /** The price of a GET or a HEAD. A DELETE costs nothing. */
  objectGet: 0.0004 / 1_000,
  ledgerWriteUnit: 0.625 / 1_000_000,
  ledgerReadUnit: 0.125 / 1_000_000,
  /** A second of a function with one virtual CPU: 1,769 MB, arm64. */
  functionSecond: 0.0000133334 * (1_769 / 1_024),
  functionRequest: 0.2 / 1_000_000,
  apiRequest: 1 / 1_000_000,
  edgeRequest: 0.01 / 10_000,
  /** The price of each function that handles a request. */
  edgeFunctionRequest: 0.1 / 1_000_000,
  /** A second of a function with 1,024 MB. */
  apiFunctionSecond: 0.0000133334,
  /** Ingested, and stored for a month. */
  logGigabyte: 0.5 + 0.03,
  tableGigabyteMonth: 0.25 + 0.2,
  /** Transferred from one region to another. */
  regionsGigabyte: 0.02,
  alarmMonth: 0.1,
  /** The price of one of our metrics, or of one of CloudFront's additional ones. */
  metricMonth: 0.3,
  /** The first three are free. */
  dashboardMonth: 3,
  secretMonth: 0.4,
  keyMonth: 1,
  /** A signature by a key other than RSA of 2,048 bits; not in the free tier. */
  signature: 0.15 / 10_000,
} as const;

/** The price of these operations. */
export function dollarsOf(counts: OperationCounts): number {
  return (
    (counts.objectPuts + counts.objectLists) * PRICES.objectPut +
    (counts.objectReads + counts.objectStats) * PRICES.objectGet +
    counts.writeUnits * PRICES.ledgerWriteUnit +
    counts.readUnits * PRICES.ledgerReadUnit
  );
}
