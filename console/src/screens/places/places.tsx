// Places: the tree of a workspace, with the chosen place beside it; on a phone one after the other.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Outlet, useNavigate, useParams } from '@tanstack/react-router';
import { Download, Plus, Upload } from 'lucide-react';
import { useState } from 'react';
import { Button, ButtonLink, FileLink } from '../../ui/button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { Tabs } from '../../ui/choice.tsx';
import { CurlButton } from '../../ui/copy-button.tsx';
import { late } from '../../ui/late.tsx';
import { withMoment } from '../../ui/late-time-machine.ts';
import { Page } from '../../ui/page.tsx';
import { SearchField } from '../../ui/search-field.tsx';
import { Answered, Bone, Empty, Failure } from '../../ui/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { FoundPlaces, PlaceTree } from './place-tree.tsx';
import { alarmsAt, figuresOf, levelOf, placeOf, type Place } from './place-requests.ts';
import { placesWords } from './places-words.ts';
import styles from './places.module.css';

const PlaceDialog = late(
  'PlaceDialog',
  async () => (await import('./place-dialogs.tsx')).PlaceDialog,
);
const ImportDialog = late(
  'ImportDialog',
  async () => (await import('./place-dialogs.tsx')).ImportDialog,
);

const route = getRouteApi('/signed-in/shell/w/$workspaceId/places');

export function Places() {
  const { workspaceId } = route.useParams();
  // What is open in one workspace is not that of another.
  return <PlacesOf key={workspaceId} workspaceId={workspaceId} />;
}

