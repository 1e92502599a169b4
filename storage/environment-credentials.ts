/**
 * Credentials of a Lambda function. In bundles this stands in the place of `@aws-sdk/credential-provider-node`, which
 * would look in a dozen places (profiles, SSO, instance metadata …) that a function does not have, and carry the code
 * for each of them.
 */

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** Under the name by which the SDK's clients ask for it. They keep what it gives: Lambda never changes it. */
export function defaultProvider(): () => Promise<Credentials> {
  return async () => {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
    if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) {
      throw new Error('No credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, as Lambda does for a role.');
    }
    return {
      accessKeyId: AWS_ACCESS_KEY_ID,
      secretAccessKey: AWS_SECRET_ACCESS_KEY,
      ...(AWS_SESSION_TOKEN ? { sessionToken: AWS_SESSION_TOKEN } : {}),
    };
  };
}
