// OpenAPI operation: the part of the document that describes one endpoint.
import Type, { type TSchema } from 'typebox';
import type { Endpoint, EndpointAccess } from '../../contract/endpoint.ts';
import { errorSchema } from '../../contract/error.ts';
import { operationIdOf } from '../../contract/operation-id.ts';
import {
  deprecatedFields,
  fieldWords,
  ownFieldWords,
  pageFieldWords,
  parameterWords,
  type Words,
} from './open-api-field-words.ts';

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

type Refer = (schema: unknown) => unknown;
type Members = Readonly<Record<string, TSchema>>;

/** What tests have sent and received, by operation id. */
export type OperationExamples = Readonly<
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
  302: 'Redirect',
};

/** The operation of the endpoint; `refer` puts references in place of named schemas. */
export function operationOf(
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
export function documentPath(path: string): string {
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

function responsesOf(endpoint: Endpoint, refer: Refer, example: Example): object {
  const { response, answerTypes, otherAnswers = {}, answerHeaders, refusalSchema } = endpoint;
  const status = successStatus(endpoint);
  const content = answerTypes ?? (response && jsonContent(response));
  const refused = (component: string, digit: string) => {
    const codes = (example.errors ?? []).filter((code) => code.startsWith(digit));
    if (refusalSchema === undefined && codes.length === 0)
      return { $ref: `#/components/responses/${component}` };
    const named = codes.map((code) => `\`${code}\``).join(', ');
    return {
      description: codes.length === 0 ? component : `${component}, for example with ${named}`,
      content: contentOf(jsonContent(refusalSchema ?? errorSchema), refer),
    };
  };
  const others = Object.entries(otherAnswers).map(([other, schema]) => [
    other,
    {
      description: descriptions[Number(other)] ?? 'OK',
      content: contentOf(
        jsonContent(schema),
        refer,
        other === '200' && response === undefined ? example.answer : undefined,
      ),
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
