// Plan tab: the picture of a place with its devices, what colors it, and the work of placing devices on it.
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ImageUp } from 'lucide-react';
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { ask, platform } from '../../api/platform.ts';
import { dragType, type Point, PlanView } from '../../plan/plan-view.tsx';
import { useMayDo } from '../../session/permissions.ts';
import { ActionFailure } from '../../ui/action-failure.tsx';
import { Button } from '../../ui/button.tsx';
import { Sheet } from '../../ui/card.tsx';
import { TimeMachine } from '../../ui/late-time-machine.ts';
import { type Column, WindowedTable } from '../../ui/rows/windowed-table.tsx';
import { Answered, Bone, Empty } from '../../ui/states.tsx';
import { TimeMachineButton } from '../../ui/time-machine-button.tsx';
import { toast, toastFailure } from '../../ui/toasts.tsx';
import { useAction } from '../../ui/use-action.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import {
  changeDevicesAt,
  changePlace,
  levelOf,
  type Place,
  placeOf,
  placesKey,
} from './place-requests.ts';
import { readPlacesSearch } from './places-search.ts';
import { placesWords } from './places-words.ts';
import styles from './places.module.css';
import { ColorChoice, marksOf, type Moved, usePlanState, useValueText } from './plan-colors.tsx';
import {
  type PlanDevice,
  planDevicesMax,
  planDevicesOf,
  type PlanValues,
  valuesBelow,
} from './plan-data.ts';

interface OfPlace {
  readonly workspaceId: string;
  readonly placeId: string;
}

export function PlacePlan({ workspaceId, placeId }: OfPlace) {
  const words = useWords(placesWords);
  const place = useQuery(placeOf(workspaceId, placeId));
  const { at } = readPlacesSearch(useSearch({ strict: false }));
  const change = useChange();
  return (
    <Answered answer={place} skeleton={<Bone width="100%" />}>
      {(found) => (
        <>
          {at !== undefined && (
            <TimeMachine at={at} note={words.past} show={(moment) => change({ at: moment })} />
          )}
          {found.plan === null ? (
            <NoPlan place={found} isPast={at !== undefined} />
          ) : (
            <Plan place={found} plan={found.plan} />
          )}
          <Below place={found} />
        </>
      )}
    </Answered>
  );
}

type Change = (part: { readonly [Name in 'color' | 'at']?: string | undefined }) => void;

/** Changes the address, so that one step back leaves the plan. */
function useChange(): Change {
  const navigate = useNavigate();
  return (part) =>
    void navigate({
      to: '.',
      search: ((before: object) => ({ ...before, ...part })) as never,
      replace: true,
    });
}

interface NoPlanProps {
  readonly place: Place;
  readonly isPast: boolean;
}

function NoPlan({ place, isPast }: NoPlanProps) {
  const words = useWords(placesWords);
  return (
    <Sheet>
      <Empty
        title={words.noPlan}
        note={words.noPlanNote}
        actions={!isPast && <PictureChoice place={place} label={words.uploadPlan} />}
      />
    </Sheet>
  );
}

const pictureTypes = 'image/png,image/jpeg,image/webp,image/svg+xml';

/** Stores a picture, and makes it the plan of the place. */
function PictureChoice({ place, label }: { readonly place: Place; readonly label: string }) {
  const words = useWords(placesWords);
  const known = useQueryClient();
  const mayUpload = useMayDo('asset: update');
  const upload = useAction({
    mutationFn: async (file: File) => {
      const { workspaceId } = place;
      const { id: blobId } = await ask(
        platform.POST('/v3/blobs', {
          params: { query: { workspaceId, name: file.name.slice(-255) } },
          headers: { 'content-type': file.type },
          body: file as never,
          bodySerializer: (body) => body as never,
        }),
      );
      return changePlace(place, { plan: { blobId } });
    },
    onSuccess: () => {
      toast(words.planSaved);
      return known.invalidateQueries({ queryKey: placesKey(place.workspaceId) });
    },
  });
  if (!mayUpload) return null;
  return (
    <>
      <label className={styles['file']} aria-busy={upload.isPending}>
        <ImageUp aria-hidden="true" />
        {label}
        <input
          type="file"
          accept={pictureTypes}
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file !== undefined) upload.mutate(file);
            target.value = '';
          }}
        />
      </label>
      <ActionFailure error={upload.error} />
    </>
  );
}

interface PlanProps {
  readonly place: Place;
  readonly plan: NonNullable<Place['plan']>;
}

