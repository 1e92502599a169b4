/** The deployment's secret, from AWS Secrets Manager. */
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
 * The master secret: the SHA-256 of the secret's text, so that any alphabet is possible. Secrets Manager generates such
 * a text.
 *
 * @throws TypeError for a text that could be guessed
 */
export function masterSecretOf(text: string | undefined): Uint8Array {
  if (text === undefined || text.length < MIN_CHARACTERS) {
    throw new TypeError(
      `The deployment's secret must be a text of at least ${MIN_CHARACTERS} random letters and digits: generate a new one.`,
    );
  }
  return new Uint8Array(hash('sha256', text, 'buffer'));
}

export async function fetchMasterSecret(
  client: Pick<SecretsManagerClient, 'send'>,
  secretArn: string,
): Promise<Uint8Array> {
  const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: secretArn }));
  return masterSecretOf(SecretString);
}
