/** The CDK app: `npx cdk deploy --all`, after cdk.json was edited as docs/deploy.md says. */
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { ConfigurationError, readConfiguration } from './deployment/configuration.ts';
import { addDeployment } from './deployment/deployment.ts';

/** Built by tools/build/build-lambdas.ts, which cdk.json runs first. */
const BUNDLES = join(import.meta.dirname, 'build/lambdas');

try {
  const app = new App({ analyticsReporting: false });
  const configuration = readConfiguration(app.node.tryGetContext('tidemark'));
  addDeployment(app, { configuration, bundles: BUNDLES });
  app.synth();
} catch (error) {
  if (!(error instanceof ConfigurationError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
