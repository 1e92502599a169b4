/** The key of the state in a target. It is an age identity (https://age-encryption.org/v1), so `age -d` opens the file, too. */
import { StartError } from '../service/start-error.ts';
import type { Environment } from '../settings/config.ts';
import { readGivenSecret } from '../settings/given-secret.ts';

export interface StateKey {
  /** The origin of the key, for messages. */
  readonly place: string;
  /** Newest first. The first one encrypts. */
  readonly identities: readonly [string, ...string[]];
  /**
   * The recipient of the newest identity. It is secret, too: its owner can make files that the identity opens. No public file
   * contains it.
   */
  readonly recipient: string;
}

const age = () => import('age-encryption');

export async function newStateKey(): Promise<string> {
  return await (await age()).generateX25519Identity();
}

/**
 * Reads `TIDEMARK_STATE_KEY`, or the file that `TIDEMARK_STATE_KEY_FILE` names: age identities, one a line, newest first.
 *
 * @throws StartError if the key is missing or malformed
 */
export async function readStateKey(environment: Environment): Promise<StateKey> {
  const given = readGivenSecret(environment, 'TIDEMARK_STATE_KEY');
  if (given === null) {
    throw new StartError(
      'There is no key for the state in the target: set TIDEMARK_STATE_KEY to one that `tidemark state keys new` has made.',
    );
  }
  const { place, text } = given;
  const lines = text.split('\n').map((line) => line.trim());
  // Lines of the form that age-keygen writes.
  const [newest, ...older] = lines.filter((line) => line !== '' && !line.startsWith('#'));
  try {
    const { identityToRecipient } = await age();
    const recipient = await identityToRecipient(newest ?? '');
    for (const identity of older) await identityToRecipient(identity);
    return { place, identities: [newest as string, ...older], recipient };
  } catch {
    // Without the cause, which may contain a part of the key.
    throw new StartError(
      `${place} holds no key of the state: it must be what \`tidemark state keys new\` prints, AGE-SECRET-KEY-1… on a line.`,
    );
  }
}
