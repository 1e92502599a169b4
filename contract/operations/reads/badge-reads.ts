/** The public reads for other sites' pages: badges and embeds. */
import * as z from 'zod';
import { slugSchema } from '../../values/market.ts';
import { publicReads, textFile } from '../operation.ts';
import { SWITCHED } from './feed-reads.ts';

const params = z.strictObject({ slug: slugSchema });
const problems = ['market-removed'] as const;

/** `GET /badges/{slug}.json`: https://shields.io/badges/endpoint-badge */
const badgeSchema = z.strictObject({
  schemaVersion: z.literal(1),
  label: z.string().describe('The name of the market; with that of the metric unless it is the price.'),
  message: z
    .string()
    .describe('The newest price and its day, for people; `unknown` if it is not known. The wording may change.'),
  color: z.enum(['blue', 'orange', 'lightgrey']).describe('`orange`: disputed. `lightgrey`: unknown, or retired.'),
  cacheSeconds: z.literal(300).describe('The shortest time that shields.io caches it, in seconds.'),
});

/** `GET /embed/{slug}.json`: https://oembed.com, section 2.3. */
const oembedSchema = z.strictObject({
  type: z.literal('rich'),
  version: z.literal('1.0'),
  title: z.string().describe('The name of the market.'),
  provider_name: z.string().describe('The host of the service.'),
  provider_url: z.url().describe('The base URL of the service.'),
  width: z.int().positive().describe('CSS pixels.'),
  height: z.int().positive().describe('CSS pixels.'),
  html: z.string().describe('An `iframe` of the embed.'),
});

const html =
  '<iframe src="https://data.example/embed/gold-usd.html" title="Gold, US dollar" width="480" height="240" loading="lazy" ' +
  'sandbox="allow-popups allow-popups-to-escape-sandbox" style="border:0;max-width:100%"></iframe>';

export const badgeReads = publicReads({
  getBadge: {
    path: '/badges/{slug}.svg',
    summary: 'Show the newest price of one market as an image',
    description: `For READMEs and pages of others. ${SWITCHED('badges')}`,
    params,
    success: textFile('The badge', 'image/svg+xml', 'SVG, UTF-8.'),
    problems,
    example: { params: { slug: 'gold-usd' }, response: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
  },
  getBadgeEndpoint: {
    path: '/badges/{slug}.json',
    summary: 'Show the newest price of one market by an endpoint of shields.io',
    description: SWITCHED('badges'),
    params,
    success: { status: 200, description: 'The endpoint', body: badgeSchema },
    problems,
    example: {
      params: { slug: 'gold-usd' },
      response: {
        schemaVersion: 1,
        label: 'Gold, US dollar',
        message: '4,129.10 USD (2026-09-29)',
        color: 'blue',
        cacheSeconds: 300,
      },
    },
  },
  getOembed: {
    path: '/embed/{slug}.json',
    summary: 'Describe the embed of one market as oEmbed does',
    description:
      'The page at `/embed/{slug}` is for an `iframe` of any site: price, change, day, source, and a line of the last 31 prices, without ' +
      `a script. Published if the deployment knows its base URL. ${SWITCHED('embeds')}`,
    params,
    success: { status: 200, description: 'The answer of oEmbed 1.0', body: oembedSchema },
    problems,
    example: {
      params: { slug: 'gold-usd' },
      response: {
        ...{ type: 'rich', version: '1.0', title: 'Gold, US dollar', provider_name: 'data.example' },
        ...{ provider_url: 'https://data.example', width: 480, height: 240, html },
      },
    },
  },
});
