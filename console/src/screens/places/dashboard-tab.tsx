// Dashboard tab: the dashboard of places of this kind, or one made from the data of the devices here (contract 39).
import { queryOptions, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { readConfiguration } from '../../../../src/dashboards/configuration.ts';
import { ask, platform } from '../../api/platform.ts';
import { useWorkspaces } from '../../session/session.ts';
import { Sheet } from '../../ui/card.tsx';
import { TimeMachine, withMoment } from '../../ui/late-time-machine.ts';
import { Answered } from '../../ui/states.tsx';
import { TimeMachineButton } from '../../ui/time-machine-button.tsx';
import { useWords } from '../../words/language.tsx';
import { DashboardBones } from '../dashboards/dashboard-frame.tsx';
import { type DashboardSearch, readRangeSearch } from '../dashboards/dashboard-search.ts';
import { zoneShown } from '../dashboards/data/dashboard-range.ts';
import { OwnDashboard } from '../dashboards/own-dashboard.tsx';
import { ownDashboardWords } from '../dashboards/own-dashboard-words.ts';
import { RangeBar } from '../dashboards/range-bar.tsx';
import { type Place, placeOf, placesKey } from './place-requests.ts';
import { placesWords } from './places-words.ts';

const dashboardOfPlace = (workspaceId: string, id: string) =>
  queryOptions({
    queryKey: [...placesKey(workspaceId), 'dashboard', id],
    queryFn: ({ signal }) =>
      ask(platform.GET('/v3/places/{id}/dashboard', { signal, params: { path: { id } } })),
  });

interface OfPlace {
  readonly workspaceId: string;
  readonly placeId: string;
}

export function PlaceDashboard({ workspaceId, placeId }: OfPlace) {
  const place = useQuery(placeOf(workspaceId, placeId)).data;
  const answer = useQuery(dashboardOfPlace(workspaceId, placeId));
  const curl = { path: `/v3/places/${placeId}/dashboard` };
  if (place === undefined || answer.data === undefined)
    return (
      <Sheet>
        <Answered answer={answer} curl={curl} skeleton={<DashboardBones />}>
          {() => null}
        </Answered>
      </Sheet>
    );
  return <Shown place={place} shown={answer.data} />;
}

interface ShownProps {
  readonly place: Place;
  readonly shown: Parameters<typeof OwnDashboard>[0]['shown'];
}

function Shown({ place, shown }: ShownProps) {
  const words = useWords(ownDashboardWords);
  const texts = useWords(placesWords);
  const navigate = useNavigate();
  const search = readRangeSearch(useSearch({ strict: false }));
  const { id, workspaceId, kind } = place;
  const workspace = useWorkspaces().data?.content.find((one) => one.id === workspaceId);
  const ofWorkspace = workspace?.settings?.timezone ?? undefined;
  const zone = zoneShown(search, readConfiguration(shown.configuration) ?? {}, ofWorkspace);
  const change = (next: DashboardSearch) =>
    void navigate({ to: '.', search: next as never, resetScroll: false });
  const { at } = search;
  const { from: _, to: __, ...whole } = search;
  const stored = kind === null ? '' : words.storedOfPlace(kind);
  return (
    <>
      {at !== undefined && (
        <TimeMachine
          at={at}
          zone={zone}
          note={texts.past}
          show={(moment) => change(withMoment(search, moment))}
        />
      )}
      <OwnDashboard
        shown={shown}
        workspaceId={workspaceId}
        of={{ kind: 'PLACE', id }}
        search={search}
        zone={zone}
        show={({ from, to }) =>
          change(from === undefined || to === undefined ? whole : { ...whole, from, to })
        }
        source={shown.dashboard === null ? words.ofPlace : stored}
        draft={kind === null ? undefined : { name: kind, placeKind: kind }}
        customizeNote={kind === null ? words.needsKind : words.customizePlaceNote(kind)}
        tools={(configuration) => (
          <>
            {at === undefined && (
              <TimeMachineButton show={(moment) => change({ ...search, at: moment })} />
            )}
            <RangeBar
              configuration={configuration}
              search={search}
              zone={zone}
              ownZone={zoneShown({}, configuration, ofWorkspace)}
              change={change}
            />
          </>
        )}
      />
    </>
  );
}
