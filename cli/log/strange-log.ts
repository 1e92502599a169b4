/** The messages for a log other than the one that this user has stored for the base URL: by its keys, or by its entries. */
import { nameOfKey } from '../../contract/log/notes.ts';
import { CHECKPOINT_URL } from '../../publisher/verify/log/log-files.ts';
import type { Finding } from '../../publisher/verify/report.ts';
import { isLoopbackName } from '../program/profile.ts';

/** Whether the finding says that no known key has signed the checkpoint, or that one of its signatures is wrong. */
export function isSignatureFault({ rule, url }: Pick<Finding, 'rule' | 'url'>): boolean {
  return rule === 'signature' && url === CHECKPOINT_URL;
}

/**
 * Lines for a person. Empty if the log names one of the stored keys, or no key that can be read: then another log is not the
 * cause.
 *
 * @param readKeys reads the keys that the log names
 * @param known the stored keys
 * @param memory the file that stores them
 */
export async function wordsOnStrangeLog(
  url: URL,
  readKeys: () => Promise<readonly string[]>,
  known: readonly string[],
  memory: string,
): Promise<readonly string[]> {
  const shown = await readKeys().catch(() => []);
  if (shown.length === 0 || shown.some((vkey) => known.includes(vkey))) return [];
  return [
    `Expected at ${url.origin} is a key that was seen there before, as ${memory} remembers it:`,
    ...known.map((vkey) => `  ${nameOfKey(vkey)}`),
    'The log there now names:',
    ...shown.map((vkey) => `  ${nameOfKey(vkey)}`),
    ...(isLoopbackName(url.hostname) ? whyHere(url) : WHY_ELSEWHERE),
  ];
}

/** On the user's own machine, a new data folder is the likely cause. */
const whyHere = (url: URL) => [
  'If you have made its data folder anew, it has a new log. To remember that one instead:',
  `  tidemark verify ${url.origin} --log --new-log`,
  'Otherwise it is an alarm: somebody else signs there, or another server has the port.',
];

const WHY_ELSEWHERE = [
  'This is an alarm: somebody else may answer there. Ask its operator through another channel. If its key was replaced, give the new one',
  'with --log-key. Only if it has begun a new log on purpose, repeat `tidemark verify --log` with --new-log.',
];

/** Lines for a person. With the same key, a log that was discarded and begun again looks like a log that was rewritten. */
export const wordsOnFork = (url: URL): readonly string[] => [
  'If its operator has discarded a trial, and begun the log again with the same key, remember the new log instead:',
  `  tidemark verify ${url.href} --log --new-log`,
  'Everybody who has checked the trial sees a fork, too: for readers, begin the log with a new key (tidemark log keys new).',
  'Otherwise it is an alarm: ask its operator through another channel.',
];
