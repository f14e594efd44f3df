// API reference: a page for readers at /docs and its document, without any request to another host.
import { readFileSync } from 'node:fs';
import type { FastifyInstance, RouteHandlerMethod } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { cookieNames } from '../../access/authenticators.ts';
import { type Endpoint, type EndpointAccess, operationIdOf } from '../../contract/endpoint.ts';
import { errorSchema } from '../../contract/error.ts';
import { problem } from '../../model/problem.ts';
import { sendJson } from './send-json.ts';
import { pathOf } from './admission.ts';
import {
  deprecatedFields,
  fieldWords,
  ownFieldWords,
  pageFieldWords,
  parameterWords,
  type Words,
} from './open-api-field-words.ts';

// Tags of the OpenAPI document: what the endpoints of each group are for.

const tagDescriptions: Readonly<Record<string, string>> = {
  'API keys':
    'Static secrets for machines, limited to an organization, to workspaces and to permissions.',
  Alarms: 'States that rules raise: one for each key, acknowledged, escalated and cleared.',
  Assets: 'Lists of devices with filters, sorting and search.',
  Assistants: 'The Model Context Protocol, for assistants that read with the permissions of a key.',
  'Audit log': 'Who changed what, when and from where.',
  Maps: 'Street maps below the devices of a workspace.',
  Blobs: 'Files of a workspace or an organization, such as pictures.',
  Capture: 'Uplinks: payloads that devices send, with an uplink secret as credential.',
  'Custom fields': 'Fields that an organization adds to its devices.',
  'Custom logic': 'Scripts of the rule engine, with inputs and properties.',
  Dashboards: 'Dashboards, their groups, and links that share them.',
  Data: 'Stored samples: raw, time series, key performance indicators, exports and backfill.',
  'Data flows': 'Connect a device connector, a device type and output connectors.',
  Deliveries: 'The log of everything that was or will be sent to output connectors.',
  'Device configurations': 'Configurations that are pushed to devices.',
  'Device connectors': 'Where devices send to: a protocol and an uplink secret.',
  'Device credentials': 'Public keys with which single devices authenticate.',
  'Device types': 'Decoders, encoders and schemas of kinds of devices.',
  Devices: 'Devices: created, changed, imported, moved and deleted, singly or in bulk.',
  Downlinks: 'Commands to devices, and the queue of those that are offline.',
  'InfluxDB senders': 'Paths that senders of InfluxDB write to, with answers in its form.',
  Integrations: 'Accounts at LoRaWAN network servers.',
  Members: 'Users of organizations and workspaces, with their roles and invitations.',
  'OAuth clients': 'Machine clients that exchange a client secret for access tokens.',
  Operation: 'Health, readiness, metrics and facts of the installation.',
  Operations: 'Progress of work that goes on after its answer.',
  Organizations: 'Organizations, their settings and quotas.',
  'Output connectors':
    'Targets of samples and of rule actions, such as webhooks, brokers and databases.',
  Places: 'Where devices are: trees of sites, buildings, floors and rooms, with plans.',
  Refusals: 'Uplinks that were not taken, with the reason, for the owners of their connectors.',
  Rules: 'Conditions on samples or on a schedule, with the actions that they trigger.',
  Scripts: 'Runs a decoder, an encoder or custom logic once, without storing anything.',
  Search: 'One search over records of every kind.',
  'Sign-in': 'Sessions of users, second factors, passkeys and the provider of the company.',
  Tags: 'Groups of devices.',
  Templates: 'Previews of the templates of output connectors and rule actions.',
  Tokens: 'Access tokens by the OAuth 2 client credentials grant.',
  Views: 'Saved filters and columns of lists.',
  Workspaces: 'Workspaces, their settings, usage and configuration as a file.',
};

const description = `IoT device data platform that ingests, decodes, stores, queries, and streams device data.

Live samples are available over the WebSocket at \`/v3/data-streams\`. Every GET endpoint also supports HEAD.`;

/**
 * The whole document; throws when two endpoints or schemas have the same name. `examples` are by
 * operation id, from `npm run examples`.
 */
