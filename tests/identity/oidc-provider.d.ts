// Types of the package oidc-provider, as far as the tests use it.
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http';

  interface Client {
    redirectUris?: string[] | undefined;
    postLogoutRedirectUris?: string[] | undefined;
  }
  export default class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    readonly Client: { find: (id: string) => Promise<Client | undefined> };
    callback(): RequestListener;
  }
}
