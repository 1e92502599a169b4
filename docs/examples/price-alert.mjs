/**
 * Prints a line each time the price of a market crosses a limit. It follows the log: one small request in 15 seconds,
 * however many markets there are. It needs `tidemark-client` (docs/clients.md): node price-alert.mjs gold-usd 4000
 */
import { Tidemark } from 'tidemark-client';

const [slug = 'gold-usd', limit = '4000', url = 'http://127.0.0.1:8787'] = process.argv.slice(2);
const tidemark = new Tidemark({ url });

// The log is read from its end on. It is read before the price, so no change between the two is missed.
const since = await tidemark.logSize();
let side = await sideOfLimit();
for await (const { entry } of tidemark.changes({ since, follow: true })) {
  // An entry is a new value, a correction or a retraction: the market itself says which price stands now.
  if (entry !== null && entry.market === slug) side = await sideOfLimit(side);
}

/** `above` or `below`. An unknown price crosses nothing. */
async function sideOfLimit(before) {
  const { price } = (await tidemark.market(slug)).metrics;
  if (price?.decimal == null) return before;
  const now = Number(price.decimal) >= Number(limit) ? 'above' : 'below';
  if (now !== before)
    console.log(
      `${price.observedAt} ${slug} is ${now} ${limit}: ${price.decimal} ${price.currency}, ${price.sourceUrl}`,
    );
  return now;
}
