/** Collects the sources, licences and attributions of markets for a manifest: each once, and a bounded number of them. */
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { Market, Source } from '../../../contract/values/market.ts';

export type SummarisedSource = Pick<Source, 'label' | 'url' | 'publisher' | 'licence' | 'attribution'>;

/** Enough for a deployment whose markets share sources. */
const SOURCES_MAX = 1_000;

export class SourceSummary {
  readonly #sources = new Map<string, SummarisedSource>();
  readonly #licences = new Set<string>();
  #isComplete = true;
  #withoutLicence = 0;

  add({ sources }: Pick<Market, 'sources'>): void {
    for (const { label, url, publisher, licence, attribution } of sources) {
      if (licence === null) this.#withoutLicence++;
      else if (this.#licences.size < SOURCES_MAX) this.#licences.add(licence);
      const source = { label, url, publisher, licence, attribution };
      const name = canonicalJson(source as Json);
      if (this.#sources.has(name)) continue;
      if (this.#sources.size < SOURCES_MAX) this.#sources.set(name, source);
      else this.#isComplete = false;
    }
  }

  /** Sorted, so that the order of markets does not matter. */
  get sources(): readonly SummarisedSource[] {
    return [...this.#sources].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, source]) => source);
  }

  get licences(): readonly string[] {
    return [...this.#licences].sort();
  }

  /** False: there are more sources than fit. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The number of sources without a licence. A source of two markets counts twice. */
  get withoutLicence(): number {
    return this.#withoutLicence;
  }
}
