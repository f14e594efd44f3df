// One operation of the OpenAPI document, from the route's own declaration.
import Type, { type TSchema } from 'typebox';
import type { Endpoint } from '../../contract/endpoint.ts';
import { operationIdOf } from '../../contract/operation-id.ts';

type Refer = (schema: unknown) => unknown;
type Members = Readonly<Record<string, TSchema>>;

const descriptions: Readonly<Record<number, string>> = {
  200: 'Done',
  201: 'Made',
  202: 'Accepted; the work goes on after the answer',
  204: 'Done; the answer has no body',
};

/** What the document says of the route; `refer` puts references in place of named schemas. */
export function operationOf(endpoint: Endpoint, refer: Refer): Readonly<Record<string, unknown>> {
  const parameters = parametersOf(endpoint, refer);
  return {
    operationId: operationIdOf(endpoint),
    tags: [endpoint.tag],
    summary: endpoint.summary,
    description: permissionText(endpoint),
    security: securityOf(endpoint),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...requestBodyOf(endpoint, refer),
    responses: responsesOf(endpoint, refer),
  };
}

/** The path in the document's spelling: `/v3/devices/{id}`. */
export function documentPath(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function permissionText({ access, needsAlso }: Endpoint): string {
  const also = needsAlso === undefined ? '' : ` ${needsAlso}`;
  if ('open' in access) return `Needs no credential: ${access.open}.${also}`;
  const who = access.userOnly ? ' Only for signed-in users, not for API keys and tokens.' : '';
  if ('anyCredential' in access)
    return `Needs a valid credential: ${access.anyCredential}.${who}${also}`;
  const asked = [[access.scope, access.verb] as const, ...(access.also ?? [])];
  const needs = asked.map(([scope, verb]) => `\`${scope}\` \`${verb}\``).join(' and ');
  return `Needs ${needs}.${who}${also}`;
}

function securityOf({ access, method }: Endpoint): Readonly<Record<string, readonly string[]>>[] {
  if ('open' in access)
    return access.secret === undefined ? [] : [{ uplinkSecret: [] }, { uplinkSecretParameter: [] }];
  const session = method === 'GET' ? { session: [] } : { session: [], csrf: [] };
  return access.userOnly ? [session] : [{ apiKey: [] }, { bearer: [] }, session];
}

function parametersOf(endpoint: Endpoint, refer: Refer): object[] {
  const inPath = membersOf(endpoint.params);
  const names = [...endpoint.path.matchAll(/:(\w+)/g)].map((match) => match[1]!);
  return [
    ...names.map((name) => parameter(name, 'path', inPath[name] ?? Type.String(), true, refer)),
    ...Object.entries(membersOf(endpoint.query)).map(([name, schema]) =>
      parameter(name, 'query', schema, !Type.IsOptional(schema), refer),
    ),
    // Every request that makes something may be sent again (contract, decisions).
    ...(endpoint.method === 'POST' && endpoint.status === 201
      ? [{ $ref: '#/components/parameters/IdempotencyKey' }]
      : []),
  ];
}

function membersOf(schema: TSchema | undefined): Members {
  return schema !== undefined && Type.IsObject(schema) ? schema.properties : {};
}

function parameter(
  name: string,
  place: 'path' | 'query',
  schema: Members[string],
  required: boolean,
  refer: Refer,
) {
  const { description, ...written } = refer(schema) as { readonly description?: string };
  return {
    name,
    in: place,
    required,
    ...(description === undefined ? {} : { description }),
    schema: written,
  };
}

function requestBodyOf({ body, bodyShown, bodyTypes }: Endpoint, refer: Refer): object {
  if (body === undefined && bodyTypes === undefined) return {};
  const content = bodyTypes ?? { 'application/json': bodyShown ?? body! };
  return {
    requestBody: {
      required: body === undefined || !Type.IsOptional(body),
      content: contentOf(content, refer),
    },
  };
}

function responsesOf(endpoint: Endpoint, refer: Refer): object {
  const { response, answerTypes, otherAnswers = {}, answerHeaders, refusalSchema } = endpoint;
  const status = successStatus(endpoint);
  const content =
    answerTypes ?? (response === undefined ? undefined : { 'application/json': response });
  const refused = (description: string, component: string) =>
    refusalSchema === undefined
      ? { $ref: `#/components/responses/${component}` }
      : { description, content: contentOf({ 'application/json': refusalSchema }, refer) };
  const others = Object.entries(otherAnswers).map(([other, schema]) => [
    other,
    {
      description: descriptions[Number(other)] ?? 'Answered',
      content: contentOf({ 'application/json': schema }, refer),
    },
  ]);
  return {
    [status]: {
      description: descriptions[status] ?? 'Done',
      ...(answerHeaders === undefined ? {} : { headers: headersOf(answerHeaders) }),
      ...(content === undefined ? {} : { content: contentOf(content, refer) }),
    },
    ...Object.fromEntries(others),
    '4XX': refused('Refused', 'Refused'),
    '5XX': refused('Failed', 'Failed'),
  };
}

/** The status of success: the declared one, 204 when there is nothing to answer, else 200. */
function successStatus({ status, response, answerTypes }: Endpoint): number {
  return status ?? (response === undefined && answerTypes === undefined ? 204 : 200);
}

function contentOf(content: Readonly<Record<string, TSchema>>, refer: Refer): object {
  return Object.fromEntries(
    Object.entries(content).map(([type, schema]) => [type, { schema: refer(schema) }]),
  );
}

function headersOf(headers: Readonly<Record<string, string>>): object {
  const described = ([name, description]: [string, string]) => [
    name,
    { description, schema: { type: 'string' } },
  ];
  return Object.fromEntries(Object.entries(headers).map(described));
}
