/** How far a mirror is behind its service. */
import * as z from 'zod';
import { LOG_ROOT } from '../../contract/files/public-objects.ts';
import { SNAPSHOT_URL } from '../../contract/files/routes.ts';
import { parseCheckpoint } from '../../contract/log/checkpoint.ts';
import { LogFaultError } from '../../contract/log/log-fault-error.ts';
import { boundedReader, DEFAULT_READ_LIMITS } from '../../publisher/verify/bounded-reader.ts';
import { counted, durationInWords } from '../terminal/words.ts';
import { type Diagnosis, diagnose, fault, ok, warning } from './diagnosis.ts';

/** As `GET /api/v1/mirror` answers; a later version may say more. */
const documentSchema = z.object({
  of: z.string(),
  state: z.string(),
  generation: z.int().nullable(),
  ageSeconds: z.number().nullable(),
  log: z.object({ origin: z.string(), size: z.int() }).nullable(),
});

/** A round takes some seconds, and caches keep answers for 15. */
const OLD_SECONDS = 120;
const LOOK = "Look at the mirror's own log lines: docs/mirror.md.";

/** @param service the service that it should mirror; null: whichever it names */
export async function examineMirror(
  mirror: URL,
  service: URL | null,
  timeoutSeconds: number,
): Promise<readonly Diagnosis[]> {
  const limits = { ...DEFAULT_READ_LIMITS, timeoutMs: timeoutSeconds * 1000 };
  const get = async (path: string, base: URL): Promise<string> => {
    const { status, body } = await boundedReader(base, limits)(path);
    if (status === 200) return new TextDecoder().decode(body);
    throw new Error(`GET ${base.origin}${path} failed: ${status}`);
  };
  return await diagnose('mirror', 'Does a mirror of Tidemark run there?', async () => {
    const document = documentSchema.parse(JSON.parse(await get('/api/v1/mirror', mirror)));
    const { of, state, generation, ageSeconds, log } = document;
    const { origin } = service ?? new URL(of);
    if (of !== origin) return fault('mirror', `it copies ${of}, not ${origin}`, 'Name the mirror of this service.');
    if (state === 'forked') {
      return fault('mirror', `the log of ${of} contradicts itself`, 'See fork-evidence.json in its folder.');
    }
    if (generation === null || ageSeconds === null) return warning('mirror', 'its first copy is not complete', LOOK);
    const newest = z.object({ generation: z.int() }).parse(JSON.parse(await get(SNAPSHOT_URL, new URL(origin))));
    const behind = [counted(Math.max(0, newest.generation - generation), 'generation')];
    if (log !== null) {
      const size = sizeOf(await get(`${LOG_ROOT}/checkpoint`, new URL(origin)));
      if (size !== null) behind.push(counted(Math.max(0, size - log.size), 'entry', 'entries'));
    }
    const detail = `${state}, confirmed ${durationInWords(ageSeconds)} ago; behind by ${behind.join(' and ')}`;
    if (state === 'faulty') return fault('mirror', detail, LOOK);
    return ageSeconds > OLD_SECONDS ? warning('mirror', detail, LOOK) : ok('mirror', detail);
  });
}

/** Of a checkpoint whose signature the mirror checks. */
function sizeOf(note: string): number | null {
  try {
    return parseCheckpoint(note.slice(0, note.lastIndexOf('\n\n') + 1)).size;
  } catch (error) {
    if (error instanceof LogFaultError) return null;
    throw error;
  }
}
