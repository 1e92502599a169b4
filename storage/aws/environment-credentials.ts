/**
 * Credentials of a Lambda function. Bundles contain this instead of `@aws-sdk/credential-provider-node`, which would look
 * in a dozen places that do not exist in a function (profiles, SSO, instance metadata …), and would add the code for each
 * of them.
 */

interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

/** The SDK's clients import it by this name. They keep the credentials: Lambda never changes them during a process. */
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
