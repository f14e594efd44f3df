// Place tabs: devices and open alarms at a place and below it, now or at an earlier moment, and the settings of the place.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Pencil, Plus, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { Alarm } from '../../api/alarms.ts';
import { alarmStateThen, stateThen } from '../../api/state-then.ts';
import { storedStates } from '../../api/stored-state.ts';
import { Ago, ShownMoment } from '../../ui/ago.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dot, type DotTone } from '../../ui/chip.tsx';
import { DevicePick } from '../../ui/device-pick.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { late } from '../../ui/late.tsx';
import { TimeMachine, withMoment } from '../../ui/late-time-machine.ts';
import { PagedList } from '../../ui/paged-list.tsx';
import { AlarmStateChip, Severity } from '../../ui/severity.tsx';
import { Answered, Bone } from '../../ui/states.tsx';
import { TimeMachineButton } from '../../ui/time-machine-button.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { coordinates } from '../../words/coordinates.ts';
import { useLanguage, useWords } from '../../words/language.tsx';
import {
  alarmsAt,
  changeDevicesAt,
  devicesOf,
  type Place,
  type PlacedDevice,
  placeOf,
  placesKey,
} from './place-requests.ts';
import { type PlacesSearch, readPlacesSearch } from './places-search.ts';
import { placesWords } from './places-words.ts';

const dialogs = () => import('./place-dialogs.tsx');
const PlaceDialog = late('PlaceDialog', async () => (await dialogs()).PlaceDialog);
const MoveDialog = late('MoveDialog', async () => (await dialogs()).MoveDialog);
const DeleteDialog = late('DeleteDialog', async () => (await dialogs()).DeleteDialog);

interface OfPlace {
  readonly workspaceId: string;
  readonly placeId: string;
}

// Lists at an earlier moment: a bar in place of what can be done now.

interface MomentProps {
  readonly search: PlacesSearch;
  /** What can be done now. */
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}

function AtMoment({ search, actions, children }: MomentProps) {
  const words = useWords(placesWords);
  const navigate = useNavigate();
  const { at, page: _, ...others } = search;
  // Another moment may have fewer pages.
  const show = (moment: string | undefined) =>
    void navigate({ to: '.', search: withMoment(others, moment) as never, replace: true });
  if (at !== undefined)
    return (
      <>
        <TimeMachine at={at} note={words.past} show={show} />
        <ShownMoment value={Date.parse(at)}>{children}</ShownMoment>
      </>
    );
  return (
    <>
      <div className="row wrap gap-12">
        <span className="grow" />
        <TimeMachineButton show={show} />
        {actions}
      </div>
      {children}
    </>
  );
}

// Devices at the place and below it.

const dots: Readonly<Record<PlacedDevice['onlineState'], DotTone>> = {
  ONLINE: 'ok',
  OFFLINE: 'bad',
  UNKNOWN: 'off',
  DE_REGISTERED: 'warn',
};

