/** The requests that the servers are compared by, and the ratios to nginx that are the targets. */
import { MARKETS_URL, marketUrl } from '../../contract/routes.ts';

export interface ReadCase {
  readonly title: string;
  /** One path; or how many markets are asked for, each with the same probability. */
  readonly asked: { readonly path: string } | { readonly markets: number };
  readonly headers: Readonly<Record<string, string>>;
  /** Asks again for what the server has named, so that it answers 304. */
  readonly revalidates: boolean;
  /** Requests per second of processor time, to those of nginx. */
  readonly target: number | null;
  /** One turn under load. Not less than an object stays fresh, where objects expire during it. */
  readonly seconds: number;
}

/** Below 1,000 bytes: neither the edge nor CloudFront compresses it. */
export const MARKET = marketUrl('gold-usd');

const SECONDS = 3;
const plain = { headers: {}, revalidates: false, target: null, seconds: SECONDS } as const;

export const HOT: ReadCase = { ...plain, title: 'one market', asked: { path: MARKET }, target: 1 };

/** Of a quick run: one of each kind. */
export const QUICK_TITLES = [HOT.title, 'one market, 304', 'list page, br', '1,000 markets'];

export const READ_CASES: readonly ReadCase[] = [
  HOT,
  { ...plain, title: 'one market, 304', asked: { path: MARKET }, revalidates: true, target: 0.8 },
  {
    ...plain,
    title: 'list page, br',
    asked: { path: MARKETS_URL },
    headers: { 'Accept-Encoding': 'br' },
    target: 0.9,
  },
  { ...plain, title: 'list page, plain', asked: { path: MARKETS_URL } },
  { ...plain, title: '1,000 markets', asked: { markets: 1_000 }, target: 0.9 },
  { ...plain, title: '100,000 markets', asked: { markets: 100_000 }, target: 0.6, seconds: 16 },
];