export function openApiDocument(
  endpoints: readonly Endpoint[],
  examples: OperationExamples = {},
): Readonly<Record<string, unknown>> {
  const schemas = new ComponentSchemas();
  const refer = (schema: unknown) => withFieldWords(schemas.refer(schema));
  const paths: Record<string, Record<string, unknown>> = {};
  const ids = new Set<unknown>();
  for (const endpoint of endpoints) {
    const operation = operationOf(endpoint, refer, examples);
    const { operationId } = operation;
    if (ids.has(operationId))
      throw new Error(`Two endpoints have the operation id ${String(operationId)}`);
    ids.add(operationId);
    const path = (paths[documentPath(endpoint.path)] ??= {});
    path[endpoint.method.toLowerCase()] = operation;
  }
  const refused = { 'application/json': { schema: schemas.refer(errorSchema) } };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Heliograph',
      description,
      version: '3',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    // Relative, so that requests go to the address that the reader uses.
    servers: [{ url: '/', description: 'The platform that serves this document' }],
    tags: [...new Set(endpoints.map(({ tag }) => tag))]
      .sort()
      .map((name) => ({ name, description: tagDescriptions[name] ?? '' })),
    paths,
    components: {
      schemas: Object.fromEntries(
        Object.entries(schemas.all()).map(([name, schema]) => [name, withFieldWords(schema, name)]),
      ),
      responses: {
        Refused: {
          description: 'Rejected. `message` says why, and `errorCode` is stable.',
          content: refused,
        },
        Failed: { description: 'Failed. The same request can succeed later.', content: refused },
      },
      parameters: { IdempotencyKey: idempotencyKey },
      securitySchemes,
    },
  };
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Key that makes a retry safe. Within 24 hours, a request with the same key returns the first response and creates nothing.',
  schema: { type: 'string' },
};

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: cookieNames(false).session,
    description:
      'Session cookie, set by `POST /v3/auth/login`. Over https its name is `__Host-session`.',
  },
  csrf: {
    type: 'apiKey',
    in: 'header',
    name: 'x-csrf-token',
    description:
      'The `csrfToken` of the sign-in response. Required in every request by session other than GET.',
  },
  uplinkSecret: { type: 'apiKey', in: 'header', name: 'x-uplink-secret' },
  uplinkSecretParameter: { type: 'apiKey', in: 'query', name: 'secret' },
};

// Component schemas of the OpenAPI document: each named schema once, and references to it.

type Refer = (schema: unknown) => unknown;

/** Throws when two different schemas have the same name. */
class ComponentSchemas {
  readonly #components = new Map<string, { readonly schema: unknown; readonly text: string }>();
  /**
   * The schema as the document writes it: references in place of named schemas, which become
   * components.
   */
  readonly refer = (schema: unknown): unknown => {
    if (Array.isArray(schema)) return schema.map(this.refer);
    if (typeof schema !== 'object' || schema === null) return schema;
    if ('shownAs' in schema)
      return { ...describedOf(schema), ...(this.refer(schema.shownAs) as object) };
    const name = nameOf(schema);
    const members = Object.entries(schema).filter(([key]) => name === undefined || key !== 'title');
    const written = Object.fromEntries(members.map(([key, member]) => [key, this.refer(member)]));
    if (name === undefined) return written;
    const text = JSON.stringify(written);
    const known = this.#components.get(name);
    if (known === undefined) this.#components.set(name, { schema: written, text });
    else if (known.text !== text) throw new Error(`Two different schemas have the name ${name}`);
    return { $ref: `#/components/schemas/${name}` };
  };
  /** All components that were referred to so far, by name. */
  readonly all = (): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      [...this.#components]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, { schema }]) => [name, schema]),
    );
}

/** The description of a place whose schema is shown as another one. */
function describedOf(schema: object): object {
  return 'description' in schema ? { description: schema.description } : {};
}

/** A property that is called title has a schema there, not a text. */
function nameOf(schema: object): string | undefined {
  if ('title' in schema && typeof schema.title === 'string') return schema.title;
  return undefined;
}

// The page cannot connect to another server, regardless of its script.
const contentSecurityPolicy = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "worker-src 'self' blob:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Adds `/v3/openapi.json` and `/docs`; document, page and its script are created at the first request
 * for them.
 */
