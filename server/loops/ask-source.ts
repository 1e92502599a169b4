/** How this process asks sources. */
import { fetchSource, INTERNET } from '../../lambdas/sources/fetch/fetch-source.ts';
import { askWithSecrets } from '../../lambdas/sources/fetch/secrets.ts';
import type { AskSource } from '../../lambdas/sources/run/dependencies.ts';
import type { EmbeddedConfig } from '../settings/config.ts';

export function sourceAsker({
  sourceHosts,
  sourceSecrets,
}: Pick<EmbeddedConfig, 'sourceHosts' | 'sourceSecrets'>): AskSource {
  const network = { ...INTERNET, internal: sourceHosts };
  return askWithSecrets(
    (request) => fetchSource(request, network),
    (name) => sourceSecrets.get(name),
  );
}
