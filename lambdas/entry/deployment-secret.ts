import { hash } from 'node:crypto';
import {
  GetSecretValueCommand,
  type SecretsManagerClient,
  type SecretsManagerClientConfig,
} from '@aws-sdk/client-secrets-manager';

/** A client waits while the secret is fetched: three tries stay well below the 30 seconds of an HTTP API. */
export const SECRETS_CLIENT: SecretsManagerClientConfig = {
  maxAttempts: 3,
  requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
};

/** This many random letters and digits have 256 bits. */
const MIN_CHARACTERS = 43;

/**
 * The text of a secret.
 *
 * @throws TypeError for a text that could be guessed
 */
export async function fetchSecretText(client: Pick<SecretsManagerClient, 'send'>, secretArn: string): Promise<string> {
  const { SecretString: text } = await client.send(new GetSecretValueCommand({ SecretId: secretArn }));
  if (text === undefined || text.length < MIN_CHARACTERS) {
    throw new TypeError(
      `The secret ${secretArn} must be a text of at least ${MIN_CHARACTERS} random letters and digits: generate a new one.`,
    );
  }
  return text;
}

/** The master secret: the SHA-256 of its text, so that any alphabet is possible. Secrets Manager generates such a text. */
export function masterSecretOf(text: string): Uint8Array {
  return new Uint8Array(hash('sha256', text, 'buffer'));
}