export function addDocs(app: FastifyInstance, endpoints: readonly Endpoint[]): void {
  let page: Promise<FastifyInstance> | undefined;
  let document: string | undefined;
  const get = (url: string, handler: RouteHandlerMethod) =>
    app.route({ method: ['GET', 'HEAD'], url, handler });
  get('/v3/openapi.json', async (request, reply) => {
    document ??= JSON.stringify(openApiDocument(endpoints, readExamples()));
    reply.serializer(passThrough);
    await sendJson(request, reply, document);
    return reply;
  });
  // Where many tools look for it.
  get('/openapi.json', async (_request, reply) => reply.redirect('/v3/openapi.json', 308));
  const serve = async (url: string) => {
    page ??= openPage();
    return (await page).inject({ method: 'GET', url });
  };
  // The page names its script from where it stands, so it must stand at a folder.
  get('/docs', async (_request, reply) => reply.redirect('/docs/', 308));
  get('/docs/*', async (request, reply) => {
    const answer = await serve(request.url);
    if (answer.statusCode === 404) {
      throw problem('noSuchRoute', { method: request.method, path: pathOf(request) });
    }
    const type = answer.headers['content-type'];
    if (type !== undefined) reply.header('content-type', type);
    reply.header('content-security-policy', contentSecurityPolicy);
    // The page of the package says neither its language nor whose it is.
    const isPage = String(type).startsWith('text/html');
    const payload = isPage ? ownPage(answer.payload) : answer.rawPayload;
    return reply.code(answer.statusCode).serializer(passThrough).send(payload);
  });
}

/** Read for the document alone, which most platforms are never asked for. */
function readExamples(): OperationExamples {
  const place = new URL('../../contract/examples.json', import.meta.url);
  return JSON.parse(readFileSync(place, 'utf8')) as OperationExamples;
}

const passThrough = (payload: unknown) => payload as string;

function ownPage(html: string): string {
  return html
    .replace(/<html[^>]*>/, '<html lang="en">')
    .replace(/<title>[^<]*<\/title>/, '<title>API reference · Heliograph</title>');
}

async function openPage(): Promise<FastifyInstance> {
  const [{ default: Fastify }, { default: reference }] = await Promise.all([
    import('fastify'),
    import('@scalar/fastify-api-reference'),
  ]);
  const page = Fastify();
  await page.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/v3/openapi.json',
      // Fonts, telemetry and the request proxy would each call another host.
      withDefaultFonts: false,
      telemetry: false,
      proxyUrl: '',
      hideClientButton: true,
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
  await page.ready();
  return page;
}

// OpenAPI operation: the part of the document that describes one endpoint.

// Words of the OpenAPI document: descriptions of the properties and parameters whose schema has none.

type Schema = Readonly<Record<string, unknown>>;

const alternatives = ['anyOf', 'oneOf', 'allOf'] as const;

/**
 * The schema with descriptions of its properties. `owner` is its name if it is a component, or the
 * property that it is the schema of.
 */
export function withFieldWords(schema: unknown, owner = ''): unknown {
  if (Array.isArray(schema)) return schema.map((member) => withFieldWords(member, owner));
  if (typeof schema !== 'object' || schema === null) return schema;
  const written: Record<string, unknown> = { ...schema };
  for (const key of ['items', 'additionalProperties', ...alternatives])
    if (key in written) written[key] = withFieldWords(written[key], owner);
  if ('patternProperties' in written)
    written['patternProperties'] = Object.fromEntries(
      Object.entries(written['patternProperties'] as Schema).map(([pattern, member]) => [
        pattern,
        withFieldWords(member, owner),
      ]),
    );
  if (typeof written['properties'] !== 'object' || written['properties'] === null) return written;
  const members = Object.entries(written['properties'] as Readonly<Record<string, unknown>>);
  const isPage = members.some(([name]) => name === 'totalPages');
  const words = isPage ? { ...fieldWords, ...pageFieldWords } : fieldWords;
  const ownName = owner.replace(/(Draft|Update|Item|Row|Summary)$/, '');
  written['properties'] = Object.fromEntries(
    members.map(([name, member]) => {
      const own = ownFieldWords[`${owner}.${name}`] ?? ownFieldWords[`${ownName}.${name}`];
      const word = own ?? wordOf(words, name);
      const worded = withWord(withFieldWords(member, name), word);
      const isOld = deprecatedFields.has(name) || deprecatedFields.has(`${owner}.${name}`);
      return [name, isOld ? { ...(worded as object), deprecated: true } : worded];
    }),
  );
  return written;
}