function PlacesOf({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(placesWords);
  const { placeId } = useParams({ strict: false });
  const { at } = route.useSearch();
  const chosen = useQuery({
    ...placeOf(workspaceId, placeId ?? ''),
    enabled: placeId !== undefined,
  });
  const top = useQuery(levelOf(workspaceId, null));
  const path =
    placeId === undefined ? `/v3/places?workspaceId=${workspaceId}` : `/v3/places/${placeId}`;
  const name = placeId === undefined ? words.title : (chosen.data?.name ?? '…');
  const back = (
    <Link to="/w/$workspaceId/places" params={{ workspaceId }}>
      {words.title}
    </Link>
  );
  return (
    <Page
      title={name}
      name={name}
      path={placeId === undefined ? [words.title] : [back, name]}
      isWide
      lead={chosen.data !== undefined && <Lead place={chosen.data} at={at} />}
      actions={
        <>
          <CurlButton request={{ path }} />
          {at === undefined && <Actions workspaceId={workspaceId} place={chosen.data} />}
        </>
      }
    >
      <Answered answer={top} curl={{ path }} skeleton={<Bone width="14em" />}>
        {({ totalElements }) =>
          totalElements === 0 && placeId === undefined ? (
            <NoPlaces workspaceId={workspaceId} />
          ) : (
            <Both workspaceId={workspaceId} placeId={placeId} />
          )
        }
      </Answered>
    </Page>
  );
}

interface ChosenProps {
  readonly workspaceId: string;
  readonly placeId: string | undefined;
}

function Both({ workspaceId, placeId }: ChosenProps) {
  const words = useWords(placesWords);
  const { q, at } = route.useSearch();
  const navigate = useNavigate();
  return (
    <div className={styles['both']} data-chosen={placeId !== undefined}>
      <nav className={styles['side']} aria-label={words.title}>
        <SearchField
          label={words.search}
          value={q ?? ''}
          change={(typed) =>
            void navigate({
              to: '.',
              search: withMoment(typed === '' ? {} : { q: typed }, at) as never,
              replace: true,
            })
          }
        />
        {q === undefined ? (
          <PlaceTree workspaceId={workspaceId} chosenId={placeId} at={at} />
        ) : (
          <FoundPlaces workspaceId={workspaceId} search={q} at={at} />
        )}
      </nav>
      <div className={`stack fit gap-16 ${styles['place']}`}>
        {placeId === undefined ? <NoPlaceChosen /> : <Outlet />}
      </div>
    </div>
  );
}

interface LeadProps {
  readonly place: Place;
  readonly at: string | undefined;
}

function Lead({ place, at }: LeadProps) {
  const words = useWords(placesWords);
  const { count } = useFormats();
  const { id, workspaceId } = place;
  const figures = useQuery(figuresOf(workspaceId, id)).data;
  const alarms = useQuery({ ...alarmsAt(workspaceId, id, { at }), enabled: at !== undefined }).data;
  if (figures === undefined || (at !== undefined && alarms === undefined))
    return <Bone width="14em" />;
  const { total } = figures.devices;
  const openNow = Object.values(figures.alarms.open).reduce((sum, many) => sum + many, 0);
  const open = alarms?.totalElements ?? openNow;
  // How many were offline then, the device list tells.
  const offline = at === undefined ? figures.devices.offline : 0;
  return (
    <span className="num">
      {place.kind !== null && <span className="faint">{place.kind} · </span>}
      {[
        words.devices(count(total), total),
        ...(offline > 0 ? [words.offline(count(offline))] : []),
        words.alarms(count(open), open),
      ].join(', ')}
    </span>
  );
}

interface ActionsProps {
  readonly workspaceId: string;
  readonly place: Place | undefined;
}

function Actions({ workspaceId, place }: ActionsProps) {
  const words = useWords(placesWords);
  const [asked, setAsked] = useState<'add' | 'import'>();
  const close = () => setAsked(undefined);
  return (
    <>
      {place === undefined && (
        <>
          <FileLink look="plain" href={`/v3/places/export?workspaceId=${workspaceId}`}>
            <Download aria-hidden="true" />
            {words.export}
          </FileLink>
          <Button needs="asset: create" onClick={() => setAsked('import')}>
            <Upload aria-hidden="true" />
            {words.import}
          </Button>
        </>
      )}
      <Button needs="asset: create" look="primary" onClick={() => setAsked('add')}>
        <Plus aria-hidden="true" />
        {place === undefined ? words.add : words.addBelow}
      </Button>
      {asked === 'add' && (
        <PlaceDialog workspaceId={workspaceId} parentId={place?.id ?? null} close={close} />
      )}
      {asked === 'import' && <ImportDialog workspaceId={workspaceId} close={close} />}
    </>
  );
}

function NoPlaces({ workspaceId }: { readonly workspaceId: string }) {
  const words = useWords(placesWords);
  const [asked, setAsked] = useState<'add' | 'import'>();
  const close = () => setAsked(undefined);
  return (
    <Sheet>
      <Empty
        title={words.empty}
        note={words.emptyNote}
        actions={
          <>
            <Button needs="asset: create" onClick={() => setAsked('import')}>
              <Upload aria-hidden="true" />
              {words.import}
            </Button>
            <Button needs="asset: create" look="primary" onClick={() => setAsked('add')}>
              <Plus aria-hidden="true" />
              {words.add}
            </Button>
          </>
        }
      />
      {asked === 'add' && <PlaceDialog workspaceId={workspaceId} parentId={null} close={close} />}
      {asked === 'import' && <ImportDialog workspaceId={workspaceId} close={close} />}
    </Sheet>
  );
}

/** The right side before a place is chosen. */
function NoPlaceChosen() {
  const words = useWords(placesWords);
  return (
    <Sheet>
      <Empty title={words.choose} note={words.chooseNote} />
    </Sheet>
  );
}

const address = '/w/$workspaceId/places/$placeId';

interface OfPlace {
  readonly workspaceId: string;
  readonly placeId: string;
}

const PlacePlan = late<OfPlace>(
  'PlacePlan',
  async () => (await import('./plan-tab.tsx')).PlacePlan,
);
const tabs = () => import('./place-tabs.tsx');
const pages = {
  plan: PlacePlan,
  devices: late<OfPlace>('PlaceDevices', async () => (await tabs()).PlaceDevices),
  dashboard: late<OfPlace>(
    'PlaceDashboard',
    async () => (await import('./dashboard-tab.tsx')).PlaceDashboard,
  ),
  alarms: late<OfPlace>('PlaceAlarms', async () => (await tabs()).PlaceAlarms),
  settings: late<OfPlace>('PlaceSettings', async () => (await tabs()).PlaceSettings),
} as const;
type PageName = keyof typeof pages;
const pageNames = Object.keys(pages) as PageName[];

/** Tabs of one place, which need it to exist. */
export function PlacePages() {
  const words = useWords(placesWords);
  const { workspaceId } = route.useParams();
  const { placeId = '', tab } = useParams({ strict: false });
  const place = useQuery(placeOf(workspaceId, placeId));
  const { at } = route.useSearch();
  const params = { workspaceId, placeId };
  const [first = 'plan', ...others] = pageNames;
  const links = [
    {
      label: words.tabs[first],
      link: { to: address, params, search: withMoment({}, at) } as const,
    },
    ...others.map((name) => ({
      label: words.tabs[name],
      link: {
        to: `${address}/$tab`,
        params: { ...params, tab: name },
        // Settings are those of now.
        search: name === 'settings' ? {} : withMoment({}, at),
      } as const,
    })),
  ];
  const Shown = pages[pageNames.find((name) => name === tab) ?? first];
  if (place.error !== null && place.data === undefined)
    return (
      <Sheet>
        <Failure
          error={place.error}
          retry={() => void place.refetch()}
          curl={{ path: `/v3/places/${placeId}` }}
        />
      </Sheet>
    );
  return (
    <>
      <p className={styles['back']}>
        <ButtonLink to="/w/$workspaceId/places" params={{ workspaceId }} look="ghost">
          ← {words.title}
        </ButtonLink>
      </p>
      <Tabs label={words.pages} tabs={links} />
      <Shown key={placeId} {...params} />
    </>
  );
}
