/** Reads the parts by GET, each once, and keeps digests of their sections: prices of all markets would not fit in memory. */
import { compatChangesSchema, compatPartsSchema, compatQuotesSchema } from '../../../contract/bodies/compat.ts';
import { partDays } from '../../../contract/bodies/compat-limits.ts';
import { PUBLIC_OBJECTS, publicPath } from '../../../contract/files/public-objects.ts';
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Market } from '../../../contract/values/market.ts';
import type { PublicObservation } from '../../../contract/values/metric.ts';
import { sha256Hex } from '../../../storage/ports/sha256.ts';
import { checkAnswer, checkHeaders, type Findings } from '../../verify/check-body.ts';
import type { PublicReader } from '../../verify/reader.ts';
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
  /** Of the files in the order of {@link partNames}, by slug. A file that could not be read has none. */
  readonly files: readonly ReadonlyMap<string, ReadSection>[];
  /** The slugs that are in any of them. */
  readonly slugs: ReadonlySet<string>;
}

/** A market at the revision that a section names, and what it was made from. */
export interface ShownMarket {
  readonly market: Market;
  /** Newest first. */
  readonly observations: readonly PublicObservation[];
}

export class PartReader {
  /** The part of each market that has files. Null: none have been made yet. */
  readonly index: ReadonlyMap<string, string> | null;
  readonly #reader: PublicReader;
  readonly #findings: Findings;
  readonly #parts = new Map<string, Promise<ReadPart>>();

  constructor(reader: PublicReader, findings: Findings, index: ReadonlyMap<string, string> | null) {
    this.#reader = reader;
    this.#findings = findings;
    this.index = index;
  }

  static async open(reader: PublicReader, findings: Findings): Promise<PartReader> {
    const response = await reader(PARTS_URL);
    const answer = response.status === 404 ? null : checkAnswer(findings, PARTS_URL, response, compatPartsSchema);
    return new PartReader(reader, findings, answer && new Map(Object.entries(answer.value)));
  }

  /** The slugs of the part with prices. */
  async slugsOf(part: string): Promise<ReadonlySet<string>> {
    return (await this.#read(part)).slugs;
  }

  /** The sections of one market, with the URL of the file of each. Undefined: the file has none. */
  async sectionsOf(slug: string) {
    const part = partOf(slug);
    const { files } = await this.#read(part);
    const urls = partNames(part).map(publicPath);
    return files.map((sections, index) => ({ url: urls[index] as string, read: sections.get(slug) }));
  }

  /** The digests of the sections that are right, in the order of the files: with the code of the pair, and with the slug. */
  async expected({ market, observations }: ShownMarket) {
    const markets = (await this.slugsOf(partOf(market.slug))).size;
    const prices = new DayPrices(partDays(markets));
    prices.addAll(observations);
    return [true, false].map((isFirst) => {
      const section = sectionOf({ market, days: prices.days, isFirst, markets });
      return { isFirst, digests: digestsOf(section) };
    });
  }

  /** Checks what leads to the parts. To be called once. */
  async checkIndex(): Promise<void> {
    const parts = new Set<string>();
    for (const [slug, part] of this.index ?? []) {
      parts.add(part);
      if (part !== partOf(slug)) this.#findings.add(PARTS_URL, 'link', `has ${slug} in part ${part}`);
    }
    for (const { name, text } of includeFiles([...parts].sort())) {
      const url = publicPath(name);
      const { status, body } = await this.#reader(url);
      if (status !== 200) this.#findings.add(url, 'status', `answered ${status}, expected 200`);
      else if (!Buffer.from(text).equals(body))
        this.#findings.add(url, 'file', `includes other parts than ${PARTS_URL}`);
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
    const files: ReadonlyMap<string, ReadSection>[] = [];
    for (const format of FORMATS) {
      const name = pricesName(format, part);
      const url = publicPath(name);
      const response = await this.#reader(url);
      if (response.status === 200) checkHeaders(this.#findings, url, response, PUBLIC_OBJECTS[name.kind].contentType);
      else this.#findings.add(url, 'status', `answered ${response.status}, expected 200`);
      const text = Buffer.from(response.body).toString('utf8');
      const sections = response.status === 200 ? sectionsIn(format, part, text) : new Map();
      if (sections === null) this.#findings.add(url, 'file', 'does not begin as files of prices do');
      files.push(
        new Map(
          [...(sections ?? [])].map(([slug, { revision, text }]) => [slug, { revision, digest: sha256Hex(text) }]),
        ),
      );
    }
    const quotesUrl = publicPath(quotesName(part));
    const quotes = checkAnswer(this.#findings, quotesUrl, await this.#reader(quotesUrl), compatQuotesSchema);
    files.push(jsonSections(quotes?.value ?? {}));
    const changesUrl = publicPath(changesName(part));
    const answer = await this.#reader(changesUrl);
    // An earlier version made no such file.
    if (answer.status !== 404) {
      const changes = checkAnswer(this.#findings, changesUrl, answer, compatChangesSchema);
      files.push(jsonSections(changes?.value ?? {}));
    }
    return { files, slugs: new Set(files.flatMap((sections) => [...sections.keys()])) };
  }
}

function jsonSections(bySlug: Readonly<Record<string, { readonly revision: number }>>) {
  return new Map(
    Object.entries(bySlug).map(([slug, own]): [string, ReadSection] => {
      return [slug, { revision: own.revision, digest: sha256Hex(canonicalJson(own as unknown as Json)) }];
    }),
  );
}

function digestsOf(section: PartSection): readonly string[] {
  return [...FORMATS, 'quotes' as const, 'changes' as const].map((format) => sha256Hex(section[format]));
}