/** The parameter of an operation, with words if it has none. */
function withParameterWords<P extends { readonly name: string }>(parameter: P): P {
  return withWord(parameter, wordOf(parameterWords, parameter.name)) as P;
}

function wordOf(words: Words, name: string): string | undefined {
  return Object.hasOwn(words, name) ? words[name] : undefined;
}

/** What an alternative says of itself is said of the whole, where readers and generators look for it. */
function withWord(described: unknown, word: string | undefined): unknown {
  if (typeof described !== 'object' || described === null) return described;
  const schema = described as Schema;
  if ('description' in schema) return described;
  for (const key of alternatives) {
    const members = schema[key];
    if (!Array.isArray(members)) continue;
    const at = members.findIndex((member) => typeof (member as Schema)['description'] === 'string');
    if (at === -1) continue;
    const { description, ...bare } = members[at] as Schema;
    return { ...schema, [key]: members.with(at, bare), description };
  }
  if (word === undefined) return described;
  return { ...schema, description: word };
}
type Members = Readonly<Record<string, TSchema>>;

/** What tests have sent and received, by operation id. */
type OperationExamples = Readonly<
  Record<
    string,
    { readonly body?: unknown; readonly answer?: unknown; readonly errors?: readonly string[] }
  >
>;
type Example = NonNullable<OperationExamples[string]>;

const descriptions: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted. The work continues after the response.',
  204: 'No content',
  304: 'Not modified',
  302: 'Redirect',
};

/** The operation of the endpoint; `refer` puts references in place of named schemas. */
function operationOf(
  endpoint: Endpoint,
  refer: Refer,
  examples: OperationExamples,
): Readonly<Record<string, unknown>> {
  const example = examples[operationIdOf(endpoint)] ?? {};
  const parameters = parametersOf(endpoint, refer);
  return {
    operationId: operationIdOf(endpoint),
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: descriptionOf(endpoint),
    ...(endpoint.deprecated && { deprecated: true }),
    security: securityOf(endpoint),
    ...(parameters.length > 0 && { parameters }),
    ...requestBodyOf(endpoint, refer, example),
    responses: responsesOf(endpoint, refer, example),
  };
}

/** The path in the document's spelling: `/v3/devices/{id}`. */
function documentPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

/** What it does, then who may call. */
function descriptionOf({ description, access, needsAlso, takesShares }: Endpoint): string {
  const sentences = [accessText(access)];
  if (description !== undefined) sentences.unshift(description);
  if ('userOnly' in access)
    sentences.push('User session only; API keys and access tokens are rejected.');
  if (needsAlso !== undefined) sentences.push(needsAlso);
  if (takesShares !== undefined) sentences.push('A dashboard share token also works.');
  return sentences.join(' ');
}

function accessText(access: EndpointAccess): string {
  if ('open' in access) return access.open;
  if ('anyCredential' in access) return access.anyCredential;
  const { scope, verb, also = [] } = access;
  const pairs = [[scope, verb], ...also].map((pair) => `\`${pair.join('` `')}\``);
  return `Requires ${pairs.join(' and ')}.`;
}

function securityOf({
  access,
  method,
}: Endpoint): readonly Readonly<Record<string, readonly string[]>>[] {
  if ('open' in access) return access.secret ? secrets[access.secret] : [];
  const session = { session: [], ...(method !== 'GET' && { csrf: [] }) };
  if (access.userOnly) return [session];
  return [{ apiKey: [] }, { bearer: [] }, session];
}

const secrets = {
  uplinkSecret: [{ uplinkSecret: [] }, { uplinkSecretParameter: [] }],
} as const;

function parametersOf(endpoint: Endpoint, refer: Refer): object[] {
  const inPath = membersOf(endpoint.params);
  const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const parameters: object[] = [
    ...names.map((name) => {
      const schema = refer(inPath[name] ?? Type.String());
      return parameter({ name, in: 'path', required: true }, schema);
    }),
    ...Object.entries(membersOf(endpoint.query)).map(([name, schema]) =>
      parameter({ name, in: 'query', required: !Type.IsOptional(schema) }, refer(schema)),
    ),
  ];
  // Every request that creates something may be sent again (contract, decisions).
  if (endpoint.method === 'POST' && endpoint.status === 201)
    parameters.push({ $ref: '#/components/parameters/IdempotencyKey' });
  return parameters;
}

