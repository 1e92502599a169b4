/** A reader of the published world with some answers changed, for tests of `verify`. */
import { canonicalJson, type Json } from '../../../contract/values/canonical-json.ts';
import type { PublicReader, PublicResponse } from '../../../publisher/verify/reading/reader.ts';

/** Changes the answer to one URL. */
export type Edit = (
  response: PublicResponse,
  headers?: { readonly [name: string]: string },
) => PublicResponse | Promise<PublicResponse>;

/** Reads through `reader`, with the answers to these URLs changed. */
export function damagedReader(reader: PublicReader, edits: { readonly [url: string]: Edit }): PublicReader {
  return async (url, headers) => {
    const edit = edits[url];
    const response = await reader(url, headers);
    return edit === undefined ? response : await edit(response, headers);
  };
}

/** JSON that tests change in place. */
// biome-ignore lint/suspicious/noExplicitAny: tests reach into bodies and break them
export type Loose = any;

/** Changes the body of an answer, but not of a 304. */
export function withBytes(change: (bytes: Buffer) => Buffer): Edit {
  return (response) => (response.status === 304 ? response : { ...response, body: change(Buffer.from(response.body)) });
}

export function withText(change: (text: string) => string): Edit {
  return withBytes((bytes) => Buffer.from(change(bytes.toString('utf8'))));
}

/** Changes the body and writes it in canonical form again. */
export function withBody(change: (body: Loose) => unknown): Edit {
  return withText((text) => {
    const body = JSON.parse(text) as Loose;
    change(body);
    return canonicalJson(body as Json);
  });
}

/** Sets one field of the body, named by its path, e.g. `page.nextCursor`. */
export function withField(path: string, value: Json): Edit {
  const names = path.split('.');
  const last = names.pop() as string;
  return withBody((body) => {
    names.reduce((parent, name) => parent[name], body)[last] = value;
  });
}

/** Sets a header; null removes it. */
export function withHeader(name: string, value: string | null): Edit {
  return (response) => {
    const headers = new Map(response.headers);
    if (value === null) headers.delete(name);
    else headers.set(name, value);
    return { ...response, headers };
  };
}

export function withStatus(status: number): Edit {
  return (response) => ({ ...response, status });
}
