/** Reads the parts by GET, each once, and keeps only digests of their sections: prices of all markets would not fit in memory. */
import { compatChangesSchema, compatPartsSchema, compatQuotesSchema } from '../../../contract/bodies/compat.ts';
import { partDays } from '../../../contract/bodies/compat-limits.ts';
import { PUBLIC_OBJECTS, publicPath } from '../../../contract/files/public-objects.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { checkAnswer, checkHeaders } from '../../verify/check-body.ts';
import { bodyText } from '../../verify/check-file.ts';
import type { CheckContext } from '../../verify/projection-check.ts';
import type { ShownMarket } from '../../verify/shown-market.ts';
import { DayPrices } from './day-prices.ts';
import { changesName, FORMATS, PARTS, partNames, partOf, pricesName, quotesName } from './names.ts';
import { includeFiles, type PartSection, sectionOf, sectionsIn } from './sections.ts';

export const PARTS_URL = publicPath(PARTS);

/** A section of one file, as it was read. */
interface ReadSection {
  readonly revision: number;
  readonly digest: string;
}

interface ReadPart {
  /** The sections of the files in the order of {@link partNames}, by slug. Empty for a file that could not be read. */
  readonly files: readonly ReadonlyMap<string, ReadSection>[];
  /** The slugs in any of the files. */
  readonly slugs: ReadonlySet<string>;
}

export type PartReader = NonNullable<Awaited<ReturnType<typeof openParts>>>;

/** Null: no files have been made yet. */
export async function openParts({ read, reader, findings }: CheckContext) {
  const response = await read('compat', PARTS_URL, null, false);
  const answer = response && checkAnswer(findings, PARTS_URL, response, compatPartsSchema);
  if (answer === null) return null;
  /** The part of each market that has files. */
  const index: ReadonlyMap<string, string> = new Map(Object.entries(answer.value));
  const known = new Map<string, Promise<ReadPart>>();

  const readFiles = async (part: string): Promise<ReadPart> => {
    const files: ReadonlyMap<string, ReadSection>[] = [];
    for (const format of FORMATS) {
      const name = pricesName(format, part);
      const url = publicPath(name);
      const found = await reader(url);
      if (found.status === 200) checkHeaders(findings, url, found, PUBLIC_OBJECTS[name.kind].contentType);
      else findings.add(url, 'status', `answered ${found.status}, expected 200`);
      const sections = found.status === 200 ? sectionsIn(format, part, bodyText(found)) : [];
      if (sections === null) findings.add(url, 'file', 'does not begin as files of prices do');
      const ofFile = [...(sections ?? [])].map(([slug, { revision, text }]) => {
        return [slug, { revision, digest: sha256Hex(text) }] as const;
      });
      files.push(new Map(ofFile));
    }
    for (const [name, schema] of [
      [quotesName(part), compatQuotesSchema],
      [changesName(part), compatChangesSchema],
    ] as const) {
      const url = publicPath(name);
      const bySlug = checkAnswer<SectionsBySlug>(findings, url, await reader(url), schema)?.value ?? {};
      const ofFile = Object.entries(bySlug).map(([slug, own]) => {
        return [slug, { revision: own.revision, digest: sha256Hex(canonicalJson(own as unknown as Json)) }] as const;
      });
      files.push(new Map(ofFile));
    }
    return { files, slugs: new Set(files.flatMap((sections) => [...sections.keys()])) };
  };
  const partAt = async (part: string): Promise<ReadPart> => {
    const files = known.get(part) ?? readFiles(part);
    known.set(part, files);
    return await files;
  };
  /** The slugs in the files of a part. */
  const slugsOf = async (part: string) => (await partAt(part)).slugs;

  return {
    index,
    slugsOf,

    /** The sections of one market, with the URL of the file of each. Undefined: the file lacks the market. */
    async sectionsOf(slug: string) {
      const part = partOf(slug);
      const { files } = await partAt(part);
      const urls = partNames(part).map(publicPath);
      return files.map((sections, place) => ({ url: urls[place] as string, read: sections.get(slug) }));
    },

    /** The digests of the right sections, in the order of the files: once with the code of the pair, once with the slug. */
    async expected({ market, observations }: ShownMarket) {
      const markets = (await slugsOf(partOf(market.slug))).size;
      const prices = new DayPrices(partDays(markets));
      prices.addAll(observations);
      return [true, false].map((isFirst) => {
        const section = sectionOf({ market, days: prices.days, isFirst, markets });
        return { isFirst, digests: digestsOf(section) };
      });
    },

    /** Checks the files that lead to the parts. Call it once. */
    async checkIndex(): Promise<void> {
      for (const [slug, part] of index)
        if (part !== partOf(slug)) findings.add(PARTS_URL, 'link', `has ${slug} in part ${part}`);
      for (const { name, text } of includeFiles([...new Set(index.values())].sort())) {
        const url = publicPath(name);
        const { status, body } = await reader(url);
        if (status !== 200) findings.add(url, 'status', `answered ${status}, expected 200`);
        else if (!Buffer.from(text).equals(body)) findings.add(url, 'file', `includes other parts than ${PARTS_URL}`);
      }
    },
  };
}

type SectionsBySlug = Readonly<Record<string, { readonly revision: number }>>;

function digestsOf(section: PartSection): readonly string[] {
  return [...FORMATS, 'quotes' as const, 'changes' as const].map((format) => sha256Hex(section[format]));
}
