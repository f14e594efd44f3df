// Interface 4.9, 4.10, 5 and RFC 6749: the token endpoint over real HTTP, every way to ask right and wrong.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AccessWorld, type OAuthActing, startAccessWorld, tokenPath } from './access-world.ts';

let at: AccessWorld;
let client: OAuthActing;

beforeAll(async () => {
  at = await startAccessWorld();
  client = await at.client({ permissions: { asset: ['read'] } });
});
afterAll(() => at.close());

const formType = { 'content-type': 'application/x-www-form-urlencoded' };
const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString();
const ask = (body: string, headers: Record<string, string> = {}) =>
  at.nobody.call('POST', tokenPath, body, { ...formType, ...headers });
const grant = { grant_type: 'client_credentials' };

type Case = readonly [name: string, () => { body: string; headers?: Record<string, string> }];
const id = () => client.clientId;
const secret = () => client.clientSecret;
const inForm = () => ({ ...grant, client_id: id(), client_secret: secret() });

describe('a token is issued', () => {
  const cases: Case[] = [
    ['for id and secret as form fields', () => ({ body: form(inForm()) })],
    [
      'for HTTP Basic',
      () => ({ body: form(grant), headers: { authorization: basic(id(), secret()) } }),
    ],
    [
      'for Basic in lower case',
      () => ({
        body: form(grant),
        headers: { authorization: basic(id(), secret()).replace('Basic', 'basic') },
      }),
    ],
    [
      'for Basic with the same client_id in the form',
      () => ({
        body: form({ ...grant, client_id: id() }),
        headers: { authorization: basic(id(), secret()) },
      }),
    ],
    [
      'for Basic whose parts are percent-encoded',
      () => ({
        body: form(grant),
        headers: {
          authorization: basic(
            id().replaceAll('-', '%2D'),
            secret().replaceAll('-', '%2D').replaceAll('_', '%5f'),
          ),
        },
      }),
    ],
    [
      'for Basic beside an empty client_secret field',
      () => ({
        body: `${form(grant)}&client_secret=`,
        headers: { authorization: basic(id(), secret()) },
      }),
    ],
    [
      'with a charset in the content type',
      () => ({
        body: form(inForm()),
        headers: { 'content-type': 'application/x-www-form-urlencoded; charset=UTF-8' },
      }),
    ],
    [
      'with a content type in capitals',
      () => ({
        body: form(inForm()),
        headers: { 'content-type': 'APPLICATION/X-WWW-FORM-URLENCODED' },
      }),
    ],
    [
      'whatever scope is asked for',
      () => ({ body: form({ ...inForm(), scope: 'openid everything' }) }),
    ],
    [
      'with fields nobody knows',
      () => ({ body: form({ ...inForm(), audience: 'x', foo: 'bar' }) }),
    ],
    [
      'with fields in another order',
      () => ({ body: form({ client_secret: secret(), ...grant, client_id: id() }) }),
    ],
    [
      'with a percent-encoded grant_type',
      () => ({ body: form(inForm()).replace('client_credentials', 'client%5Fcredentials') }),
    ],
  ];
  test.each(cases)('%s', async (_, request) => {
    const { body, headers } = request();
    const answer = await ask(body, headers);
    expect([answer.status, answer.body]).toEqual([
      200,
      { access_token: expect.any(String), expires_in: 900, token_type: 'Bearer' },
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(answer.headers.get('pragma')).toBe('no-cache');
    const read = await at.nobody.call(
      'GET',
      `/v3/assets?organizationId=${at.world.organizationId}`,
      undefined,
      {
        authorization: `Bearer ${answer.body.access_token}`,
      },
    );
    expect(read.status).toBe(200);
  });
});

describe('a token is refused', () => {
  const withBasic = (authorization: string, body = form(grant)) => ({
    body,
    headers: { authorization },
  });
  const refusals: (readonly [
    string,
    number,
    string,
    () => { body: string; headers?: Record<string, string> },
  ])[] = [
    [
      'without grant_type',
      400,
      'invalid_request',
      () => ({ body: form({ client_id: id(), client_secret: secret() }) }),
    ],
    [
      'with an empty grant_type',
      400,
      'invalid_request',
      () => ({ body: form({ ...inForm(), grant_type: '' }) }),
    ],
    [
      'for grant_type password',
      400,
      'unsupported_grant_type',
      () => ({ body: form({ ...inForm(), grant_type: 'password' }) }),
    ],
    [
      'for grant_type refresh_token',
      400,
      'unsupported_grant_type',
      () => ({ body: form({ ...inForm(), grant_type: 'refresh_token' }) }),
    ],
    [
      'for grant_type authorization_code',
      400,
      'unsupported_grant_type',
      () => ({ body: form({ ...inForm(), grant_type: 'authorization_code' }) }),
    ],
    [
      'for a grant_type in capitals',
      400,
      'unsupported_grant_type',
      () => ({ body: form({ ...inForm(), grant_type: 'CLIENT_CREDENTIALS' }) }),
    ],
    [
      'with grant_type twice',
      400,
      'invalid_request',
      () => ({ body: `${form(inForm())}&grant_type=client_credentials` }),
    ],
    [
      'with client_id twice',
      400,
      'invalid_request',
      () => ({ body: `${form(inForm())}&client_id=${id()}` }),
    ],
    [
      'with client_secret twice',
      400,
      'invalid_request',
      () => ({ body: `${form(inForm())}&client_secret=x` }),
    ],
    [
      'with any field twice',
      400,
      'invalid_request',
      () => ({ body: `${form(inForm())}&scope=a&scope=b` }),
    ],
    ['without client', 401, 'invalid_client', () => ({ body: form(grant) })],
    [
      'without secret',
      401,
      'invalid_client',
      () => ({ body: form({ ...grant, client_id: id() }) }),
    ],
    [
      'without id',
      401,
      'invalid_client',
      () => ({ body: form({ ...grant, client_secret: secret() }) }),
    ],
    [
      'for an empty secret',
      401,
      'invalid_client',
      () => ({ body: form({ ...inForm(), client_secret: '' }) }),
    ],
    [
      'for a wrong secret',
      401,
      'invalid_client',
      () => ({ body: form({ ...inForm(), client_secret: 'wrong' }) }),
    ],
    [
      'for a secret with one letter more',
      401,
      'invalid_client',
      () => ({ body: form({ ...inForm(), client_secret: `${secret()}x` }) }),
    ],
    [
      'for a secret with one letter less',
      401,
      'invalid_client',
      () => ({ body: form({ ...inForm(), client_secret: secret().slice(0, -1) }) }),
    ],
    [
      'for an unknown client',
      401,
      'invalid_client',
      () => ({ body: form({ ...inForm(), client_id: 'nobody' }) }),
    ],
    [
      'for the record id in place of the clientId',
      401,
      'invalid_client',
      () => ({ body: form({ ...inForm(), client_id: client.id }) }),
    ],
    [
      'for the clientId in capitals',
      401,
      'invalid_client',
      () => ({ body: form({ ...inForm(), client_id: id().toUpperCase() }) }),
    ],
    [
      'for an id of SQL',
      401,
      'invalid_client',
      () => ({ body: form({ ...inForm(), client_id: `' or 1=1 --` }) }),
    ],
    [
      'for an id with NUL',
      401,
      'invalid_client',
      () => ({ body: form({ ...inForm(), client_id: `${id()}\0` }) }),
    ],
    [
      'for an id of 2,000 letters',
      401,
      'invalid_client',
      () => ({ body: form({ ...inForm(), client_id: 'x'.repeat(2_000) }) }),
    ],
    ['for a wrong secret by Basic', 401, 'invalid_client', () => withBasic(basic(id(), 'wrong'))],
    [
      'for Basic without colon',
      401,
      'invalid_client',
      () => withBasic(`Basic ${Buffer.from('nocolon').toString('base64')}`),
    ],
    ['for Basic without secret', 401, 'invalid_client', () => withBasic(basic(id(), ''))],
    ['for Basic without id', 401, 'invalid_client', () => withBasic(basic('', secret()))],
    ['for Basic that is no base64', 401, 'invalid_client', () => withBasic('Basic !!!')],
    ['for an empty Basic', 401, 'invalid_client', () => withBasic('Basic ')],
    [
      'for Basic with a broken percent sequence',
      401,
      'invalid_client',
      () => withBasic(basic(id(), '%zz')),
    ],
    [
      'for a bearer token in place of Basic',
      401,
      'invalid_client',
      () => withBasic(`Bearer ${client.token}`, form(inForm())),
    ],
    ['for Digest', 401, 'invalid_client', () => withBasic('Digest username="x"')],
    [
      'for Basic and a client_secret field',
      400,
      'invalid_request',
      () => withBasic(basic(id(), secret()), form(inForm())),
    ],
    [
      'for Basic and another client_id',
      400,
      'invalid_request',
      () => withBasic(basic(id(), secret()), form({ ...grant, client_id: 'other' })),
    ],
    ['for parameters in the URL alone', 401, 'invalid_client', () => ({ body: '' })],
    [
      'for a JSON body',
      400,
      'invalid_request',
      () => ({ body: JSON.stringify(inForm()), headers: { 'content-type': 'application/json' } }),
    ],
    [
      'for a multipart body',
      400,
      'invalid_request',
      () => ({ body: 'x', headers: { 'content-type': 'multipart/form-data; boundary=x' } }),
    ],
    [
      'for a body of plain text',
      400,
      'invalid_request',
      () => ({ body: form(inForm()), headers: { 'content-type': 'text/plain' } }),
    ],
    [
      'for a form of 20 KiB',
      400,
      'invalid_request',
      () => ({ body: form({ ...inForm(), pad: 'x'.repeat(20_480) }) }),
    ],
  ];
  test.each(refusals)('%s', async (name, status, error, request) => {
    const { body, headers } = request();
    const answer = name.includes('URL')
      ? await at.nobody.call('POST', `${tokenPath}?${form(inForm())}`, '', formType)
      : await ask(body, headers);
    expect([answer.status, answer.body]).toEqual([
      status,
      { error, error_description: expect.any(String) },
    ]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(JSON.stringify(answer.body)).not.toContain(secret());
    const challenged = headers !== undefined && 'authorization' in headers && status === 401;
    if (challenged) expect(answer.headers.get('www-authenticate')).toContain('Basic');
  });
});

describe('discovery and keys', () => {
  const discovery = '/realms/api-keys/.well-known/openid-configuration';
  test('discovery names issuer, endpoints, grants and methods', async () => {
    const { body } = await at.nobody.call('GET', discovery);
    expect(body).toMatchObject({
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    });
    expect(body.token_endpoint).toBe(body.issuer + tokenPath.replace('/realms/api-keys', ''));
    expect(new URL(body.jwks_uri).pathname).toBe('/realms/api-keys/protocol/openid-connect/certs');
    expect(body.issuer.endsWith('/realms/api-keys')).toBe(true);
  });
  test('the published keys hold no private part, and one of them signed the token', async () => {
    const { body } = await at.nobody.call('GET', '/realms/api-keys/protocol/openid-connect/certs');
    for (const key of body.keys)
      expect(Object.keys(key).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    const head = JSON.parse(Buffer.from(client.token.split('.')[0]!, 'base64url').toString());
    expect(head).toEqual({ alg: 'ES256', kid: expect.any(String), typ: 'at+jwt' });
    expect(body.keys.map((key: { kid: string }) => key.kid)).toContain(head.kid);
  });
  test('the token names issuer, client and organization, and lives 900 seconds', () => {
    const claims = JSON.parse(Buffer.from(client.token.split('.')[1]!, 'base64url').toString());
    expect(claims).toMatchObject({
      sub: client.clientId,
      client_id: client.clientId,
      organizationId: at.world.organizationId,
    });
    expect(claims.exp - claims.iat).toBe(900);
  });
});

describe('the life of a client', () => {
  const use = (token: string) =>
    at.nobody.call('GET', `/v3/assets?organizationId=${at.world.organizationId}`, undefined, {
      authorization: `Bearer ${token}`,
    });

  test('interface 4.9: the record shows everything but the secret', async () => {
    const record = await at.owner.must('GET', `/v3/oauth-clients/${client.id}`);
    expect(Object.keys(record).sort()).toEqual(
      'allWorkspaces clientId created description id name organizationId permissions tokenUrl workspaces'.split(
        ' ',
      ),
    );
    expect(new URL(record.tokenUrl).pathname).toBe(tokenPath);
    expect(record.permissions).toEqual({ organization: ['read'], asset: ['read'] });
    const all = await at.owner.must(
      'GET',
      `/v3/oauth-clients?organizationId=${at.world.organizationId}`,
    );
    expect(all).toContainEqual(record);
    expect(JSON.stringify(all)).not.toContain(client.clientSecret);
  });
  test('interface 5 rule 8: the old secret stops immediately, issued tokens remain valid', async () => {
    const rotating = await at.client();
    expect((await use(rotating.token)).status).toBe(200);
    const rotated = await at.owner.must('POST', `/v3/oauth-clients/${rotating.id}/rotate-secret`);
    expect(rotated).toEqual({
      id: rotating.id,
      clientId: rotating.clientId,
      clientSecret: expect.any(String),
    });
    const get = (client_secret: string) =>
      ask(form({ ...grant, client_id: rotating.clientId, client_secret }));
    expect((await get(rotating.clientSecret)).status).toBe(401);
    expect((await get(rotated.clientSecret)).status).toBe(200);
    expect((await use(rotating.token)).status).toBe(200);
  });
  test('interface 5 rule 9: a deleted client gets no token, and those it has are refused', async () => {
    const leaving = await at.client();
    expect((await use(leaving.token)).status).toBe(200);
    expect((await at.owner.call('DELETE', `/v3/oauth-clients/${leaving.id}`)).status).toBe(204);
    const refused = await use(leaving.token);
    expect([refused.status, refused.body.message]).toEqual([401, 'invalid token']);
    const { body } = await ask(
      form({ ...grant, client_id: leaving.clientId, client_secret: leaving.clientSecret }),
    );
    expect(body.error).toBe('invalid_client');
    expect((await at.owner.call('GET', `/v3/oauth-clients/${leaving.id}`)).status).toBe(404);
  });
  test('interface 5 rule 4: a client for one workspace reaches no other', async () => {
    const here = await at.client({ workspaces: [{ id: at.secondWorkspaceId }] });
    expect((await here.call('GET', `/v3/assets?workspaceId=${at.secondWorkspaceId}`)).status).toBe(
      200,
    );
    expect((await here.call('GET', `/v3/assets?workspaceId=${at.world.workspaceId}`)).status).toBe(
      403,
    );
    expect((await here.call('GET', `/v3/assets?workspaceId=${at.otherWorkspaceId}`)).status).toBe(
      404,
    );
    const reach = await here.must('GET', '/v3/workspace-access?scope=ASSET&verb=READ');
    expect(reach).toEqual({ all: false, ids: [at.secondWorkspaceId] });
  });
  test('interface 2.7: a pair that does not apply is refused with the valid ones', async () => {
    const draft = {
      name: 'x',
      organizationId: at.world.organizationId,
      permissions: { billing: ['delete'] },
    };
    for (const path of ['/v3/oauth-clients', '/v3/api-keys']) {
      const { status, body } = await at.owner.call('POST', path, draft);
      expect([status, body.errorCode]).toEqual([400, '40060_INVALID_PERMISSIONS']);
      expect(body.message).toContain('billing: read, manage');
    }
  });
  test('interface 4.9: neither a key nor a token manages clients, not even one with every permission', async () => {
    for (const machine of [await at.key(), await at.client()]) {
      expect((await machine.call('GET', '/v3/oauth-clients')).status).toBe(403);
      expect(
        (
          await machine.call('POST', '/v3/oauth-clients', {
            name: 'x',
            organizationId: at.world.organizationId,
          })
        ).status,
      ).toBe(403);
      expect(
        (await machine.call('POST', `/v3/oauth-clients/${client.id}/rotate-secret`)).status,
      ).toBe(403);
    }
  });
});
