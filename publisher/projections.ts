/** The one list of projections. To add one is a folder in projections/ and a line here. */
import type { Projector } from './kernel/projection.ts';
import { badges } from './projections/badges/projection.ts';
import { compat } from './projections/compat/projection.ts';
import { embeds } from './projections/embeds/projection.ts';
import { exports } from './projections/exports/projection.ts';
import { feeds } from './projections/feeds/projection.ts';
import { historyFiles } from './projections/history-files/projection.ts';
import { incidents } from './projections/incidents/projection.ts';
import { latest } from './projections/latest/projection.ts';
import { marketPages } from './projections/market-pages/projection.ts';
import { modified } from './projections/modified/projection.ts';
import { pages } from './projections/pages/projection.ts';
import { releases } from './projections/releases/projection.ts';
import { sources } from './projections/sources/projection.ts';
import { statics } from './projections/statics/projection.ts';

export const PROJECTORS: readonly Projector[] = [
  historyFiles,
  latest,
  modified,
  feeds,
  releases,
  sources,
  incidents,
  marketPages,
  badges,
  embeds,
  compat,
  exports,
  statics,
  pages,
];
