// OpenID Connect provider for tests: `oidc-provider` on a free port, whose people and groups the test chooses.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

export interface TestPerson {
  readonly email?: string;
  readonly email_verified?: boolean;
  readonly name?: string;
  readonly groups?: readonly string[];
}

export interface OidcServer {
  readonly issuer: string;
  /** By what the person types as login, which is also the subject. */
  readonly people: Map<string, TestPerson>;
  /** Registers the platform, whose port is known only after its start. */
  readonly allow: (base: string) => void;
  readonly close: () => Promise<void>;
}

export const clientId = 'heliograph';
export const clientSecret = 'a secret of the tests that is long enough';

/** `host` makes it another site for a browser: `localhost` or `127.0.0.1`. */
export async function startOidcServer(host: 'localhost' | '127.0.0.1'): Promise<OidcServer> {
  const people = new Map<string, TestPerson>();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}`;
  let base = 'http://localhost:1';
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: ['http://localhost:1/v3/auth/oidc/callback'],
        post_logout_redirect_uris: ['http://localhost:1/sign-in'],
        backchannel_logout_uri: 'http://localhost:1/v3/auth/oidc/back-channel-logout',
        backchannel_logout_session_required: true,
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'groups'] },
    features: { backchannelLogout: { enabled: true }, rpInitiatedLogout: { enabled: true } },
    cookies: { keys: ['a key of the tests'] },
    // It refuses to call loopback addresses, which a provider on the internet is right to do.
    fetch: (
      url: string | URL,
      { dispatcher: _, ...options }: RequestInit & { dispatcher?: unknown },
    ) => fetch(String(url).replace('http://localhost:1', base), options),
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: async () => ({ sub: id, ...people.get(id) }),
    }),
  });
  const find = provider.Client.find.bind(provider.Client);
  provider.Client.find = async (id: string) => {
    const client = await find(id);
    if (client === undefined) return client;
    const { redirectUris, postLogoutRedirectUris } = client;
    client.redirectUris = redirectUris?.map((one) => one.replace('http://localhost:1', base)) ?? [];
    client.postLogoutRedirectUris = postLogoutRedirectUris?.map((one) =>
      one.replace('http://localhost:1', base),
    );
    return client;
  };
  server.on('request', provider.callback());
  return {
    issuer,
    people,
    allow: (address) => void (base = address),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
