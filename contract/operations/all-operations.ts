/** The operations of the write API and the public reads: what the OpenAPI document describes. */
import { badgeReads } from './badge-reads.ts';
import { compatReads } from './compat-reads.ts';
import { feedReads } from './feed-reads.ts';
import { fileReads } from './file-reads.ts';
import { OPERATIONS } from './operations.ts';
import { publicReadOperations } from './public-reads.ts';

export const ALL_OPERATIONS = {
  ...publicReadOperations,
  ...compatReads,
  ...feedReads,
  ...badgeReads,
  ...fileReads,
  ...OPERATIONS,
} as const;
