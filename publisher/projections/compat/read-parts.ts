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

export class PartReader {
  /** The part of each market that has files. Null: no files have been made yet. */
  readonly index: ReadonlyMap<string, string> | null;
  readonly #context: CheckContext;
  readonly #parts = new Map<string, Promise<ReadPart>>();

  private constructor(context: CheckContext, index: ReadonlyMap<string, string> | null) {
    this.#context = context;
    this.index = index;
  }

  static async open(context: CheckContext): Promise<PartReader> {
    const response = await context.read('compat', PARTS_URL, null, false);
    const answer = response && checkAnswer(context.findings, PARTS_URL, response, compatPartsSchema);
    return new PartReader(context, answer && new Map(Object.entries(answer.value)));
  }

  /** The slugs in the files of a part. */
  async slugsOf(part: string): Promise<ReadonlySet<string>> {
    return (await this.#read(part)).slugs;
  }

  /** The sections of one market, with the URL of the file of each. Undefined: the file lacks the market. */
  async sectionsOf(slug: string) {
    const part = partOf(slug);
    const { files } = await this.#read(part);
    const urls = partNames(part).map(publicPath);
    return files.map((sections, index) => ({ url: urls[index] as string, read: sections.get(slug) }));
  }

  /** The digests of the right sections, in the order of the files: once with the code of the pair, once with the slug. */
  async expected({ market, observations }: ShownMarket) {
    const markets = (await this.slugsOf(partOf(market.slug))).size;
    const prices = new DayPrices(partDays(markets));
    prices.addAll(observations);
    return [true, false].map((isFirst) => {
      const section = sectionOf({ market, days: prices.days, isFirst, markets });
      return { isFirst, digests: digestsOf(section) };
    });
  }

  /** Checks the files that lead to the parts. Call it once. */
  async checkIndex(): Promise<void> {
    const { reader, findings } = this.#context;
    const parts = new Set<string>();
    for (const [slug, part] of this.index ?? []) {
      parts.add(part);
      if (part !== partOf(slug)) findings.add(PARTS_URL, 'link', `has ${slug} in part ${part}`);
    }
    for (const { name, text } of includeFiles([...parts].sort())) {
      const url = publicPath(name);
      const { status, body } = await reader(url);
      if (status !== 200) findings.add(url, 'status', `answered ${status}, expected 200`);
      else if (!Buffer.from(text).equals(body)) findings.add(url, 'file', `includes other parts than ${PARTS_URL}`);
    }
  }

  async #read(part: string): Promise<ReadPart> {
    let read = this.#parts.get(part);
    if (read === undefined) {
      read = this.#readFiles(part);
      this.#parts.set(part, read);
    }
    return await read;
  }

  async #readFiles(part: string): Promise<ReadPart> {
    const { reader, findings } = this.#context;
    const files: ReadonlyMap<string, ReadSection>[] = [];
    for (const format of FORMATS) {
      const name = pricesName(format, part);
      const url = publicPath(name);
      const response = await reader(url);
      if (response.status === 200) checkHeaders(findings, url, response, PUBLIC_OBJECTS[name.kind].contentType);
      else findings.add(url, 'status', `answered ${response.status}, expected 200`);
      const sections = response.status === 200 ? sectionsIn(format, part, bodyText(response)) : [];
      if (sections === null) findings.add(url, 'file', 'does not begin as files of prices do');
      const read = [...(sections ?? [])].map(([slug, { revision, text }]) => {
        return [slug, { revision, digest: sha256Hex(text) }] as const;
      });
      files.push(new Map(read));
    }
    for (const [name, schema] of [
      [quotesName(part), compatQuotesSchema],
      [changesName(part), compatChangesSchema],
    ] as const) {
      const url = publicPath(name);
      const response = await reader(url);
      const bySlug = checkAnswer<SectionsBySlug>(findings, url, response, schema)?.value ?? {};
      const read = Object.entries(bySlug).map(([slug, own]) => {
        return [slug, { revision: own.revision, digest: sha256Hex(canonicalJson(own as unknown as Json)) }] as const;
      });
      files.push(new Map(read));
    }
    return { files, slugs: new Set(files.flatMap((sections) => [...sections.keys()])) };
  }
}

type SectionsBySlug = Readonly<Record<string, { readonly revision: number }>>;

function digestsOf(section: PartSection): readonly string[] {
  return [...FORMATS, 'quotes' as const, 'changes' as const].map((format) => sha256Hex(section[format]));
}
