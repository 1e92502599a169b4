/** The newest price of each market as an image, and as an endpoint of shields.io, for READMEs and other people's pages. */
import { marketFiles } from '../../core/market-files/market-files.ts';

export const badges = marketFiles({
  name: 'badges',
  kinds: ['badge', 'badge-json'],
  what: 'The newest price of each market as a badge.',
  paths: ['/badges/{slug}.svg', '/badges/{slug}.json'],
  load: async () => ({ textsOf: (await import('./badge.ts')).badgeTexts }),
});
