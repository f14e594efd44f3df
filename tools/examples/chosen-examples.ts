// Chosen examples: of many recorded requests the one that shows most of each operation in little room.
import { type Endpoint, operationIdOf } from '../../src/contract/endpoint.ts';
import type { RecordedRequest } from '../../tests/world/recorded-examples.ts';

/** Of one operation. */
export interface OperationExample {
  /** A JSON body that was accepted. */
  readonly body?: unknown;
  /** A JSON answer of success. */
  readonly answer?: unknown;
  /** Codes that tests have seen, in order. */
  readonly errors?: readonly string[];
}

/** Longer bodies and answers would hide the rest of the page. */
const bodyCharactersMax = 1_500;
const answerCharactersMax = 2_500;

/** Programs that read the document would take it for one of its own. */
const schemaKeyword = /"\$(?:id|ref|schema)":/;

/** By operation id, in the order of ids. */
export function chosenExamples(
  endpoints: readonly Endpoint[],
  recorded: readonly RecordedRequest[],
): Readonly<Record<string, OperationExample>> {
  const byOperation = Map.groupBy(recorded, (request) => endpointOf(endpoints, request));
  const examples = endpoints.flatMap((endpoint): [string, OperationExample][] => {
    const requests = byOperation.get(endpoint);
    return requests === undefined ? [] : [[operationIdOf(endpoint), exampleOf(endpoint, requests)]];
  });
  return Object.fromEntries(examples.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function exampleOf(endpoint: Endpoint, requests: readonly RecordedRequest[]): OperationExample {
  const accepted = requests.filter(({ status }) => status < 300);
  const bodies = accepted
    .map(({ body }) => formMembers(endpoint, body))
    .filter(isJson)
    .map((body) => knownMembers(endpoint, body))
    .filter((body) => Object.keys(body).length > 0);
  // Other statuses, such as 202 of a sign-in with a second factor, have other answers.
  const usual = accepted.filter(({ status }) => status === (endpoint.status ?? 200));
  const answers = usual.map(({ answer }) => answer).filter(isJson);
  const body = richest(bodies, bodyCharactersMax);
  const answer = richest(answers.map(shortened), answerCharactersMax);
  const errors = requests.flatMap(({ status, answer: refused }) =>
    status >= 400 && isJson(refused) && 'errorCode' in refused
      ? [String(refused['errorCode'])]
      : [],
  );
  return {
    ...((endpoint.body ?? endpoint.bodyTypes) !== undefined && body !== undefined && { body }),
    ...(answer !== undefined && { answer }),
    ...(errors.length > 0 && { errors: [...new Set(errors)].toSorted() }),
  };
}

const formType = 'application/x-www-form-urlencoded';

/** A form is sent as text, and shown as the members of its schema. */
function formMembers({ bodyTypes = {} }: Endpoint, sent: unknown): unknown {
  if (typeof sent !== 'string' || !(formType in bodyTypes)) return sent;
  return Object.fromEntries(new URLSearchParams(sent));
}

/** Tests also send members that the endpoint ignores, which would mislead readers. */
function knownMembers(
  { body, bodyShown = body, bodyTypes }: Endpoint,
  sent: Readonly<Record<string, unknown>>,
) {
  const schema = bodyShown ?? bodyTypes?.[formType] ?? {};
  const { properties } = schema as { readonly properties?: object };
  if (Array.isArray(sent) || properties === undefined) return sent;
  return Object.fromEntries(Object.entries(sent).filter(([name]) => name in properties));
}

/** An object or a list. */
function isJson(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** Lists of records keep their first two. */
function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return (value.some(isJson) ? value.slice(0, 2) : value).map(shortened);
  if (!isJson(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shortened(member)]));
}

/** The value with most members, of these the shortest, of these the first by its text. */
function richest(values: readonly unknown[], charactersMax: number): unknown {
  const texts = new Set(values.map((value) => withoutPlaces(JSON.stringify(value))));
  const ranked = [...texts]
    .filter((text) => text.length <= charactersMax && !schemaKeyword.test(text))
    .map((text) => ({ text, members: memberCount(JSON.parse(text)) }))
    .toSorted(
      (a, b) =>
        b.members - a.members || a.text.length - b.text.length || (a.text < b.text ? -1 : 1),
    );
  return ranked[0] && JSON.parse(ranked[0].text);
}

/** Members that say something, at any depth. */
function memberCount(value: unknown): number {
  if (!isJson(value)) return 0;
  return Object.values(value).reduce<number>(
    (sum, member) => sum + (member === null ? 0 : 1) + memberCount(member),
    0,
  );
}

/** Addresses and tokens of the machine that ran the tests mean nothing to readers. */
function withoutPlaces(text: string): string {
  return text
    .replaceAll(/(https?|wss?):\/\/(127\.0\.0\.1|localhost):\d+/g, '$1://iot.example.org')
    .replaceAll(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJhbGciOi...');
}

function endpointOf(
  endpoints: readonly Endpoint[],
  { method, path }: RecordedRequest,
): Endpoint | undefined {
  const steps = (path.split('?', 1)[0] ?? '').split('/');
  const found = endpoints.filter(
    (one) => one.method === method && fits(one.path.split('/'), steps),
  );
  return found.toSorted((a, b) => parametersOf(a) - parametersOf(b))[0];
}

function fits(pattern: readonly string[], steps: readonly string[]): boolean {
  return (
    pattern.length === steps.length &&
    pattern.every((step, at) => step.startsWith(':') || step === steps[at])
  );
}

function parametersOf({ path }: Endpoint): number {
  return path.split(':').length;
}
