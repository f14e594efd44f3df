// Requests of data flows, device connectors and integrations.
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { ask, platform } from '../../api/platform.ts';
import type { ListSearch } from '../../ui/list-search.ts';

type Answer<F extends (...values: never[]) => unknown> = Awaited<ReturnType<F>>;
export type Flow = Answer<typeof readFlow>;
export type FlowItem = Answer<typeof listFlows>['content'][number];
export type Connector = Answer<typeof readConnector>;
export type Integration = Answer<typeof readIntegration>;

const listRows = 25;
/** Largest page of the platform. */
const allRows = 1_000;
const healthMs = 15_000;

function listQuery(workspaceId: string, { q, page = 0 }: ListSearch) {
  const search = q === undefined ? {} : { search: q };
  return { workspaceId, page, size: listRows, sort: 'name,asc', ...search };
}

export function flowsOf(workspaceId: string, search: ListSearch) {
  const query = { ...listQuery(workspaceId, search), details: 'health' as const };
  return queryOptions({
    queryKey: ['data-flows', workspaceId, query],
    refetchInterval: healthMs,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => listFlows(query, signal),
  });
}

interface FlowQuery {
  readonly workspaceId: string;
  readonly size: number;
  readonly sort: string;
  readonly details: 'health';
  readonly page?: number;
  readonly search?: string;
  readonly fields?: string;
}

function listFlows(query: FlowQuery, signal: AbortSignal) {
  return ask(platform.GET('/v3/data-flows', { signal, params: { query } }));
}

/** Data flows with their health, at most 1,000; for what they use. */
export function flowHealthOf(workspaceId: string) {
  const query = { workspaceId, size: allRows, sort: 'name,asc', details: 'health' as const };
  return queryOptions({
    queryKey: ['data-flows', workspaceId, 'health'],
    refetchInterval: healthMs,
    queryFn: async ({ signal }) => {
      const fields = ['id', 'name', 'deviceConnector', 'deviceType', 'health'].join();
      return (await listFlows({ ...query, fields }, signal)).content;
    },
  });
}

export const flowOf = (id: string) =>
  queryOptions({
    queryKey: ['data-flow', id],
    queryFn: ({ signal }) => readFlow(id, signal),
  });

function readFlow(id: string, signal: AbortSignal) {
  return ask(platform.GET('/v3/data-flows/{id}', { signal, params: { path: { id } } }));
}

export function connectorsOf(workspaceId: string, search: ListSearch) {
  const query = listQuery(workspaceId, search);
  return queryOptions({
    queryKey: ['device-connectors', workspaceId, query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/device-connectors', { signal, params: { query } })),
  });
}

/** Every connector of the workspace, at most 1,000, for a choice. */
export function connectorChoice(workspaceId: string) {
  const fields = [
    'id',
    'name',
    'connectivity',
    'decodingType',
    'integrationId',
    'lineProtocol',
    'sparkplug',
  ].join();
  const query = { workspaceId, size: allRows, sort: 'name,asc', fields };
  return queryOptions({
    queryKey: ['device-connectors', workspaceId, 'choice'],
    queryFn: async ({ signal }) =>
      (await ask(platform.GET('/v3/device-connectors', { signal, params: { query } }))).content,
  });
}

export const connectorOf = (id: string) =>
  queryOptions({
    queryKey: ['connector', id],
    queryFn: ({ signal }) => readConnector(id, signal),
  });

function readConnector(id: string, signal: AbortSignal) {
  return ask(platform.GET('/v3/device-connectors/{id}', { signal, params: { path: { id } } }));
}

export function integrationsOf(workspaceId: string, search: ListSearch) {
  const query = listQuery(workspaceId, search);
  return queryOptions({
    queryKey: ['integrations', workspaceId, query],
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => ask(platform.GET('/v3/integrations', { signal, params: { query } })),
  });
}

export const integrationOf = (id: string) =>
  queryOptions({
    queryKey: ['integration', id],
    queryFn: ({ signal }) => readIntegration(id, signal),
  });

function readIntegration(id: string, signal: AbortSignal) {
  return ask(platform.GET('/v3/integrations/{id}', { signal, params: { path: { id } } }));
}

/** Device types of the organization, for a choice. */
export function typeChoice(organizationId: string) {
  const query = { organizationId, size: allRows, sort: 'name,asc', fields: 'id,name' };
  return queryOptions({
    queryKey: ['device-types', organizationId, 'choice'],
    queryFn: async ({ signal }) =>
      (await ask(platform.GET('/v3/device-types', { signal, params: { query } }))).content,
  });
}

/** Outputs that data flows may have, the database of the platform among them. */
export function outputChoice(workspaceId: string) {
  const fields = ['id', 'name', 'type', 'scope', 'global'].join();
  const query = { workspaceId, size: allRows, sort: 'name,asc', fields };
  return queryOptions({
    queryKey: ['outputs', workspaceId, 'flow choice'],
    queryFn: async ({ signal }) => {
      const answer = platform.GET('/v3/output-connectors', { signal, params: { query } });
      return (await ask(answer)).content.filter(({ scope }) => scope === 'DATA_FLOW');
    },
  });
}

/** Filter expression (interface 2.9) for the devices of data flows. */
export const inFlows = (flowIds: readonly string[]) => ({
  field: 'dataFlow',
  predicate: 'IN' as const,
  values: [...flowIds],
});

/** Devices of data flows, those that sent last first. */
export function devicesOf(workspaceId: string, flowIds: readonly string[], size: number) {
  const body = { workspaceIds: [workspaceId], expression: inFlows(flowIds) };
  const query = { size, sort: 'uplinkMetrics.timestamp,desc' };
  return queryOptions({
    queryKey: ['devices of flows', workspaceId, flowIds, size],
    enabled: flowIds.length > 0,
    refetchInterval: healthMs,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      ask(platform.POST('/v3/assets/list', { signal, params: { query }, body })),
  });
}
