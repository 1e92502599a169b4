/**
 * Credentials of a Lambda function. Bundles contain this instead of `@aws-sdk/credential-provider-node`, which would look
 * in a dozen places that do not exist in a function (profiles, SSO, instance metadata …), and would add the code for each
 * of them. The SDK's clients import it by this name.
 */
export { fromEnv as defaultProvider } from '@aws-sdk/credential-provider-env';
