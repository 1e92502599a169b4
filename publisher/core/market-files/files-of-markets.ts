/** The files that a projection has for each market. */

import type { MarkedPrices } from '../../../contract/bodies/recent-prices.ts';
import type { Projection } from '../../../contract/files/projections.ts';
import { type PublicObjectName, publicPath } from '../../../contract/files/public-objects.ts';
import type { Market } from '../../../contract/values/market.ts';

/** Kinds with one file for each market. */
export type MarketFileKind = Extract<PublicObjectName, { readonly slug: string }>['kind'];

/** Settings of the deployment for these files. */
export interface FileSettings {
  /** The base URL of the service for readers, without a slash at the end. Null: it is not known. */
  readonly readBaseUrl: string | null;
  readonly projections: ReadonlySet<Projection>;
  /** The text of `frameFile`. Null: no file needs it, or the deployment has no site. */
  readonly frame: string | null;
}

/** The data that a file may depend on. */
export interface FileInput extends FileSettings {
  /** Without the name of the representative: the log has only its digest. */
  readonly market: Omit<Market, 'representedBy' | 'representedBySalt'>;
  /** The last prices, oldest first. */
  readonly recent: MarkedPrices;
}

/** Texts by kind. A kind that is left out has no file. */
export type MarketTexts = { readonly [Kind in MarketFileKind]?: string };

/** Pure. */
export interface FileForms {
  readonly textsOf: (shown: FileInput) => MarketTexts;
  /** The settings that published texts contain. Absent: they contain no settings. */
  readonly settingsIn?: (texts: MarketTexts) => Partial<FileSettings>;
}

export interface FilesOfMarkets {
  /** The setting that switches them on, and the name of the projection. */
  readonly name: Projection;
  readonly kinds: readonly MarketFileKind[];
  /** Loaded when a generation or a check needs it. */
  readonly load: () => Promise<FileForms>;
  /** The page of the site into which the contents of these files are inserted. */
  readonly frameFile?: string;
  /** Whether the texts contain the revision of the market: then no later revision has the same bytes. */
  readonly nameRevision?: true;
  /** Kinds that exist only if the base URL is known. */
  readonly needBaseUrl?: readonly MarketFileKind[];
}

export const nameOfFile = (kind: MarketFileKind, slug: string): PublicObjectName =>
  ({ kind, slug }) as PublicObjectName;

export const urlOfFile = (kind: MarketFileKind, slug: string): string => publicPath(nameOfFile(kind, slug));
