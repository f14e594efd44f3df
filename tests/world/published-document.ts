// Every answer of every test against the published OpenAPI document: its status, its content type and its body.
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

interface Operation {
  readonly responses: Readonly<Record<string, ResponseObject>>;
}
interface ResponseObject {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
}
interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}
interface Answer {
  readonly status: number;
  readonly contentType: string | null;
  readonly text: string;
}

const documentId = 'https://heliograph.invalid/openapi.json';

/**
 * Throws an Error that says how the answer differs from the document; paths that it does not have
 * answer as errors do.
 */
export type CheckAnswer = (method: string, path: string, answer: Answer) => void;

/** Reads the document of a platform; schemas are compiled when an answer first needs them. */
export function answersAgainst(document: OpenApiDocument): CheckAnswer {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: documentId, ...(closed(document) as object) });
  const compiled = new Map<string, ValidateFunction>();
  const templates = Object.keys(document.paths).map((path) => ({ path, steps: path.split('/') }));

  const validatorAt = (pointer: string): ValidateFunction => {
    let validate = compiled.get(pointer);
    if (validate === undefined)
      compiled.set(pointer, (validate = ajv.compile({ $ref: `${documentId}#${pointer}` })));
    return validate;
  };

  return (method, path, { status, contentType, text }) => {
    const where = `${method} ${path} answered ${status}, and the OpenAPI document`;
    // The document does not describe itself, its page and the pages of mailed links.
    if (status < 400 && /^\/(?:(?:v3\/)?openapi\.json|docs|invitations|password-reset)/.test(path))
      return;
    // What a browser asks before it calls is of no operation, and OpenAPI documents leave it out.
    if (method === 'OPTIONS' && status === 204 && text === '') return;
    // The server takes several slashes for one.
    const steps = path
      .split('?', 1)[0]!
      .replaceAll(/\/{2,}/g, '/')
      .split('/');
    const template = templates
      .filter((known) => matches(known.steps, steps))
      .sort(byFewestParameters)[0]?.path;
    const verb = method === 'HEAD' ? 'get' : method.toLowerCase();
    const operation = template === undefined ? undefined : document.paths[template]?.[verb];
    const [response, pointer] =
      operation === undefined
        ? (['refused', '/components/responses/Refused'] as const)
        : responseOf(document, operation, status, `/paths/${escaped(template!)}/${verb}/responses`);
    if (operation === undefined && status < 400) throw new Error(`${where} has no such operation`);
    if (response === undefined) throw new Error(`${where} has no such status`);
    const content = response === 'refused' ? { 'application/json': {} } : (response.content ?? {});
    const type = contentType?.split(';', 1)[0]?.trim() ?? '';
    if (Object.keys(content).length === 0) {
      if (text !== '') throw new Error(`${where} has no body for it: ${text.slice(0, 200)}`);
      return;
    }
    const known = type in content ? type : '*/*' in content ? '*/*' : undefined;
    if (known === undefined) throw new Error(`${where} has no content type ${type}`);
    if (known !== 'application/json') return;
    const validate = validatorAt(`${pointer}/content/${escaped(known)}/schema`);
    if (validate(JSON.parse(text))) return;
    throw new Error(
      `${where} has another body: ${ajv.errorsText(validate.errors)}: ${text.slice(0, 500)}`,
    );
  };
}

function responseOf(
  document: OpenApiDocument,
  { responses }: Operation,
  status: number,
  pointer: string,
): readonly [ResponseObject | undefined, string] {
  const name = [String(status), `${Math.floor(status / 100)}XX`].find(
    (known) => known in responses,
  );
  if (name === undefined) return [undefined, pointer];
  const { $ref: reference } = responses[name]!;
  if (reference === undefined) return [responses[name], `${pointer}/${name}`];
  const component = reference.split('/').at(-1)!;
  return [
    document.components['responses']![component] as ResponseObject,
    `/components/responses/${component}`,
  ];
}

function matches(template: readonly string[], steps: readonly string[]): boolean {
  return (
    template.length === steps.length &&
    template.every((step, at) => step.startsWith('{') || step === steps[at])
  );
}

function byFewestParameters(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path.split('{').length - b.path.split('{').length;
}

function escaped(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'));
}

/**
 * Members that the document does not name are refused too: a test then shows what the document
 * keeps quiet about.
 */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, closed(member)]),
  );
  const isOpen =
    'properties' in value &&
    !('additionalProperties' in value) &&
    'type' in value &&
    value.type === 'object';
  return isOpen ? { ...members, additionalProperties: false } : members;
}