function Plan({ place, plan }: PlanProps) {
  const words = useWords(placesWords);
  const { count } = useFormats();
  const change = useChange();
  const { color, at } = readPlacesSearch(useSearch({ strict: false }));
  const [isArranging, setArranging] = useState(false);
  const [chosenId, choose] = useState<string>();
  const frame = useRef<HTMLDivElement>(null);
  const isPast = at !== undefined;
  const answer = useQuery(planDevicesOf(place));
  const { values, stateOf } = usePlanState(place, color, at);
  const { moved, move } = useMoves(place);
  const text = useValueText(place, answer.data, color);
  const marks = useMemo(
    () => marksOf(answer.data?.devices ?? [], { moved, stateOf, values, text }),
    [answer.data, moved, stateOf, values, text],
  );
  const picture = {
    src: `/v3/blobs/${plan.blobId}/content`,
    width: plan.width,
    height: plan.height,
  };
  return (
    <>
      <div className="row wrap gap-12 align-end">
        <ColorChoice
          place={place}
          devices={answer.data}
          color={color}
          change={(next) => change({ color: next })}
        />
        <span className="grow" />
        {!isPast && (
          <>
            <TimeMachineButton show={(moment) => change({ at: moment })} />
            <Button
              needs="asset: update"
              aria-pressed={isArranging}
              onClick={() => setArranging(!isArranging)}
            >
              {words.arrange}
            </Button>
            <RemovePlan place={place} />
            <PictureChoice place={place} label={words.replacePlan} />
          </>
        )}
      </div>
      <Answered answer={answer} skeleton={<Bone width="100%" />}>
        {({ devices, total }) => (
          <>
            <div className={styles['planBoth']}>
              <div className={styles['planBox']}>
                <PlanView
                  picture={picture}
                  marks={marks}
                  hasHeat={color !== undefined}
                  valueText={text}
                  chosenId={chosenId}
                  choose={choose}
                  move={isArranging && !isPast ? move : undefined}
                  frame={frame}
                />
              </div>
              <DeviceList
                {...{
                  place,
                  devices,
                  moved,
                  isArranging: isArranging && !isPast,
                  stateOf,
                  chosenId,
                  choose,
                  move,
                  frame,
                  values,
                  text,
                }}
              />
            </div>
            {total > planDevicesMax && (
              <p className="mute">{words.planCut(count(planDevicesMax))}</p>
            )}
          </>
        )}
      </Answered>
    </>
  );
}

function RemovePlan({ place }: { readonly place: Place }) {
  const words = useWords(placesWords);
  const known = useQueryClient();
  const refresh = () => known.invalidateQueries({ queryKey: placesKey(place.workspaceId) });
  const remove = useAction({
    mutationFn: () => changePlace(place, { plan: null }),
    onSuccess: (changed) => {
      toast(words.planRemoved, () => {
        changePlace(changed, { plan: place.plan }).then(refresh).catch(toastFailure);
      });
      return refresh();
    },
    onError: toastFailure,
  });
  return (
    <Button needs="asset: update" disabled={remove.isPending} onClick={() => remove.mutate()}>
      {words.removePlan}
    </Button>
  );
}

/** Moves are drawn at once, and stored when they rest. */
const restMs = 500;

function useMoves(place: Place) {
  const known = useQueryClient();
  const [moved, setMoved] = useState<Moved>(new Map());
  const waiting = useRef(new Map<string, Point>());
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const { id, workspaceId } = place;
  const store = useCallback(async () => {
    clearTimeout(timer.current);
    const sent = [...waiting.current];
    waiting.current.clear();
    if (sent.length === 0) return;
    const positions = sent.map(([deviceId, { x, y }]) => ({ deviceId, x, y }));
    try {
      const { refused } = await changeDevicesAt(id, { positions });
      if (refused[0] !== undefined) toast(refused[0].message);
    } catch (error) {
      toastFailure(error as Error);
    }
    await known.invalidateQueries({
      queryKey: [...placesKey(workspaceId), 'plan devices', id],
    });
    setMoved((before) => {
      const after = new Map(before);
      for (const [deviceId, at] of sent) if (after.get(deviceId) === at) after.delete(deviceId);
      return after;
    });
  }, [id, workspaceId, known]);
  // What was moved last is stored when the reader leaves.
  useEffect(() => () => void store(), [store]);
  const move = useCallback(
    (deviceId: string, to: Point) => {
      setMoved((before) => new Map(before).set(deviceId, to));
      waiting.current.set(deviceId, to);
      clearTimeout(timer.current);
      timer.current = setTimeout(() => void store(), restMs);
    },
    [store],
  );
  return { moved, move };
}

// Devices of the plan as a list: for the keyboard and for screen readers, and to drag onto the plan.

