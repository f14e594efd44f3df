// Token requests: form fields and client authentication of the token endpoint (RFC 6749, interface 4.10).

export interface TokenRequest {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Whether the client authenticated by HTTP Basic, which an error must answer in kind. */
  readonly basic: boolean;
}

/** An error of RFC 6749 section 5.2. */
export interface TokenRefusal {
  readonly status: 400 | 401;
  readonly error: 'invalid_request' | 'invalid_client' | 'unsupported_grant_type';
  readonly description: string;
  readonly basic: boolean;
}

const fieldLengthMax = 1_000;

/** `form` is the body as received; `authorization` the header, if any. */
export function readTokenRequest(
  form: string,
  authorization: string | undefined,
): TokenRequest | TokenRefusal {
  const basic = authorization !== undefined;
  const refuse = (error: TokenRefusal['error'], description: string): TokenRefusal => {
    return { status: statusOf(error), error, description, basic };
  };
  const fields = new URLSearchParams(form);
  for (const name of new Set(fields.keys())) {
    if (fields.getAll(name).length > 1)
      return refuse('invalid_request', `${shown(name)} was sent more than once`);
  }
  // A parameter without a value counts as absent (RFC 6749 section 3.2).
  const field = (name: string) => fields.get(name) || undefined;
  const client = basic ? basicClient(authorization, field) : formClient(field);
  if ('problem' in client) return refuse(client.error, client.problem);
  const grantType = field('grant_type');
  if (grantType === undefined) return refuse('invalid_request', 'grant_type is required');
  if (grantType !== 'client_credentials') {
    return refuse('unsupported_grant_type', 'Unsupported grant_type. Use client_credentials.');
  }
  return { ...client, basic };
}

function statusOf(error: TokenRefusal['error']): 400 | 401 {
  return error === 'invalid_client' ? 401 : 400;
}

type Client = { readonly clientId: string; readonly clientSecret: string };
type ClientProblem = {
  readonly error: 'invalid_request' | 'invalid_client';
  readonly problem: string;
};
type Field = (name: string) => string | undefined;

function formClient(field: Field): Client | ClientProblem {
  const clientId = field('client_id');
  const clientSecret = field('client_secret');
  if (clientId === undefined || clientSecret === undefined) {
    return { error: 'invalid_client', problem: 'Client authentication is required' };
  }
  return checked({ clientId, clientSecret });
}

function basicClient(authorization: string, field: Field): Client | ClientProblem {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization)?.[1];
  const text = Buffer.from(encoded ?? '', 'base64').toString('utf8');
  const at = text.indexOf(':');
  if (at < 1)
    return {
      error: 'invalid_client',
      problem: 'The Authorization header contains no client ID and secret',
    };
  // Both parts are form-encoded before they are joined (RFC 6749 section 2.3.1).
  const clientId = formDecoded(text.slice(0, at));
  const clientSecret = formDecoded(text.slice(at + 1));
  if (clientId === undefined || clientSecret === undefined || clientSecret === '') {
    return {
      error: 'invalid_client',
      problem: 'The Authorization header contains no client ID and secret',
    };
  }
  if (field('client_secret') !== undefined) {
    return {
      error: 'invalid_request',
      problem: 'Authenticate with either the Authorization header or client_secret, not both',
    };
  }
  const named = field('client_id');
  if (named !== undefined && named !== clientId) {
    return {
      error: 'invalid_request',
      problem: 'client_id does not match the Authorization header',
    };
  }
  return checked({ clientId, clientSecret });
}

function checked(client: Client): Client | ClientProblem {
  if (client.clientId.length <= fieldLengthMax && client.clientSecret.length <= fieldLengthMax)
    return client;
  return {
    error: 'invalid_client',
    problem: 'Unknown client or incorrect secret (RFC 6749 error: invalid_client)',
  };
}

function formDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

/**
 * A name sent by the client, safe to repeat in `error_description` (printable ASCII without quote
 * and backslash).
 */
function shown(name: string): string {
  return name.slice(0, 40).replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, '?');
}
