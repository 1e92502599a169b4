/** From zod's schemas to the document's: each that has a name once, under `components`, and by reference elsewhere. */
import * as z from 'zod';
import { canonicalJson, type Json } from './canonical-json.ts';
import { instantSchema } from './metric.ts';

/** Requests hold what a schema takes in (defaults may be left out), responses what it gives. */
export type Direction = 'input' | 'output';

type SchemaNames = ReadonlyMap<z.ZodType, string>;

export interface DocumentSchemas {
  /** The schema as it stands in the document: a reference where it has a name. */
  toJson(schema: z.ZodType, direction: Direction): { readonly [name: string]: Json };
  /** Every named schema that was met so far, in order of the names. */
  components(): { readonly [name: string]: Json };
}

/** Names are by direction: a schema with defaults is one thing in requests and another in responses. */
export function createDocumentSchemas(names: { readonly [Way in Direction]: SchemaNames }): DocumentSchemas {
  const registries = { input: registryOf(names.input), output: registryOf(names.output) };
  const components = new Map<string, Json>();

  function add(name: string, schema: Json): void {
    const before = components.get(name);
    if (before !== undefined && canonicalJson(before) !== canonicalJson(schema)) {
      throw new Error(`${name} names two schemas: give what requests and responses hold names of their own`);
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

/** With a registry of names zod looks into no other, and what schemas say of themselves is in the global one. */
function finish({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: z.core.JSONSchema.BaseSchema }) {
  // Not the calendar as a pattern of 300 characters, leap years included: nor beside the reference of one that is described.
  if (zodSchema === instantSchema || zodSchema._zod.parent === instantSchema) delete jsonSchema.allOf;
  if (zodSchema === instantSchema) {
    Object.assign(jsonSchema, { format: 'date-time', pattern: 'T\\d{2}:\\d{2}:\\d{2}(\\.\\d{1,3})?Z$' });
  }
  Object.assign(jsonSchema, z.globalRegistry.get(zodSchema));
}

/** zod refers to definitions beside the schema; in an OpenAPI document they have one place for all. */
function withReferences(converted: object): Json {
  return JSON.parse(JSON.stringify(converted), (name, value) =>
    name === '$ref' ? value.replace('#/$defs/', '#/components/schemas/') : value,
  );
}
