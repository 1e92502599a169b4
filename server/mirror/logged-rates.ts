/** Compares the prices that rates name with the log. */
import type { CompatRate, CompatRates } from '../../contract/files/compat.ts';
import { moneyTexts } from '../../contract/values/money-texts.ts';
import type { FoldedMarket } from '../../publisher/core/log/folded-market.ts';
import type { Findings } from '../../publisher/verify/check-body.ts';
import { DAILY_MS } from '../../publisher/verify/check-later.ts';
import type { Lateness } from '../../publisher/verify/past-market.ts';
import type { MirrorLog } from './mirror-log.ts';

/** Each price must be the newest one that the log had, at its size or not long before. @param url of the rates */
export function checkLoggedRates(
  log: MirrorLog,
  findings: Findings,
  url: string,
  { date, derived }: CompatRates,
): void {
  const lateness: Lateness = { nowMs: Date.parse(date), mostMs: DAILY_MS };
  for (const [quote, rate] of Object.entries(derived.rates)) {
    const past = log.pastOf(rate.market, derived.log?.size);
    const isLogged = [...past.revisions(lateness)].some((revision) =>
      past.at(revision).some((market) => hasPrice(market, rate)),
    );
    if (!isLogged)
      findings.add(url, 'not-in-log', `names a price of ${rate.market} for ${quote} that the log did not have`);
  }
}

function hasPrice({ record }: FoldedMarket, rate: CompatRate): boolean {
  const { latest, nativeCurrency, unit } = record(null);
  const price = latest.price?.metric;
  if (price?.kind !== 'money' || price.amountMinor === null) return false;
  const { decimal } = moneyTexts(price.amountMinor, price.currency, unit.quantity);
  const isSame = price.observedAt === rate.observedAt && decimal === rate.decimal;
  return isSame && nativeCurrency === rate.currency && unit.quantity === rate.quantity && unit.of === rate.unit;
}
