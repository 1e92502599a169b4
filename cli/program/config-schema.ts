/**
 * The schema of the configuration file. In a separate file, because zod loads slowly and most users have no configuration file.
 */
import * as z from 'zod';
import { flattenIssues, pointerOf } from '../../contract/values/zod-pointers.ts';

const httpUrl = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:/.test(text), { error: 'must be an http or https URL' });

const profileSchema = z.strictObject({
  /** The base URL of the public reads, e.g. `https://data.example`. */
  url: httpUrl,
  /** The base URL of the write API; default: the same URL. */
  writeUrl: httpUrl.optional(),
  key: z.string().min(1).optional(),
  /** The host of the storage for large files, if it is not the service itself: `bucket.s3.eu-central-1.amazonaws.com`. */
  uploadHost: z.string().min(1).optional(),
  /** A file that contains only the key. */
  keyFile: z.string().min(1).optional(),
});

const configSchema = z.strictObject({
  /** The profile to use if none is named. */
  default: z.string().optional(),
  profiles: z.record(z.string(), profileSchema),
});

export type ProfileSettings = z.infer<typeof profileSchema>;
export type ConfigFile = z.infer<typeof configSchema>;

/** The configuration, or all of its faults, each with its place. */
export function checkConfig(json: unknown): { readonly config: ConfigFile } | { readonly faults: readonly string[] } {
  const parsed = configSchema.safeParse(json);
  if (parsed.success) return { config: parsed.data };
  return {
    faults: flattenIssues(parsed.error.issues).map(({ path, message }) => `${pointerOf(path) || '/'}: ${message}`),
  };
}
