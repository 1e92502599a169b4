/** From zod schemas to JSON Schema. A named schema stands once under `components`; elsewhere it is a reference. */
import * as z from 'zod';
import { canonicalJson, type Json } from './canonical-json.ts';
import { instantSchema } from './metric.ts';

/**
 * A request has the type that a schema takes in: defaults may be left out. A response has the type that it gives out.
 */
export type Direction = 'input' | 'output';

type SchemaNames = ReadonlyMap<z.ZodType, string>;

export interface DocumentSchemas {
  /** A reference if the schema has a name; else the schema itself. */
  toJson(schema: z.ZodType, direction: Direction): { readonly [name: string]: Json };
  /** Every named schema that {@link toJson} has met, ordered by name. */
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
      const converted = z.toJSONSchema(schema, { io: direction, metadata, override: finish });
      const { $schema: _, $defs = {}, ...own } = withReferences(converted) as Converted;
      for (const [name, definition] of Object.entries($defs)) add(name, definition);
      return own;
    },
    components: () => Object.fromEntries([...components].sort(([left], [right]) => (left < right ? -1 : 1))),
  };
}

interface Converted {
  readonly [name: string]: Json;
  readonly $defs: { readonly [name: string]: Json };
}

function registryOf(names: SchemaNames): z.core.$ZodRegistry<{ id: string }> {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of names) registry.add(schema, { id });
  return registry;
}

/** With a registry of names, zod does not look into the global registry, which holds the descriptions. */
function finish({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: z.core.JSONSchema.BaseSchema }) {
  // The full pattern of an instant has 300 characters, because it knows leap years. A short pattern replaces it, and a
  // reference needs no pattern beside it.
  if (zodSchema === instantSchema || zodSchema._zod.parent === instantSchema) delete jsonSchema.allOf;
  if (zodSchema === instantSchema) {
    Object.assign(jsonSchema, { format: 'date-time', pattern: 'T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$' });
  }
  Object.assign(jsonSchema, z.globalRegistry.get(zodSchema));
}

/** zod puts definitions beside each schema; an OpenAPI document has one place for all. */
function withReferences(converted: object): Json {
  return JSON.parse(JSON.stringify(converted), (name, value) =>
    name === '$ref' ? value.replace('#/$defs/', '#/components/schemas/') : value,
  );
}