export function PlaceDevices({ workspaceId, placeId }: OfPlace) {
  const words = useWords(placesWords);
  const search = readPlacesSearch(useSearch({ strict: false }));
  const { at } = search;
  const devices = useQuery(devicesOf(workspaceId, placeId, search));
  const ids = devices.data?.content.map(({ id }) => id) ?? [];
  const stored = useQuery({
    ...storedStates(ids, at),
    enabled: at !== undefined && ids.length > 0,
  }).data;
  const deviceThen = (device: PlacedDevice): Then => {
    if (at === undefined) return device;
    if (stored === undefined) return { onlineState: undefined, uplinkMetrics: null };
    const last = stored.get(device.id)?.lastData;
    const uplinkMetrics = last === undefined ? null : { timestamp: last };
    return { onlineState: stateThen(device, last, at), uplinkMetrics };
  };
  const [isAdding, setAdding] = useState(false);
  const change = useChangeDevices(workspaceId, placeId);
  const add = (
    <Button needs="asset: update" onClick={() => setAdding(true)}>
      <Plus aria-hidden="true" />
      {words.addDevice}
    </Button>
  );
  return (
    <AtMoment search={search} actions={add}>
      <PagedList
        answer={devices}
        path={`/v3/assets?workspaceId=${workspaceId}&places.ids=${placeId}`}
        headers={[words.device, words.state, words.lastSeen, words.at]}
        {...(at === undefined && { actions: words.actions })}
        words={{
          empty: words.noDevices,
          emptyNote: words.noDevicesNote,
          noMatch: words.noDevices,
          noMatchNote: words.noDevicesNote,
        }}
        add={null}
        row={(device) => (
          <DeviceRow
            workspaceId={workspaceId}
            placeId={placeId}
            device={device}
            then={deviceThen(device)}
            takeOut={
              at === undefined
                ? () => void change({ remove: [device.id] }, words.takenOut(device.name))
                : undefined
            }
          />
        )}
      />
      {isAdding && (
        <Dialog title={words.addDevice} close={() => setAdding(false)}>
          <div className="stack fit gap-12">
            <p className="mute">{words.addDeviceNote}</p>
            <DevicePick
              workspaceId={workspaceId}
              label={words.device}
              choose={({ id, name }) => void change({ add: [id] }, words.added(name))}
            />
          </div>
        </Dialog>
      )}
    </AtMoment>
  );
}

/** What a row shows of the moment; without a state while it is on the way. */
interface Then {
  readonly onlineState: PlacedDevice['onlineState'] | undefined;
  readonly uplinkMetrics: { readonly timestamp: string } | null;
}

interface DeviceRowProps {
  readonly workspaceId: string;
  readonly placeId: string;
  readonly device: PlacedDevice;
  readonly then: Then;
  /** Undefined at an earlier moment, where nothing is changed. */
  readonly takeOut: (() => void) | undefined;
}

function DeviceRow({ workspaceId, placeId, device, then, takeOut }: DeviceRowProps) {
  const words = useWords(placesWords);
  const { id, name, deviceId, place } = device;
  const { onlineState, uplinkMetrics } = then;
  return (
    <tr>
      <th scope="row">
        <Link
          to="/w/$workspaceId/devices/$deviceId/overview"
          params={{ workspaceId, deviceId: id }}
        >
          {name}
        </Link>
        <small className="faint mono">{deviceId}</small>
      </th>
      <td>
        {onlineState === undefined ? (
          <Bone width="5em" />
        ) : (
          <span className="row gap-8">
            <Dot tone={dots[onlineState]} />
            {words.states[onlineState]}
          </span>
        )}
      </td>
      <td>
        {uplinkMetrics === null ? (
          <span className="faint">{words.never}</span>
        ) : (
          <Ago at={uplinkMetrics.timestamp} />
        )}
      </td>
      <td>
        {place !== null && (
          <Link to="/w/$workspaceId/places/$placeId" params={{ workspaceId, placeId: place.id }}>
            {place.name}
          </Link>
        )}
      </td>
      {takeOut !== undefined && (
        <td>
          {place?.id === placeId && (
            <IconButton
              label={words.takeOut(name)}
              icon={X}
              needs="asset: update"
              onClick={takeOut}
            />
          )}
        </td>
      )}
    </tr>
  );
}

/** Changes devices of the place, says so, and asks again for what shows them. */
export function useChangeDevices(workspaceId: string, placeId: string) {
  const known = useQueryClient();
  return async (body: Parameters<typeof changeDevicesAt>[1], message?: string): Promise<void> => {
    try {
      const { refused } = await changeDevicesAt(placeId, body);
      const [first] = refused;
      if (first !== undefined) toast(first.message);
      else if (message !== undefined) toast(message);
      await known.invalidateQueries({ queryKey: placesKey(workspaceId) });
    } catch (error) {
      toastFailure(error as Error);
    }
  };
}

