// Dashboard of a device: that of its type, or one made from the schemas of its data (contract 39).
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { ask, platform } from '../../api/platform.ts';
import { Sheet } from '../../ui/card.tsx';
import { Answered } from '../../ui/states.tsx';
import { useWords } from '../../words/language.tsx';
import { DashboardBones } from '../dashboards/dashboard-frame.tsx';
import { OwnDashboard } from '../dashboards/own-dashboard.tsx';
import { ownDashboardWords } from '../dashboards/own-dashboard-words.ts';
import { useDeviceFrame } from './device-frame.ts';
import { deviceRoute } from './device-search.ts';
import { RangeChoice, useZoom } from './overview/chart-choices.tsx';

const dashboardOfDevice = (id: string) =>
  queryOptions({
    queryKey: ['dashboard of device', id],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/devices/{id}/dashboard', { signal, params: { path: { id } } })),
  });

export function DeviceDashboard() {
  const words = useWords(ownDashboardWords);
  const { device, zone } = useDeviceFrame();
  const { id, workspaceId, name } = device;
  const type = device.dataFlow.deviceType;
  const answer = useQuery(dashboardOfDevice(id));
  const { range, from, to } = useSearch({ from: deviceRoute });
  const zoom = useZoom();
  const seconds = (iso: string) => Date.parse(iso) / 1_000;
  const shown = answer.data;
  if (shown === undefined)
    return (
      <Sheet>
        <Answered
          answer={answer}
          curl={{ path: `/v3/devices/${id}/dashboard` }}
          skeleton={<DashboardBones />}
        >
          {() => null}
        </Answered>
      </Sheet>
    );
  const typeName = type?.name ?? '';
  const generated = shown.source === 'GENERATED' ? words.generated(typeName) : words.inferred;
  return (
    <OwnDashboard
      shown={shown}
      workspaceId={workspaceId}
      of={{ kind: 'DEVICE', id }}
      search={{
        ...(range === undefined ? {} : { range }),
        ...(from === undefined || to === undefined ? {} : { from, to }),
      }}
      zone={zone}
      show={(dragged) => {
        if (dragged.from === undefined || dragged.to === undefined) zoom.back();
        else zoom.into(seconds(dragged.from), seconds(dragged.to));
      }}
      source={shown.dashboard === null ? generated : words.stored(typeName)}
      draft={{ name: type?.name ?? name, deviceTypeId: type?.id ?? null }}
      customizeNote={type === null ? undefined : words.customizeNote(typeName)}
      tools={() => <RangeChoice />}
    />
  );
}
