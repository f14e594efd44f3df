// Logic drafts: a custom logic block as its form edits it, and the body that saves it.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { ask, platform } from '../../../api/platform.ts';
import type { ListSearch } from '../../../ui/list-search.ts';

export interface LogicInput {
  readonly variableName: string;
  readonly description: string;
  readonly defaultTopic: string;
  readonly defaultDataKey: string;
  readonly lastSample: boolean;
  readonly triggerOnUplink: boolean;
}

export const propertyTypes = ['NUMERICAL', 'BOOLEAN', 'STRING'] as const;
export type PropertyType = (typeof propertyTypes)[number];

export interface LogicProperty {
  readonly variableName: string;
  readonly description: string;
  readonly type: PropertyType;
  /** As typed. */
  readonly defaultValue: string;
}

export interface LogicDraft {
  readonly name: string;
  readonly description: string;
  readonly inputs: readonly LogicInput[];
  readonly properties: readonly LogicProperty[];
  readonly script: string;
}

const firstScript = `// Runs for each sample of the rule. An emitted action fires the outputs of the rule.
function consume(event) {
  const { value } = event.inputs;
  if (value > event.properties.limit) emit('action', { value });
}
`;

/** What a new block begins with. */
export function newLogic(name: string, description: string): LogicDraft {
  return {
    name,
    description,
    script: firstScript,
    inputs: [{ ...newInput('value'), defaultDataKey: 'temperature' }],
    properties: [{ ...newProperty('limit'), defaultValue: '25' }],
  };
}

export function newInput(variableName: string): LogicInput {
  return {
    variableName,
    description: '',
    defaultTopic: 'default',
    defaultDataKey: '',
    lastSample: false,
    triggerOnUplink: true,
  };
}

export function newProperty(variableName: string): LogicProperty {
  return { variableName, description: '', type: 'NUMERICAL', defaultValue: '' };
}

export function draftOf(logic: Logic): LogicDraft {
  const { name, description, dataSources, properties, script } = logic;
  return {
    name,
    description: description ?? '',
    script,
    inputs: dataSources.map((source) => ({
      variableName: source.variableName,
      description: source.description ?? '',
      defaultTopic: source.defaultTopic ?? '',
      defaultDataKey: source.defaultDataKey ?? '',
      lastSample: source.lastSample,
      triggerOnUplink: source.triggerOnUplink,
    })),
    properties: properties.map((property) => ({
      variableName: property.variableName,
      description: property.description ?? '',
      type: property.type,
      defaultValue: property.defaultValue === null ? '' : String(property.defaultValue),
    })),
  };
}

const orNull = (text: string) => (text === '' ? null : text);

export function bodyOf({ name, description, inputs, properties, script }: LogicDraft) {
  return {
    name,
    description: orNull(description),
    script,
    dataSources: inputs.map((input) => ({
      ...input,
      name: input.variableName,
      description: orNull(input.description),
      defaultTopic: orNull(input.defaultTopic),
      defaultDataKey: orNull(input.defaultDataKey),
    })),
    properties: properties.map((property) => ({
      ...property,
      name: property.variableName,
      description: orNull(property.description),
      // The document leaves open what a value is.
      defaultValue: valueOf(property) as never,
    })),
  };
}

/** A value that is not of the type is sent as it is, so that the platform says what is wrong. */
export function valueOf({ type, defaultValue }: LogicProperty): string | number | boolean | null {
  if (defaultValue === '') return null;
  if (type === 'NUMERICAL' && Number.isFinite(Number(defaultValue))) return Number(defaultValue);
  if (type === 'BOOLEAN' && /^(true|false)$/.test(defaultValue)) return defaultValue === 'true';
  return defaultValue;
}

const exampleValue = 30;

/** An event as the rule engine would make it, with an example value for every input. */
export function exampleEvent({ inputs, properties }: LogicDraft): Record<string, unknown> {
  const device = { id: '0200000000000000', deviceId: 'device-1', name: 'Device 1' };
  return {
    type: 'uplink',
    inputs: Object.fromEntries(inputs.map(({ variableName }) => [variableName, exampleValue])),
    properties: Object.fromEntries(properties.map((one) => [one.variableName, valueOf(one)])),
    state: {},
    device,
    dataSources: Object.fromEntries(
      inputs.map(({ defaultTopic, defaultDataKey, variableName }, at) => [
        String(at + 1),
        {
          trigger: at === 0,
          topic: defaultTopic || 'default',
          data: { [defaultDataKey || variableName]: exampleValue },
          device,
        },
      ]),
    ),
    numberOfInvocations: 0,
  };
}

// Requests of custom logic blocks: the list, one block, and what changes it.

export type Logic = Awaited<ReturnType<typeof readLogic>>;
export type LogicItem = Awaited<ReturnType<typeof listLogic>>['content'][number];

const logicRows = 25;

export function logicsOf(organizationId: string, { q, page = 0 }: ListSearch) {
  const search = q === undefined ? {} : { search: q };
  const query = { organizationId, page, size: logicRows, sort: 'name,asc', ...search };
  return queryOptions({
    queryKey: ['custom-logic', organizationId, query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => listLogic(query, signal),
  });
}

interface LogicQuery {
  readonly organizationId: string;
  readonly page: number;
  readonly size: number;
  readonly sort: string;
  readonly search?: string;
}

function listLogic(query: LogicQuery, signal: AbortSignal) {
  return ask(platform.GET('/v3/rules/custom', { signal, params: { query } }));
}

export const logicOf = (id: string) =>
  queryOptions({
    queryKey: ['logic', id],
    queryFn: ({ signal }) => readLogic(id, signal),
  });

function readLogic(id: string, signal: AbortSignal) {
  return ask(platform.GET('/v3/rules/custom/{id}', { signal, params: { path: { id } } }));
}
