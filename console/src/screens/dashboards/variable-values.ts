// Variable values: those that the address names, else one's own last ones, the default, or the first there is.
import { useQueries, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { Configuration, Variable } from '../../../../src/dashboards/configuration.ts';
import {
  chosenValues,
  variablesOf,
  type VariableValues,
} from '../../../../src/dashboards/variables.ts';
import {
  customFieldsOf,
  type DeviceFilter,
  devicesMatching,
  placesOf,
  tagsOf,
  useDevicesById,
} from '../../api/workspace-records.ts';
import { changePreferences, usePreferences } from '../../ui/preferences.ts';
import { useReader } from './dashboard-requests.ts';
import type { DashboardSearch } from './dashboard-search.ts';

export interface ShownVariables {
  readonly variables: readonly Variable[];
  readonly values: VariableValues;
  /** The name of the device, tag, or place; the value itself of other kinds. */
  readonly nameOf: (variable: Variable, value: string) => string;
  /** Names of custom fields by id. */
  readonly fieldNames: ReadonlyMap<string, string>;
}

/** The same object until a value or a name changes. */
export function useVariables(
  dashboardId: string,
  workspaceId: string,
  configuration: Pick<Configuration, 'variables'>,
  search: DashboardSearch,
): ShownVariables {
  const variables = variablesOf(configuration);
  const remembered = usePreferences(!useReader().isShared)?.variables?.[dashboardId];
  const first = useFirstValues(workspaceId, variables);
  const named = [
    new Map(Object.entries(search.var ?? {})),
    new Map(Object.entries(remembered ?? {})),
  ];
  const chosen = new Map([...first, ...chosenValues(variables, named)]);
  const names = useNames(workspaceId, variables, chosen);
  const key = JSON.stringify([variables, [...chosen], [...names.all], [...names.fields]]);
  return useMemo(
    () => ({
      variables,
      values: chosen,
      nameOf: (_, value) => names.all.get(value) ?? value,
      fieldNames: names.fields,
    }),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the key names all of them
    [key],
  );
}

const rememberedMax = 100;

/** The address with the values, which are also the first choice of the next visit. */
export function withChoice(
  search: DashboardSearch,
  dashboardId: string,
  name: string,
  values: readonly string[],
): DashboardSearch {
  changePreferences((before) => {
    const { [dashboardId]: own, ...others } = before.variables ?? {};
    const kept = Object.entries(others).slice(1 - rememberedMax);
    const variables = { ...Object.fromEntries(kept), [dashboardId]: { ...own, [name]: values } };
    return { ...before, variables };
  });
  return { ...search, var: { ...search.var, [name]: values } };
}

// First values: what a variable shows that nobody has chosen a value for.

/** Conditions of the devices that a variable offers. */
export function narrowingOf({ deviceTypeId, tagId, placeId }: Variable): readonly DeviceFilter[] {
  const one = (field: string, predicate: DeviceFilter['predicate'], value?: string | null) =>
    value ? [{ field, predicate, values: [value] }] : [];
  return [
    ...one('deviceType', 'EQUALS', deviceTypeId),
    ...one('tags.id', 'CONTAINS_ANY', tagId),
    ...one('places.id', 'CONTAINS_ANY', placeId),
  ];
}

/** The first device, tag, place, or option; a shared link reads no records. */
function useFirstValues(workspaceId: string, variables: readonly Variable[]): VariableValues {
  const { isShared } = useReader();
  const kinds = new Set(variables.map(({ kind }) => kind));
  const ofKind = (kind: Variable['kind']) => !isShared && kinds.has(kind);
  const tags = useQuery({ ...tagsOf(workspaceId), enabled: ofKind('TAG') }).data?.content;
  const places = useQuery({ ...placesOf(workspaceId), enabled: ofKind('PLACE') }).data;
  const devices = useQueries({
    queries: variables.map((variable) => ({
      ...devicesMatching(workspaceId, '', 1, narrowingOf(variable)),
      staleTime: 60_000,
      enabled: !isShared && variable.kind === 'DEVICE',
    })),
  });
  const firstOf = (variable: Variable, at: number) => {
    if (variable.kind === 'DEVICE') return devices[at]?.data?.[0]?.id;
    if (variable.kind === 'TAG') return tags?.[0]?.id;
    if (variable.kind === 'PLACE') return places?.[0]?.id;
    return variable.options?.[0];
  };
  return new Map(
    variables.flatMap((variable, at) => {
      const first = firstOf(variable, at);
      return first === undefined ? [] : [[variable.name, [first]] as const];
    }),
  );
}

// Names: what texts show for the values, and how filters name custom fields.

function useNames(workspaceId: string, variables: readonly Variable[], values: VariableValues) {
  const { isShared } = useReader();
  const kinds = new Set(variables.map(({ kind }) => kind));
  const ofKind = (kind: Variable['kind']) => !isShared && kinds.has(kind);
  const deviceIds = variables.flatMap(({ kind, name }) =>
    kind === 'DEVICE' ? (values.get(name) ?? []) : [],
  );
  const devices = useDevicesById(workspaceId, isShared ? [] : deviceIds);
  const tags = useQuery({ ...tagsOf(workspaceId), enabled: ofKind('TAG') }).data?.content ?? [];
  const places = useQuery({ ...placesOf(workspaceId), enabled: ofKind('PLACE') }).data ?? [];
  const fields = useQuery({ ...customFieldsOf(workspaceId), enabled: ofKind('CUSTOM_FIELD') });
  const named = [...devices.values(), ...tags, ...places];
  return {
    all: new Map(named.map(({ id, name }) => [id, name])),
    fields: new Map((fields.data?.content ?? []).map(({ id, name }) => [id, name])),
  };
}
