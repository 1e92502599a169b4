/**
 * A source recipe: one JSON document with the location of data, its schedule, and its mapping to observations. Comments and
 * trailing commas are allowed. `docs/sources.md` has an example; this is the reference.
 *
 * A recipe contains no secret, only names of secrets, because it is sent to the service, listed and stored.
 */
import * as z from 'zod';
import { cadenceSchema } from '../../contract/freshness/cadence.ts';
import { neverPublicIn } from '../../contract/values/public-text.ts';
import { flattenIssues, pointerOf } from '../../contract/values/zod-pointers.ts';
import { plainWords } from '../../contract/values/zod-words.ts';
import { csvMappingSchema, type MappingFault } from '../declared/csv-mapping.ts';
import { findReferenceFaults, requiredColumns } from '../declared/mapping-references.ts';
import { isFaulty, type MappingFaults, readJsonc, withUnfilled } from '../declared/parse-jsonc.ts';
import { RUN_DATE } from '../values/template.ts';
import { headerFault, withoutSecretParameters, withSecrets } from './recipe-secrets.ts';
import { hostnamePattern, isInternalOrigin, recipeUrl, URL_DATE, urlFault } from './recipe-url.ts';
import { scheduleSchema } from './schedule.ts';

const MIB = 1024 * 1024;

/** The most answers of a list that a run compares. */
export const LISTED_ANSWERS_MAX = 10;

const note = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .refine((text) => text.isWellFormed(), { error: 'holds half of a surrogate pair' });

/** It becomes a template of the mapping, so it must not contain placeholders. */
const sourceText = (most: number) =>
  note(most)
    .regex(/^[^{}]*$/, { error: 'must not have a brace' })
    .nullable()
    .default(null);

/** The URL of a recipe may also be the `sourceUrl` of its values. */
function withPublicUrl(mapping: z.infer<typeof csvMappingSchema>): z.infer<typeof csvMappingSchema> {
  const { observation } = mapping;
  return { ...mapping, observation: { ...observation, sourceUrl: withoutSecretParameters(observation.sourceUrl) } };
}

/** The fault of a header value with private text outside its placeholders, because recipes are listed. Null: none. */
function secretTextFault(value: string): string | null {
  const found = neverPublicIn(withSecrets(value, () => ''));
  return found === null ? null : `must not hold ${found}: recipes are kept and listed`;
}

const limitsSchema = z.strictObject({
  /** The limit of the answer: as sent, decoded and unpacked. It is completely in memory. */
  maxBytes: z
    .int()
    .min(1)
    .max(64 * MIB)
    .default(16 * MIB),
  /** The limit of all archived answers of the source. At the limit, the source is not asked until the limit is raised. */
  archiveBytes: z
    .int()
    .min(1)
    .max(1024 * 1024 * MIB)
    .default(10 * 1024 * MIB),
  /** The time limit of the whole answer, including redirects. */
  timeoutSeconds: z.int().min(1).max(300).default(60),
});

