import { MARKETS_URL, marketUrl, SNAPSHOT_URL } from '../../contract/files/routes.ts';

/**
 * All public bodies of a running server, by URL, without the times of its clock and the digests of what holds them. A
 * page is named by its place.
 */
export async function publishedBytes(baseUrl: string): Promise<Map<string, string>> {
  const bodies = new Map<string, string>();
  const read = async (url: string): Promise<string> => {
    const response = await fetch(baseUrl + url);
    const body = await response.text();
    if (response.status !== 200) throw new Error(`GET ${url} answered ${response.status}: ${body}`);
    const known = body.replace(
      /"(next|nextCursor|recordedAt|publishedAt|updatedAt|listDigest|root)":"[^"]*"/g,
      '"$1":""',
    );
    bodies.set(url.replace(/cursor=.*/, `page ${bodies.size}`), known);
    return body;
  };
  const follow = async (url: string): Promise<{ slug: string }[]> => {
    const items: { slug: string }[] = [];
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const text = await read(cursor === undefined ? url : `${url}?cursor=${cursor}`);
      const page = JSON.parse(text) as { data: { slug: string }[]; page: { nextCursor: string | null } };
      items.push(...page.data);
      cursor = page.page.nextCursor;
    }
    return items;
  };
  for (const { slug } of await follow(MARKETS_URL)) {
    await read(marketUrl(slug));
    await follow(`${marketUrl(slug)}/history`);
  }
  await read(SNAPSHOT_URL);
  return bodies;
}
