/** The newest price of each market as an image, and as an endpoint of shields.io, for READMEs and other people's pages. */
import { marketFiles } from '../../core/market-files/market-files.ts';

export const badges = marketFiles({
  name: 'badges',
  kinds: ['badge', 'badge-json'],
  load: async () => ({ textsOf: (await import('./badge.ts')).badgeTexts }),
});
