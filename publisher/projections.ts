/** The one list of projections. To add one is a folder in projections/ and a line here. */
import type { Projector } from './kernel/projection.ts';
import { compat } from './projections/compat/projection.ts';
import { exports } from './projections/exports/projection.ts';
import { historyFiles } from './projections/history-files/projection.ts';
import { latest } from './projections/latest/projection.ts';
import { pages } from './projections/pages/projection.ts';
import { statics } from './projections/statics/projection.ts';

export const PROJECTORS: readonly Projector[] = [historyFiles, latest, compat, exports, statics, pages];
