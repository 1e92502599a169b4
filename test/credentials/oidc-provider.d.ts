/** The part of oidc-provider that the tests use. The package has no types. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Client {
    readonly clientId: string;
  }

  export class Provider {
    constructor(issuer: string, configuration: unknown);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    readonly Client: { find(id: string): Promise<Client> };
    readonly Grant: new (
      properties: object,
    ) => {
      addOIDCScope(scope: string): void;
      addResourceScope(resource: string, scope: string): void;
      save(): Promise<string>;
    };
    readonly AuthorizationCode: new (
      properties: object,
    ) => { save(): Promise<string> };
  }
}
