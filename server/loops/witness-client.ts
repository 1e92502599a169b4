/** Asks a witness over HTTP. */
import { cosigner } from '../../contract/log/cosignature.ts';
import { isLoopback } from '../../lambdas/http/network.ts';
import type { Witness } from '../../publisher/core/log/cosign.ts';

const DEADLINE_MS = 10_000;
/** Cosignatures have some hundred bytes. */
const ANSWER_BYTES_MAX = 64 * 1024;

export interface WitnessAddress {
  /** The verifier key of its cosignatures. */
  readonly vkey: string;
  /** The submission prefix. */
  readonly url: string;
}

/**
 * Reads pairs of `<verifier key> <URL>`, separated by commas. Null for a malformed list: an unsupported kind of key, or a URL
 * that is neither https nor on this machine.
 */
export function parseWitnesses(text: string): readonly WitnessAddress[] | null {
  const found: WitnessAddress[] = [];
  for (const part of text.split(',')) {
    const [vkey = '', url = '', ...more] = part.trim().split(/ +/);
    const parsed = URL.parse(url);
    const isSafe = parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isLoopback(parsed.hostname));
    if (more.length > 0 || !isSafe || !isCosigner(vkey)) return null;
    found.push({ vkey, url: url.replace(/\/$/, '') });
  }
  return found;
}

function isCosigner(vkey: string): boolean {
  try {
    cosigner(vkey);
    return true;
  } catch {
    return false;
  }
}

/** @throws LogFaultError for an unsupported kind of key */
export function openWitness({ vkey, url }: WitnessAddress): Witness {
  return {
    cosigner: cosigner(vkey),
    async addCheckpoint(body) {
      const signal = AbortSignal.timeout(DEADLINE_MS);
      const response = await fetch(`${url}/add-checkpoint`, { method: 'POST', body, redirect: 'error', signal });
      let text = '';
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) {
        text += decoder.decode(chunk, { stream: true });
        if (text.length > ANSWER_BYTES_MAX) throw new RangeError(`${url} answered with too many bytes`);
      }
      return { status: response.status, body: text };
    },
  };
}
