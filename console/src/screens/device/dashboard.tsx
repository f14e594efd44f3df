// Dashboard of a device: that of its type, or one made from the schemas of its data (contract 39).
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';
import { readConfiguration, type Variable } from '../../../../src/dashboards/configuration.ts';
import { variablesOf } from '../../../../src/dashboards/variables.ts';
import type { components } from '../../../generated/interface-types.ts';
import { ask, platform } from '../../api/platform.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { Answered, Empty } from '../../ui/states.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useWords } from '../../words/language.tsx';
import { DashboardBones, DashboardFrame } from '../dashboards/dashboard-frame.tsx';
import { createDashboard, refreshLists } from '../dashboards/dashboard-requests.ts';
import { TileGrid } from '../dashboards/grid/tile-grid.tsx';
import { useVariables } from '../dashboards/variable-values.ts';
import { useDeviceFrame } from './device-frame.ts';
import { deviceRoute } from './device-search.ts';
import { dashboardTabWords } from './device-words.ts';
import { RangeChoice, useZoom } from './overview/chart-choices.tsx';

type ShownDashboard = components['schemas']['ShownDashboard'];

const dashboardOfDevice = (id: string) =>
  queryOptions({
    queryKey: ['dashboard of device', id],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/devices/{id}/dashboard', { signal, params: { path: { id } } })),
  });

export function DeviceDashboard() {
  const { device } = useDeviceFrame();
  const answer = useQuery(dashboardOfDevice(device.id));
  const curl = { path: `/v3/devices/${device.id}/dashboard` };
  if (answer.data === undefined)
    return (
      <Sheet>
        <Answered answer={answer} curl={curl} skeleton={<DashboardBones />}>
          {() => null}
        </Answered>
      </Sheet>
    );
  return <Tiles shown={answer.data} />;
}

function Tiles({ shown }: { readonly shown: ShownDashboard }) {
  const words = useWords(dashboardTabWords);
  const { device, zone } = useDeviceFrame();
  const { id, workspaceId } = device;
  const configuration = useMemo(
    () => readConfiguration(shown.configuration),
    [shown.configuration],
  );
  const { range, from, to } = useSearch({ from: deviceRoute });
  const zoom = useZoom();
  const own = configuration && deviceVariable(variablesOf(configuration));
  const search = {
    ...(range === undefined ? {} : { range }),
    ...(from === undefined || to === undefined ? {} : { from, to }),
    ...(own === undefined ? {} : { var: { [own.name]: [id] } }),
  };
  const variables = useVariables(
    shown.dashboard?.id ?? `device ${id}`,
    workspaceId,
    configuration ?? {},
    search,
  );
  if (configuration === undefined)
    return (
      <Sheet>
        <Empty title={words.foreign} note={words.foreignNote} />
      </Sheet>
    );
  const seconds = (iso: string) => Date.parse(iso) / 1_000;
  return (
    <>
      <div className="row wrap justify-between gap-12">
        <Source shown={shown} variable={own} />
        <RangeChoice />
      </div>
      <DashboardFrame
        workspaceId={workspaceId}
        dashboardId={shown.dashboard?.id ?? `device ${id}`}
        configuration={configuration}
        variables={variables}
        search={search}
        zone={zone}
        show={(dragged) => {
          if (dragged.from === undefined || dragged.to === undefined) zoom.back();
          else zoom.into(seconds(dragged.from), seconds(dragged.to));
        }}
      >
        <TileGrid />
      </DashboardFrame>
    </>
  );
}

/** The variable that the device of the page is the value of. */
function deviceVariable(variables: readonly Variable[]): Variable | undefined {
  const ofDevices = variables.filter(({ kind }) => kind === 'DEVICE');
  return ofDevices.find(({ name }) => name === 'device') ?? ofDevices[0];
}

interface SourceProps {
  readonly shown: ShownDashboard;
  readonly variable: Variable | undefined;
}

/** Where the tiles come from, and how to change them. */
function Source({ shown, variable }: SourceProps) {
  const words = useWords(dashboardTabWords);
  const { device } = useDeviceFrame();
  const { id, workspaceId } = device;
  const type = device.dataFlow.deviceType;
  const navigate = useNavigate();
  const values = variable === undefined ? {} : { var: { [variable.name]: [id] } };
  const customize = useAction({
    mutationFn: () => {
      const configuration = readConfiguration(shown.configuration);
      if (configuration === undefined) throw new Error('a dashboard of another program');
      return createDashboard({
        workspaceId,
        name: type?.name ?? device.name,
        deviceTypeId: type?.id ?? null,
        configuration,
      });
    },
    onSuccess: (dashboard) => {
      void refreshLists();
      void navigate({
        to: '/w/$workspaceId/dashboards/$dashboardId',
        params: { workspaceId, dashboardId: dashboard.id },
        search: { ...values, edit: true },
      });
    },
  });
  const name = type?.name ?? '';
  if (shown.dashboard !== null)
    return (
      <div className="row wrap gap-12">
        <span className="mute">{words.stored(name)}</span>
        <ButtonLink
          to="/w/$workspaceId/dashboards/$dashboardId"
          params={{ workspaceId, dashboardId: shown.dashboard.id }}
          search={{ ...values, edit: true }}
        >
          {words.edit}
        </ButtonLink>
      </div>
    );
  return (
    <div className="row wrap gap-12">
      <span className="mute">
        {shown.source === 'GENERATED' ? words.generated(name) : words.inferred}
      </span>
      <Button
        needs="dashboard: create"
        title={type === null ? undefined : words.customizeNote(name)}
        disabled={customize.isPending}
        onClick={() => customize.mutate()}
      >
        {words.customize}
      </Button>
      <ActionFailure error={customize.error} />
    </div>
  );
}