interface DeviceListProps {
  readonly place: Place;
  readonly devices: readonly PlanDevice[];
  readonly moved: Moved;
  readonly isArranging: boolean;
  readonly stateOf: (device: PlanDevice) => PlanDevice['onlineState'];
  readonly chosenId: string | undefined;
  readonly choose: (id: string | undefined) => void;
  readonly move: (id: string, to: Point) => void;
  /** Takes the keys once a device is chosen. */
  readonly frame: RefObject<HTMLElement | null>;
  readonly values: PlanValues | undefined;
  readonly text: (value: number) => string;
}

const middle: Point = { x: 0.5, y: 0.5 };

function DeviceList(props: DeviceListProps) {
  const { place, devices, moved, isArranging, chosenId, choose, move, frame } = props;
  const { values, stateOf, text } = props;
  const words = useWords(placesWords);
  const { count } = useFormats();
  const isPlaced = ({ id, planPosition }: PlanDevice) => planPosition !== null || moved.has(id);
  // Those that are not on the plan first, because something is to be done with them.
  const rows = useMemo(
    () => [...devices.filter((one) => !isPlaced(one)), ...devices.filter(isPlaced)],
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- it reads only these
    [devices, moved],
  );
  const missing = devices.filter((one) => !isPlaced(one)).length;
  const open = (device: PlanDevice) => {
    if (isArranging && !isPlaced(device)) move(device.id, middle);
    choose(device.id);
    frame.current?.focus();
  };
  const columns: readonly Column<PlanDevice>[] = [
    {
      key: 'name',
      header: words.device,
      width: 'minmax(0, 1fr)',
      cell: (device) => (
        <button
          type="button"
          tabIndex={-1}
          aria-pressed={device.id === chosenId}
          className={styles['planDevice']}
          draggable={isArranging}
          onDragStart={(event) => {
            event.dataTransfer.setData(dragType, device.id);
            event.dataTransfer.effectAllowed = 'move';
          }}
          onClick={() => open(device)}
        >
          <span className="cut">{device.name}</span>
        </button>
      ),
    },
    {
      key: 'value',
      header: values === undefined ? words.state : words.value,
      width: '112px',
      cell: (device) => {
        if (!isPlaced(device)) return <span className="faint">{words.notPlaced}</span>;
        const value = values?.get(device.id);
        if (value !== undefined) return <span className="num">{text(value)}</span>;
        return <span className="mute">{words.states[stateOf(device)]}</span>;
      },
    },
  ];
  const chosen = devices.find(({ id }) => id === chosenId);
  return (
    <section className={styles['planList']} aria-label={words.planDevices}>
      <p className={`mute ${styles['note']}`} aria-live="polite">
        {missing > 0
          ? words.missing(count(missing), missing)
          : words.devices(count(devices.length), devices.length)}
      </p>
      {isArranging && <p className={`faint text-small ${styles['note']}`}>{words.arrangeNote}</p>}
      {chosen !== undefined && (
        <p className={styles['note']}>
          <Link
            to="/w/$workspaceId/devices/$deviceId/overview"
            params={{ workspaceId: place.workspaceId, deviceId: chosen.id }}
          >
            {words.openDevice(chosen.name)}
          </Link>
        </p>
      )}
      {rows.length > 0 && (
        <WindowedTable
          label={words.planDevices}
          columns={columns}
          total={rows.length}
          rowAt={(index) => rows[index]}
          onView={ignore}
          open={open}
        />
      )}
    </section>
  );
}

/** All rows are there: nothing is asked for when others come into view. */
function ignore(): void {}

// Places directly below, as links to their plans, with the average of what colors this one.

function Below({ place }: { readonly place: Place }) {
  const words = useWords(placesWords);
  const { workspaceId } = place;
  const { color, at } = readPlacesSearch(useSearch({ strict: false }));
  const level = useQuery(levelOf(workspaceId, place.id)).data?.content ?? [];
  const values = useQuery({
    ...valuesBelow(place, color, at),
    enabled: color !== undefined && level.length > 0,
  }).data;
  const formats = useFormats();
  if (level.length === 0) return null;
  return (
    <nav className="row wrap gap-8" aria-label={words.below}>
      {level.map(({ id, name }) => {
        const value = color === undefined ? undefined : values?.get(id);
        return (
          <Link
            key={id}
            className={styles['below']}
            to="/w/$workspaceId/places/$placeId"
            params={{ workspaceId, placeId: id }}
            search={{ ...(color !== undefined && { color }), ...(at !== undefined && { at }) }}
          >
            {name}
            {value !== undefined && <span className="num mute"> {formats.value(value)}</span>}
          </Link>
        );
      })}
    </nav>
  );
}