export const recipeSchema = z.strictObject({
  /** Names the source in the API, on the command line and in run records. */
  name: z
    .string()
    .max(60)
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, { error: 'must be lower-case words joined by single hyphens' }),
  /** For people: the contents, the publisher, and every peculiarity. */
  description: note(1000),
  /**
   * An https URL. `${NAME}` as the value of a parameter is a secret of the service, see `docs/sources.md`. `{date}` stands for
   * the day of the run in UTC, YYYY-MM-DD; the host must be written out.
   */
  url: z.string().max(2048),
  /**
   * The hosts that may be asked: the host of `url`, and those to which it may redirect. Exact names, no wildcards. An internal
   * host is written with scheme and port, such as `http://prices:8080`; the service asks it only if its operator names it in
   * TIDEMARK_SOURCE_HOSTS.
   */
  hosts: z
    .array(
      z
        .string()
        .max(300)
        .refine((host) => hostnamePattern.test(host) || isInternalOrigin(host), {
          error:
            'must be the name of a public host in lower case, such as example.org, or an internal one with scheme and port, such as http://prices:8080',
        }),
    )
    .min(1)
    .max(10),
  /** Sent to the host of `url`, and to no other. A value may have secrets: `"authorization": "Bearer ${NAME}"`. */
  headers: z
    .record(
      z.string().regex(/^[a-z0-9-]{1,60}$/, { error: 'must be the name of a header in lower case' }),
      z.string().regex(/^[!-~][ -~]{0,499}$/, { error: 'must be printable ASCII, at most 500 characters' }),
    )
    .refine((headers) => Object.keys(headers).length <= 10, { error: 'has more than 10 headers' })
    .optional(),
  schedule: scheduleSchema,
  /** The packing of the file: a ZIP archive of exactly one file, or gzip. Left out: none. */
  unpack: z.enum(['zip', 'gzip']).optional(),
  mapping: csvMappingSchema.transform(withPublicUrl),
  /**
   * For a document without a history, which is valid until it changes. Only its differences from the previous answer become
   * records, and a value that equals the newest standing one of its source is not recorded again. A value that is missing in
   * `goneAfter` consecutive fetches becomes unknown (`no-longer-listed`). An answer with less than `minimumShare` of the values
   * of the previous answer is set aside as a whole.
   */
  list: z
    .strictObject({
      goneAfter: z.int().min(1).max(LISTED_ANSWERS_MAX).default(3),
      minimumShare: z.number().min(0).max(1).default(0.5),
    })
    .optional(),
  /**
   * These three apply to every source of the recipe's markets for which the mapping does not state them. `licence` is an SPDX
   * identifier, if the licence has one.
   */
  publisher: sourceText(200),
  licence: sourceText(100),
  attribution: sourceText(500),
  /** How often the source publishes, for sources whose cadence the mapping does not state. */
  cadence: cadenceSchema.nullable().default(null),
  limits: limitsSchema.prefault({}),
});

const { url, hosts, headers, mapping, list } = recipeSchema.shape;
/** The parts that refer to each other; null for a part with another fault. */
const partsSchema = z.object({
  url: url.nullable().catch(null),
  hosts: hosts.nullable().catch(null),
  headers: headers.catch(undefined),
  mapping: mapping.nullable().catch(null),
  list: list.catch(undefined),
});

export type Recipe = z.infer<typeof recipeSchema>;

export type RecipeResult = { readonly recipe: Recipe } | { readonly faults: MappingFaults };

/** Checks a recipe with its mapping. Reports all faults at once. */
export function parseRecipe(input: unknown): RecipeResult {
  const parsed = recipeSchema.safeParse(input, { error: plainWords });
  const faults = flattenIssues(parsed.error?.issues ?? []).map((issue) => ({
    pointer: pointerOf(issue.path),
    detail: issue.message,
  }));
  const all = withUnfilled(input, [...faults, ...referenceFaults(input)]);
  return isFaulty(all) ? { faults: all } : { recipe: parsed.data as Recipe };
}

/** As `parseRecipe`, from JSON with comments and trailing commas. Faults name the line of the text, too. */
export function parseRecipeText(text: string): RecipeResult {
  return readJsonc(text, parseRecipe);
}

/** The URL of a run. @param date the day of the run in UTC, `YYYY-MM-DD` */
export function urlOfRun({ url }: Recipe, date: string): string {
  return recipeUrl(url, date);
}

/** Faults that the schema alone does not find, in the parts that fulfil their schema. */
function referenceFaults(input: unknown): MappingFault[] {
  const { url, hosts, headers = {}, mapping, list } = partsSchema.safeParse(input).data ?? {};
  const faults: MappingFault[] = [];
  const ofUrl = url == null || hosts == null ? null : urlFault(url, hosts);
  if (ofUrl !== null) faults.push({ pointer: '/url', detail: ofUrl });
  for (const [name, value] of Object.entries(headers)) {
    const detail = headerFault(name, value) ?? secretTextFault(value);
    if (detail !== null) faults.push({ pointer: `/headers${pointerOf([name])}`, detail });
  }
  if (mapping == null) return faults;
  if (url != null && requiredColumns(mapping).has(RUN_DATE) && !url.includes(URL_DATE)) {
    const detail = `has no ${URL_DATE}, so its answer need not be of {${RUN_DATE}}, as the mapping says`;
    faults.push({ pointer: '/url', detail });
  }
  if (list === undefined && ['fetchedAt', 'lastModified'].some((column) => requiredColumns(mapping).has(column))) {
    const detail = 'is missing: without it, each fetch would record every value again, with its own moment';
    faults.push({ pointer: '/list', detail });
  }
  const ofMapping = findReferenceFaults(mapping);
  return [...faults, ...ofMapping.map(({ pointer, detail }) => ({ pointer: `/mapping${pointer}`, detail }))];
}