function membersOf(schema: TSchema | undefined): Members {
  if (schema === undefined || !Type.IsObject(schema)) return {};
  return schema.properties;
}

function parameter(
  head: {
    readonly name: string;
    readonly in: 'path' | 'query';
    readonly required: boolean;
  },
  referred: unknown,
): object {
  const { description, ...schema } = referred as { readonly description?: string };
  return withParameterWords({ ...head, ...(description !== undefined && { description }), schema });
}

function requestBodyOf(
  { body, bodyShown, bodyTypes }: Endpoint,
  refer: Refer,
  example: Example,
): object {
  const shown = bodyShown ?? body;
  const content = bodyTypes ?? (shown && jsonContent(shown));
  if (content === undefined) return {};
  const required = body === undefined || !Type.IsOptional(body);
  return { requestBody: { required, content: contentOf(content, refer, example.body) } };
}

const withoutBody: ReadonlySet<string> = new Set(['204', '304']);

function responsesOf(endpoint: Endpoint, refer: Refer, example: Example): object {
  const { response, answerTypes, otherAnswers = {}, answerHeaders } = endpoint;
  const { refusalSchema, refusalTypes } = endpoint;
  const status = successStatus(endpoint);
  const content = answerTypes ?? (response && jsonContent(response));
  const refused = (component: string, digit: string) => {
    const codes = (example.errors ?? []).filter((code) => code.startsWith(digit));
    const types = digit === '4' ? refusalTypes : undefined;
    if (refusalSchema === undefined && types === undefined && codes.length === 0)
      return { $ref: `#/components/responses/${component}` };
    const named = codes.map((code) => `\`${code}\``).join(', ');
    return {
      description: codes.length === 0 ? component : `${component}, for example with ${named}`,
      content: contentOf({ ...jsonContent(refusalSchema ?? errorSchema), ...types }, refer),
    };
  };
  const others = Object.entries(otherAnswers).map(([other, schema]) => [
    other,
    {
      description: descriptions[Number(other)] ?? 'OK',
      ...(!withoutBody.has(other) && {
        content: contentOf(
          jsonContent(schema),
          refer,
          other === '200' && response === undefined ? example.answer : undefined,
        ),
      }),
    },
  ]);
  return {
    [status]: {
      description: successText(endpoint, status),
      ...(answerHeaders && { headers: headersOf(answerHeaders) }),
      ...(content && { content: contentOf(content, refer, example.answer) }),
    },
    ...Object.fromEntries(others),
    '4XX': refused('Refused', '4'),
    '5XX': refused('Failed', '5'),
  };
}

/** Lists whose rows `fields` narrows cannot say so in the schema of the rows, which clients are made from. */
function successText({ query }: Endpoint, status: number): string {
  const done = descriptions[status] ?? 'OK';
  if (!('fields' in membersOf(query))) return done;
  return `${done}. With \`fields\`, items have only the named properties.`;
}

/** The status of success: the declared one, 204 when there is nothing to answer, else 200. */
function successStatus({ status, response, answerTypes }: Endpoint): number {
  if (status !== undefined) return status;
  return response === undefined && answerTypes === undefined ? 204 : 200;
}

type Content = Readonly<Record<string, TSchema>>;

function jsonContent(schema: TSchema): Content {
  return { 'application/json': schema };
}

/** Whose content has members, which examples show. */
const shownTypes = new Set(['application/json', 'application/x-www-form-urlencoded']);

/** `example` is of the content in JSON, or of the form. */
function contentOf(content: Content, refer: Refer, example?: unknown): object {
  return Object.fromEntries(
    Object.entries(content).map(([type, schema]) => {
      const isShown = example !== undefined && shownTypes.has(type);
      const shown = isShown ? { example } : {};
      return [type, { schema: refer(schema), ...shown }];
    }),
  );
}

function headersOf(headers: Readonly<Record<string, string>>): object {
  const described = ([name, description]: [string, string]) => [
    name,
    { description, schema: { type: 'string' } },
  ];
  return Object.fromEntries(Object.entries(headers).map(described));
}
