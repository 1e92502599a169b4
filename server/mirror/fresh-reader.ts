/** Reads from the service what the copy does not have yet. */
import type { PublicReader, PublicResponse } from '../../publisher/verify/reader.ts';
import type { MirrorWorld } from './mirror-world.ts';

/** Asks whether the body of the copy is still the newest one, so that an unchanged one is not sent again. */
export function freshReader({ upstream, copy }: Pick<MirrorWorld, 'upstream' | 'copy'>): PublicReader {
  return async (url, headers = {}) => {
    const copied = await copy.reader(url);
    const etag = copied.headers.get('etag');
    if (copied.status === 404 || etag === undefined) return await upstream(url, headers);
    const answer = await upstream(url, { ...headers, 'if-none-match': etag });
    return answer.status === 304 ? copied : answer;
  };
}

/** Remembers the answers of a reader, by URL. */
export function recorded(reader: PublicReader): { readonly reader: PublicReader; readonly answers: RecordedAnswers } {
  const answers = new Map<string, PublicResponse>();
  return {
    answers,
    reader: async (url, headers) => {
      const answer = await reader(url, headers);
      answers.set(url, answer);
      return answer;
    },
  };
}

export type RecordedAnswers = ReadonlyMap<string, PublicResponse>;