// Alarms at the place and below it that are not cleared.

export function PlaceAlarms({ workspaceId, placeId }: OfPlace) {
  const words = useWords(placesWords);
  const search = readPlacesSearch(useSearch({ strict: false }));
  const { at } = search;
  const last = at === undefined ? words.triggered : words.opened;
  const path = `/v3/alarms?workspaceId=${workspaceId}&placeId=${placeId}`;
  return (
    <AtMoment search={search}>
      <PagedList
        answer={useQuery(alarmsAt(workspaceId, placeId, search))}
        path={at === undefined ? path : `${path}&openAt=${at}`}
        headers={[words.alarm, words.severity, words.state, words.device, last]}
        words={{
          empty: words.noAlarms,
          emptyNote: words.noAlarmsNote,
          noMatch: words.noAlarms,
          noMatchNote: words.noAlarmsNote,
        }}
        add={null}
        row={(alarm) => <AlarmRow workspaceId={workspaceId} alarm={alarm} at={at} />}
      />
    </AtMoment>
  );
}

interface AlarmRowProps {
  readonly workspaceId: string;
  readonly alarm: Alarm;
  readonly at: string | undefined;
}

function AlarmRow({ workspaceId, alarm, at }: AlarmRowProps) {
  const { id, name, severity, device, firstTriggered, lastTriggered } = alarm;
  return (
    <tr>
      <th scope="row">
        <Link to="/w/$workspaceId/alarms/$alarmId" params={{ workspaceId, alarmId: id }}>
          {name}
        </Link>
      </th>
      <td>
        <Severity of={severity} />
      </td>
      <td>
        <AlarmStateChip of={at === undefined ? alarm.state : alarmStateThen(alarm, at)} />
      </td>
      <td>{device?.name}</td>
      <td>
        <Ago at={at === undefined ? lastTriggered : firstTriggered} />
      </td>
    </tr>
  );
}

// Settings of the place.

export function PlaceSettings({ workspaceId, placeId }: OfPlace) {
  const place = useQuery(placeOf(workspaceId, placeId));
  return (
    <Answered answer={place} skeleton={<Bone width="14em" />}>
      {(found) => <Facts place={found} />}
    </Answered>
  );
}

function Facts({ place }: { readonly place: Place }) {
  const words = useWords(placesWords);
  const { language } = useLanguage();
  const [asked, setAsked] = useState<'edit' | 'move' | 'delete'>();
  const close = () => setAsked(undefined);
  const { name, kind, description, externalId, position, path, workspaceId } = place;
  const facts: readonly (readonly [string, string | null])[] = [
    [words.name, name],
    [words.parent, path.map((step) => step.name).join(' / ')],
    [words.kind, kind],
    [words.description, description],
    [words.externalId, externalId],
    [words.position, position && coordinates(position.latitude, position.longitude, language)],
  ];
  return (
    <Card
      title={words.tabs.settings}
      isPadded
      actions={
        <>
          <Button needs="asset: update" onClick={() => setAsked('edit')}>
            <Pencil aria-hidden="true" />
            {words.edit}
          </Button>
          <Button needs="asset: update" onClick={() => setAsked('move')}>
            {words.move}
          </Button>
          <Button needs="asset: delete" look="danger" onClick={() => setAsked('delete')}>
            {words.delete}
          </Button>
        </>
      }
    >
      <dl className="facts">
        {facts.map(([label, text]) => (
          <Fact key={label} label={label} text={text || words.none} />
        ))}
      </dl>
      {asked === 'edit' && (
        <PlaceDialog
          workspaceId={workspaceId}
          place={place}
          close={close}
          parentId={place.parentId}
        />
      )}
      {asked === 'move' && <MoveDialog place={place} close={close} />}
      {asked === 'delete' && <DeleteDialog place={place} close={close} />}
    </Card>
  );
}

function Fact({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{text}</dd>
    </>
  );
}
