/** The newest price of each market with a small chart, as a page for the frames of other sites, and as oEmbed. */
import { marketFiles } from '../../core/market-files/market-files.ts';

export const embeds = marketFiles({
  name: 'embeds',
  kinds: ['embed', 'embed-json'],
  async load() {
    const { embedTexts, embedSettingsIn } = await import('./embed.ts');
    return { textsOf: embedTexts, settingsIn: embedSettingsIn };
  },
  needBaseUrl: ['embed-json'],
});
