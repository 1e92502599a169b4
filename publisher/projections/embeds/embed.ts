/**
 * The page that other sites show in a frame, and its oEmbed 1.0 answer (https://oembed.com). The page has no script,
 * follows the colours and the size of its frame, and links to the page of the market. Pure.
 */
import { ANY_MARKET_PAGE } from '../../../contract/files/object-paths.ts';
import { EMBEDS_URL, PAGES_OF_MARKETS_URL } from '../../../contract/files/routes.ts';
import { canonicalJson } from '../../../contract/values/canonical-json.ts';
import { shortMomentText } from '../../../contract/values/instants.ts';
import type { FileInput, FileSettings, MarketTexts } from '../../core/market-files/files-of-markets.ts';
import { attributionOf, readableChange, readableValue } from '../../core/market-files/readable.ts';
import { xmlText } from '../../kernel/text/xml-text.ts';
import { chartSvg } from './chart.ts';

/** The size of the frame in the oEmbed answer, in CSS pixels. */
const [WIDTH, HEIGHT] = [480, 240];

const STYLE =
  ':root{color-scheme:light dark}*{box-sizing:border-box}html,body,main{height:100%;margin:0}' +
  'main{display:flex;flex-direction:column;gap:.35rem;padding:.75rem;font:15px/1.35 system-ui,sans-serif;background:Canvas;color:CanvasText}' +
  'h1{font-size:1em;margin:0}p{margin:0}b{font-size:1.7em;line-height:1.15;font-variant-numeric:tabular-nums}' +
  'small{font-size:.85em}figure{display:flex;flex-direction:column;flex:1;min-height:3.5rem;margin:0}svg{flex:1;min-height:0;width:100%}' +
  'polyline{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round;vector-effect:non-scaling-stroke}' +
  'a,svg{color:#0a626c}@media(prefers-color-scheme:dark){a,svg{color:#62c8d3}}@media(forced-colors:active){a,svg{color:LinkText}}@media(max-height:11rem){figure{display:none}}';

export function embedTexts({ market, recent, readBaseUrl, projections }: FileInput): MarketTexts {
  const { name, slug } = market;
  const { title, metric: shown, price, unknown } = readableValue(market);
  const oembed = readBaseUrl === null ? null : `${readBaseUrl}${EMBEDS_URL}/${slug}.json`;
  const source =
    shown === null
      ? ''
      : `<p><small>as of <time datetime="${shown.observedAt}">${shortMomentText(shown.observedAt)}</time> · ` +
        `<a href="${xmlText(shown.sourceUrl)}" target="_blank" rel="noopener nofollow">${xmlText(shown.sourceLabel)}</a>` +
        [shown.status === 'final' ? null : shown.status, attributionOf(market, shown.sourceLabel)]
          .map((note) => (note === null ? '' : ` · ${xmlText(note)}`))
          .join('') +
        '</small></p>';
  const change = readableChange(recent);
  const value = `<b>${xmlText(price?.amount ?? 'unknown')}</b> <small>${xmlText(price?.per ?? unknown)}</small>`;
  const page = [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${xmlText(title)}</title>`,
    // Search engines should find the page of the market, not this one.
    '<meta name="robots" content="noindex">',
    ...(oembed === null ? [] : [`${OEMBED_LINK}${xmlText(oembed)}">`]),
    `<style>${STYLE}</style>\n</head>\n<body>\n<main>`,
    `<h1><a href="..${projections.has('market-pages') ? `${PAGES}${slug}.html` : `${ANY_MARKET_PAGE}?slug=${slug}`}" target="_blank">${xmlText(title)}</a></h1>`,
    `<p>${value}${change === null ? '' : ` <small>${xmlText(change)}</small>`}</p>`,
    chartSvg(recent),
    `${source}\n</main>\n</body>\n</html>\n`,
  ].join('\n');
  if (readBaseUrl === null) return { embed: page };
  return { embed: page, 'embed-json': canonicalJson(oembedOf(name, slug, readBaseUrl)) };
}

function oembedOf(title: string, slug: string, readBaseUrl: string) {
  // The URL of the file, which every host serves at this path.
  const src = xmlText(`${readBaseUrl}${EMBEDS_URL}/${slug}.html`);
  return {
    type: 'rich',
    version: '1.0',
    title,
    provider_name: new URL(readBaseUrl).host,
    provider_url: readBaseUrl,
    width: WIDTH,
    height: HEIGHT,
    html:
      `<iframe src="${src}" title="${xmlText(title)}" width="${WIDTH}" height="${HEIGHT}" loading="lazy" ` +
      'sandbox="allow-popups allow-popups-to-escape-sandbox" style="border:0;max-width:100%"></iframe>',
  };
}

const PAGES = `${PAGES_OF_MARKETS_URL}/`;
const OEMBED_LINK = '<link rel="alternate" type="application/json+oembed" href="';

/** The settings in a published page: it names its oEmbed answer with the base URL, and links to the page of its market. */
export function embedSettingsIn({ embed = '' }: MarketTexts): Partial<FileSettings> {
  const hasPages = embed.includes(`<h1><a href="..${PAGES}`);
  return { readBaseUrl: readBaseUrlIn(embed), projections: new Set(hasPages ? ['market-pages'] : []) };
}

function readBaseUrlIn(embed: string): string | null {
  const start = embed.indexOf(OEMBED_LINK);
  if (start < 0) return null;
  const [href = ''] = embed.slice(start + OEMBED_LINK.length).split('"', 1);
  const url = href.replaceAll('&amp;', '&');
  const readBaseUrl = url.slice(0, url.lastIndexOf(`${EMBEDS_URL}/`));
  return URL.canParse(readBaseUrl) ? readBaseUrl : null;
}
