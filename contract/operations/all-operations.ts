/** The operations of the write API and the public reads together, for the OpenAPI document. */

import { OPERATIONS } from './operations.ts';
import { badgeReads } from './reads/badge-reads.ts';
import { compatReads } from './reads/compat-reads.ts';
import { feedReads } from './reads/feed-reads.ts';
import { fileReads } from './reads/file-reads.ts';
import { priceReads } from './reads/price-reads.ts';
import { publicReadOperations } from './reads/public-reads.ts';

export const ALL_OPERATIONS = {
  ...publicReadOperations,
  ...priceReads,
  ...compatReads,
  ...feedReads,
  ...badgeReads,
  ...fileReads,
  ...OPERATIONS,
} as const;
