/** Each market as a page for people: it can be read without a script, and the script of the site takes over from there. */
import { ANY_MARKET_PAGE } from '../../../contract/files/object-paths.ts';
import { marketFiles } from '../../core/market-files/market-files.ts';

export const marketPages = marketFiles({
  name: 'market-pages',
  kinds: ['market-page'],
  nameRevision: true,
  frameFile: ANY_MARKET_PAGE.slice(1),
  async load() {
    const { pageTexts, pageSettingsIn } = await import('./market-page.ts');
    return { textsOf: pageTexts, settingsIn: pageSettingsIn };
  },
});
