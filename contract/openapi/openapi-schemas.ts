/** Converts zod schemas to JSON Schema. A named schema appears once, under `components`; elsewhere it is a reference. */
import * as z from 'zod';
import { recordSourceUrlSchema } from '../ingest/ingest-records.ts';
import { canonicalJson, type Json } from '../values/canonical-json.ts';
import { instantSchema, sourceUrlSchema } from '../values/metric.ts';

/** A request has the schema's input type: members with defaults may be left out. A response has its output type. */
export type Direction = 'input' | 'output';

type SchemaNames = ReadonlyMap<z.ZodType, string>;

export interface DocumentSchemas {
  /** A reference if the schema has a name; else the schema itself. */
  toJson(schema: z.ZodType, direction: Direction): { readonly [name: string]: Json };
  /** Every named schema that {@link toJson} has converted, ordered by name. */
  components(): { readonly [name: string]: Json };
}

/** A schema with defaults differs between requests and responses, so each direction has its own names. */
export function createDocumentSchemas(names: { readonly [Way in Direction]: SchemaNames }): DocumentSchemas {
  const registries = { input: registryOf(names.input), output: registryOf(names.output) };
  const components = new Map<string, Json>();

  function add(name: string, schema: Json): void {
    const before = components.get(name);
    if (before !== undefined && canonicalJson(before) !== canonicalJson(schema)) {
      throw new Error(`${name} names two schemas: give the schema of requests and that of responses different names`);
    }
    components.set(name, schema);
  }

  return {
    toJson(schema, direction) {
      const metadata = registries[direction];
      const { $schema: _, $defs = {}, ...own } = z.toJSONSchema(schema, { io: direction, metadata, override: finish });
      for (const [name, definition] of Object.entries($defs)) add(name, withReferences(definition));
      return withReferences(own) as { readonly [name: string]: Json };
    },
    components: () => Object.fromEntries([...components].sort(([left], [right]) => (left < right ? -1 : 1))),
  };
}

function registryOf(names: SchemaNames): z.core.$ZodRegistry<{ id: string }> {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of names) registry.add(schema, { id });
  return registry;
}

/** `sourceUrlSchema` in one pattern: absolute http or https, characters of RFC 3986, no user name or password. */
const SOURCE_URL = (() => {
  const other = "[A-Za-z0-9._~:/?#\\[\\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2}";
  const authority = "[A-Za-z0-9._~:\\[\\]!$&'()*+,;=-]|%[0-9A-Fa-f]{2}";
  return `^[Hh][Tt][Tt][Pp][Ss]?://(${authority})+([/?#](${other})*)?$`;
})();

/** With a registry of names, zod does not read the global registry, which holds the descriptions. */
function finish({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: z.core.JSONSchema.BaseSchema }) {
  // The full pattern of an instant has 300 characters, because it knows leap years. A short pattern replaces it, and a
  // reference needs no pattern beside it.
  if (zodSchema === instantSchema || zodSchema._zod.parent === instantSchema) delete jsonSchema.allOf;
  if (zodSchema === instantSchema) {
    Object.assign(jsonSchema, {
      format: 'date-time',
      maxLength: 29,
      pattern: 'T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?(Z|\\+00:00)$',
    });
  }
  if ([zodSchema, zodSchema._zod.parent].some((one) => one === sourceUrlSchema || one === recordSourceUrlSchema)) {
    Object.assign(jsonSchema, { format: 'uri', pattern: SOURCE_URL, maxLength: 2048 });
  }
  if (jsonSchema.type === 'string' && jsonSchema.maxLength === undefined) {
    const maxLength = jsonSchema.format === 'date' ? 'YYYY-MM-DD'.length : longestOf(jsonSchema.pattern ?? '');
    if (maxLength !== null) jsonSchema.maxLength = maxLength;
  }
  // Without a format, generators treat an integer as 32 bits.
  if (jsonSchema.type === 'integer') jsonSchema.format = 'int64';
  if (jsonSchema.type === 'array' && zodSchema instanceof z.ZodArray && zodSchema.element instanceof z.ZodEnum) {
    jsonSchema.maxItems ??= zodSchema.element.options.length;
  }
  Object.assign(jsonSchema, z.globalRegistry.get(zodSchema));
}

/** The length of the longest text that matches a pattern; null for a pattern with more than characters and repetitions. */
function longestOf(pattern: string): number | null {
  const part = '(?:\\\\.|\\[[^\\]]+\\]|[\\w-])(?:\\{(?:\\d+,)?(\\d+)\\})?';
  if (!new RegExp(`^\\^(${part})+\\$$`).test(pattern)) return null;
  const parts = pattern.slice(1, -1).matchAll(new RegExp(part, 'g'));
  return [...parts].reduce((sum, [, times = '1']) => sum + Number(times), 0);
}

/**
 * zod puts definitions beside each schema; an OpenAPI document has one place for all. OpenAPI 3.1 allows other keywords
 * beside a reference, but many tools drop them or fail, so such a reference is wrapped.
 */
function withReferences(converted: object): Json {
  return JSON.parse(JSON.stringify(converted), (_, value) => {
    if (typeof value?.$ref !== 'string') return value;
    const { $ref, ...beside } = value;
    const reference = { $ref: $ref.replace('#/$defs/', '#/components/schemas/') };
    return Object.keys(beside).length === 0 ? reference : { ...beside, allOf: [reference] };
  });
}
