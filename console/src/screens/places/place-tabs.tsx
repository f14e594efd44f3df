// Place tabs: devices and open alarms at a place and below it, and the settings of the place.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useSearch } from '@tanstack/react-router';
import { Pencil, Plus, X } from 'lucide-react';
import { useState } from 'react';
import type { Alarm } from '../../api/alarms.ts';
import { Ago } from '../../ui/ago.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Dot, type DotTone } from '../../ui/chip.tsx';
import { DevicePick } from '../../ui/device-pick.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { late } from '../../ui/late.tsx';
import { readListSearch } from '../../ui/list-search.ts';
import { PagedList } from '../../ui/paged-list.tsx';
import { AlarmStateChip, Severity } from '../../ui/severity.tsx';
import { Answered, Bone } from '../../ui/states.tsx';
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
import { placesWords } from './places-words.ts';

const dialogs = () => import('./place-dialogs.tsx');
const PlaceDialog = late('PlaceDialog', async () => (await dialogs()).PlaceDialog);
const MoveDialog = late('MoveDialog', async () => (await dialogs()).MoveDialog);
const DeleteDialog = late('DeleteDialog', async () => (await dialogs()).DeleteDialog);

interface OfPlace {
  readonly workspaceId: string;
  readonly placeId: string;
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
  const search = readListSearch(useSearch({ strict: false }));
  const devices = useQuery(devicesOf(workspaceId, placeId, search));
  const [isAdding, setAdding] = useState(false);
  const change = useChangeDevices(workspaceId, placeId);
  const add = (
    <Button needs="asset: update" onClick={() => setAdding(true)}>
      <Plus aria-hidden="true" />
      {words.addDevice}
    </Button>
  );
  return (
    <>
      <div className="row wrap gap-12">
        <span className="grow" />
        {add}
      </div>
      <PagedList
        answer={devices}
        path={`/v3/assets?workspaceId=${workspaceId}&places.ids=${placeId}`}
        headers={[words.device, words.state, words.lastSeen, words.at]}
        actions={words.actions}
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
            takeOut={() => void change({ remove: [device.id] }, words.takenOut(device.name))}
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
    </>
  );
}

interface DeviceRowProps {
  readonly workspaceId: string;
  readonly placeId: string;
  readonly device: PlacedDevice;
  readonly takeOut: () => void;
}

function DeviceRow({ workspaceId, placeId, device, takeOut }: DeviceRowProps) {
  const words = useWords(placesWords);
  const { id, name, deviceId, onlineState, uplinkMetrics, place } = device;
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
        <span className="row gap-8">
          <Dot tone={dots[onlineState]} />
          {words.states[onlineState]}
        </span>
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
  const search = readListSearch(useSearch({ strict: false }));
  return (
    <PagedList
      answer={useQuery(alarmsAt(workspaceId, placeId, search))}
      path={`/v3/alarms?workspaceId=${workspaceId}&placeId=${placeId}`}
      headers={[words.alarm, words.severity, words.state, words.device, words.triggered]}
      words={{
        empty: words.noAlarms,
        emptyNote: words.noAlarmsNote,
        noMatch: words.noAlarms,
        noMatchNote: words.noAlarmsNote,
      }}
      add={null}
      row={(alarm) => <AlarmRow workspaceId={workspaceId} alarm={alarm} />}
    />
  );
}

function AlarmRow({ workspaceId, alarm }: { readonly workspaceId: string; readonly alarm: Alarm }) {
  const { id, name, severity, state, device, lastTriggered } = alarm;
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
        <AlarmStateChip of={state} />
      </td>
      <td>{device?.name}</td>
      <td>
        <Ago at={lastTriggered} />
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
